//! `[secrets]`: the keys that provider secrets are sealed with.

use super::{
    database::Place,
    key::Key,
    list,
    problem::Problem,
    secret::{Secret, Twin},
};
use central::secrets::{Sealer, SealingKey};
use serde::{Deserialize, Deserializer, Serialize};
use std::{
    io::Write,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Secrets {
    #[serde(skip_serializing)]
    pub key: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    #[serde(skip_serializing, deserialize_with = "keys")]
    pub previous: Vec<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_file: Option<PathBuf>,
}

fn keys<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Secret>, D::Error> {
    Ok(list::deserialize(d)?.into_iter().map(Secret::new).collect())
}

pub const KEY: Key = Key::new(
    "secrets.key",
    "32 random bytes in base64 (`openssl rand -base64 32` makes one)",
    "Seals the passwords and tokens of providers. Beside an embedded database one is made at the first start, in \
     secrets.key; PostgreSQL needs it set, the same on every node. Keep a copy away from the database's backups.",
)
.secret()
.example("…");
pub const KEY_FILE: Key = Key::new(
    "secrets.key_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/waypost_key");
pub const PREVIOUS: Key = Key::new(
    "secrets.previous",
    "a list of keys like secrets.key",
    "Older keys that still open what they sealed. `waypost provider reseal` seals it all with secrets.key.",
)
.secret()
.example("[\"…\"]");
pub const PREVIOUS_FILE: Key = Key::new(
    "secrets.previous_file",
    "the path of a file with one key on each line",
    "The same, read from a file.",
)
.example("/run/secrets/waypost_previous_keys");

pub const KEYS: &[Key] = &[KEY, KEY_FILE, PREVIOUS, PREVIOUS_FILE];

/// The file that is made beside an embedded database.
const OWN_FILE: &str = "secrets.key";

impl Secrets {
    pub fn problems(&self) -> Vec<Problem> {
        let current = self.current().map(drop);
        let previous = self.previous().map(drop);
        [current, previous].into_iter().filter_map(Result::err).collect()
    }

    /// What `serve` would miss on this database. Makes nothing.
    pub fn missing(&self, database: &Place) -> Option<Problem> {
        let set = self.key.is_some() || self.key_file.is_some();
        (!set && database.folder().is_none()).then(|| {
            let what = "is needed with PostgreSQL, the same on every node: `openssl rand -base64 32` makes one, \
                        secrets.key_file or WAYPOST_SECRETS__KEY can carry it";
            Problem::new(KEY.name, what)
        })
    }

    /// The sealer of this installation. Beside an embedded database a key is made if there is none yet.
    pub fn sealer(&self, database: &Place) -> Result<Sealer, Problem> {
        let current = match (self.current()?, database.folder()) {
            (Some(key), _) => key,
            (None, Some(folder)) => own_key(&folder.join(OWN_FILE))?,
            (None, None) => {
                return Err(self
                    .missing(database)
                    .unwrap_or_else(|| Problem::new(KEY.name, "is needed")));
            }
        };
        Ok(Sealer::new(current, self.previous()?))
    }

    fn current(&self) -> Result<Option<SealingKey>, Problem> {
        let twin = Twin {
            key: &KEY,
            file_key: &KEY_FILE,
            given: self.key.as_ref(),
            file: self.key_file.as_deref(),
        };
        twin.read()?.map(|text| parse(&KEY, text.expose())).transpose()
    }

    fn previous(&self) -> Result<Vec<SealingKey>, Problem> {
        let twin = Twin {
            key: &PREVIOUS,
            file_key: &PREVIOUS_FILE,
            given: self.previous.first(),
            file: self.previous_file.as_deref(),
        };
        match twin.read()? {
            None => Ok(vec![]),
            Some(_) if self.previous_file.is_none() => self
                .previous
                .iter()
                .map(|text| parse(&PREVIOUS, text.expose()))
                .collect(),
            Some(text) => {
                let lines = text
                    .expose()
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty());
                lines.map(|line| parse(&PREVIOUS_FILE, line)).collect()
            }
        }
    }
}

fn parse(key: &Key, text: &str) -> Result<SealingKey, Problem> {
    SealingKey::parse(text)
        .map_err(|e| Problem::new(key.name, format!("{e}; `openssl rand -base64 32` makes one")))
}

/// The key in the file, made if there is no such file. Of two processes that make it at once, one wins and the
/// other reads.
fn own_key(file: &Path) -> Result<SealingKey, Problem> {
    let failed = |what: &str, e: std::io::Error| {
        Problem::new(KEY.name, format!("cannot {what} {}: {e}", file.display()))
    };
    if !file.exists() {
        make(file).or_else(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(failed("make", e)),
        })?;
    }
    let text = std::fs::read_to_string(file).map_err(|e| failed("read", e))?;
    parse(&KEY, &text).map_err(|p| Problem::new(p.key.as_str(), format!("{}: {}", file.display(), p.what)))
}

/// Written whole under another name first, so that nobody ever reads half a key.
fn make(file: &Path) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    store::private::create_folder(folder)?;
    let mut fresh = tempfile::Builder::new()
        .prefix(".secrets")
        .permissions(mode_0600())
        .tempfile_in(folder)?;
    writeln!(fresh, "{}", SealingKey::generate_text())?;
    fresh.as_file().sync_all()?;
    fresh.persist_noclobber(file).map_err(|e| e.error)?;
    // The name itself must survive power loss too: what the key seals is useless without it.
    std::fs::File::open(folder)?.sync_all()
}

fn mode_0600() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o600)
}
