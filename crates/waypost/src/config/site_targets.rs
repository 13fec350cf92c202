//! `[[site.system]]` and `[[site.connection]]`: what scripts of a site may reach by name.

use super::{
    list,
    problem::Problem,
    secret::Secret,
    site::{CONNECTION, SYSTEM},
};
use delivery::{
    Outside,
    call::{Auth, SystemSettings, Transient},
};
use domain::{SystemClock, retry::seconds};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use store::external::External;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    pub name: String,
    pub base_url: String,
    #[serde(default)]
    pub auth: How,
    pub username: Option<String>,
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
    pub token: Option<Secret>,
    pub token_file: Option<PathBuf>,
    pub header: Option<String>,
    pub value: Option<Secret>,
    pub value_file: Option<PathBuf>,
    #[serde(default = "half_a_minute", with = "seconds")]
    pub timeout: Duration,
    #[serde(default, deserialize_with = "list::deserialize")]
    pub transient: Vec<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub ca_file: Option<PathBuf>,
}

/// How a system knows who calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    #[default]
    None,
    Basic,
    Bearer,
    Header,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    pub name: String,
    pub url: Option<Secret>,
    pub url_file: Option<PathBuf>,
    #[serde(default = "half_a_minute", with = "seconds")]
    pub timeout: Duration,
}

fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}

/// The longest an attempt may take; the agent itself gives up after two minutes.
const MAX_TIMEOUT: Duration = Duration::from_secs(100);

impl System {
    /// A system without credentials.
    pub fn at(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            auth: How::None,
            username: None,
            password: None,
            password_file: None,
            token: None,
            token_file: None,
            header: None,
            value: None,
            value_file: None,
            timeout: half_a_minute(),
            transient: vec![],
            headers: BTreeMap::new(),
            ca_file: None,
        }
    }

    /// The system, ready to be called, or what is wrong with it.
    pub fn build(&self, outside: &Outside) -> Result<delivery::call::System, String> {
        let settings = SystemSettings {
            base_url: self.base_url.clone(),
            auth: self.credentials()?,
            timeout: in_time(self.timeout)?,
            transient: match self.transient.is_empty() {
                true => Transient::default(),
                false => {
                    let texts = self.transient.iter().map(String::as_str);
                    Transient::parse(texts).map_err(|why| format!("transient: {why}"))?
                }
            },
            headers: self.headers.clone(),
            ca_pem: self
                .ca_file
                .as_deref()
                .map(|file| text_of("ca_file", file))
                .transpose()?,
        };
        delivery::call::System::new(settings, outside).map_err(|bad| bad.to_string())
    }

    /// All that decides what a call does, in one text. With its secrets: only a digest of it may leave this machine.
    pub fn fingerprint(&self) -> Result<String, String> {
        let secrets = [
            one_of("password", &self.password, &self.password_file)?,
            one_of("token", &self.token, &self.token_file)?,
            one_of("value", &self.value, &self.value_file)?,
        ];
        Ok(format!(
            "{:?}",
            (
                &self.base_url,
                self.how(),
                &self.username,
                &self.header,
                secrets,
                self.timeout,
                &self.transient,
                &self.headers,
            )
        ))
    }

    /// Whether it is this very machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.base_url)
    }

    fn credentials(&self) -> Result<Auth, String> {
        let needs = |what: &str| format!("auth = \"{}\" needs {what}", self.how());
        Ok(match self.auth {
            How::None => Auth::None,
            How::Basic => Auth::Basic {
                username: self.username.clone().ok_or_else(|| needs("username"))?,
                password: one_of("password", &self.password, &self.password_file)?
                    .ok_or_else(|| needs("password or password_file"))?
                    .into(),
            },
            How::Bearer => Auth::Bearer(
                one_of("token", &self.token, &self.token_file)?
                    .ok_or_else(|| needs("token or token_file"))?
                    .into(),
            ),
            How::Header => Auth::Header {
                name: self.header.clone().ok_or_else(|| needs("header"))?,
                value: one_of("value", &self.value, &self.value_file)?
                    .ok_or_else(|| needs("value or value_file"))?
                    .into(),
            },
        })
    }

    fn how(&self) -> &'static str {
        match self.auth {
            How::None => "none",
            How::Basic => "basic",
            How::Bearer => "bearer",
            How::Header => "header",
        }
    }
}

impl Connection {
    /// As of a system.
    pub fn fingerprint(&self) -> Result<String, String> {
        let url = one_of("url", &self.url, &self.url_file)?;
        Ok(format!("{:?}", (url, self.timeout)))
    }

    pub fn is_local(&self) -> Result<bool, String> {
        let url = one_of("url", &self.url, &self.url_file)?.unwrap_or_default();
        Ok(url.trim_start().starts_with("sqlite:") || is_loopback(&url))
    }

    pub fn build(&self) -> Result<External, String> {
        let url = one_of("url", &self.url, &self.url_file)?.ok_or("url or url_file is missing")?;
        External::new(url.trim(), in_time(self.timeout)?).map_err(|why| format!("url {why}"))
    }
}

/// Whether a URL leads to the machine it is used on.
fn is_loopback(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let ip = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

fn in_time(timeout: Duration) -> Result<Duration, String> {
    if timeout < Duration::from_millis(100) || timeout > MAX_TIMEOUT {
        return Err("timeout: takes a duration from \"100ms\" to \"100s\"".into());
    }
    Ok(timeout)
}

/// A secret that is given or in a file, never both.
pub(super) fn one_of(
    name: &str,
    given: &Option<Secret>,
    file: &Option<PathBuf>,
) -> Result<Option<String>, String> {
    let secret = match (given, file) {
        (Some(_), Some(_)) => return Err(format!("{name} is set as well as {name}_file; keep one of them")),
        (None, None) => return Ok(None),
        (Some(secret), None) => secret.expose().to_owned(),
        (None, Some(file)) => text_of(name, file)?,
    };
    match secret.is_empty() {
        true => Err(format!("{name} must not be empty")),
        false => Ok(Some(secret)),
    }
}

fn text_of(name: &str, file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file)
        .map(|text| text.trim_end_matches(['\r', '\n']).to_owned())
        .map_err(|e| format!("{name}: cannot read {}: {e}", file.display()))
}

/// Everything that is wrong with them, each under the key of its table and with its name.
pub fn problems(systems: &[System], connections: &[Connection]) -> Vec<Problem> {
    let outside = Outside::new(Arc::new(SystemClock));
    let mut bad = vec![];
    let mut seen = HashSet::new();
    for system in systems {
        let named = |why: String| Problem::new(SYSTEM.name, format!("{:?}: {why}", system.name));
        bad.extend(name_problem(&system.name, &mut seen).map(named));
        bad.extend(system.build(&outside).err().map(named));
    }
    let mut seen = HashSet::new();
    for connection in connections {
        let named = |why: String| Problem::new(CONNECTION.name, format!("{:?}: {why}", connection.name));
        bad.extend(name_problem(&connection.name, &mut seen).map(named));
        bad.extend(connection.build().err().map(named));
    }
    bad
}

fn name_problem<'a>(name: &'a str, seen: &mut HashSet<&'a str>) -> Option<String> {
    if name.trim().is_empty() || name.len() > 255 {
        return Some("the name must not be blank, and at most 255 bytes".into());
    }
    (!seen.insert(name)).then(|| "the name is used twice".into())
}
