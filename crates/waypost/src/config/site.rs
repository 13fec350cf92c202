//! `[site]`: one site's agent. Only `waypost site` needs it.

use super::{
    key::Key,
    list,
    problem::Problem,
    replication::{self, Replication},
    secret::{Secret, Twin},
    server::is_taken_by,
    site_targets::{Connection, System},
};
use domain::{SiteId, retry::human, retry::seconds};
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf, time::Duration};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Site {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(deserialize_with = "list::deserialize", skip_serializing_if = "Vec::is_empty")]
    pub central: Vec<String>,
    pub listen: SocketAddr,
    pub database: PathBuf,
    #[serde(skip_serializing)]
    pub key: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key_file: Option<PathBuf>,
    pub insecure: bool,
    #[serde(skip_serializing)]
    pub api_token: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_token_file: Option<PathBuf>,
    pub max_buffer_bytes: u64,
    #[serde(with = "seconds")]
    pub default_retry_interval: Duration,
    pub default_max_retries: u32,
    pub notification_max_retries: u32,
    #[serde(with = "seconds")]
    pub retry_timer_interval: Duration,
    #[serde(with = "seconds")]
    pub tracking_retention: Duration,
    pub replication: Replication,
    #[serde(skip_serializing)]
    pub system: Vec<System>,
    #[serde(skip_serializing)]
    pub connection: Vec<Connection>,
}

impl Default for Site {
    /// What a site does when it is told nothing.
    fn default() -> Self {
        let site = site::Settings::of(domain::SiteId::new(""));
        Self {
            id: None,
            node: None,
            central: vec![],
            listen: SocketAddr::from(([127, 0, 0, 1], 8090)),
            database: PathBuf::from("data/store-and-forward.db"),
            key: None,
            key_file: None,
            ca_file: None,
            tls_cert_file: None,
            tls_key_file: None,
            insecure: false,
            api_token: None,
            api_token_file: None,
            max_buffer_bytes: 0,
            default_retry_interval: site.retry_interval,
            default_max_retries: site.max_retries,
            notification_max_retries: site.notification_max_retries,
            retry_timer_interval: site.timer,
            tracking_retention: site.tracking_retention,
            replication: Replication::default(),
            system: vec![],
            connection: vec![],
        }
    }
}

pub const ID: Key = Key::new(
    "site.id",
    "letters, digits, `-`, `_` and `.`, at most 100",
    "What this site is called at central. Needed for `waypost site`.",
)
.example("plant-north");
pub const NODE: Key = Key::new(
    "site.node",
    "a text",
    "What this machine is called among those of the site; its host name if not set.",
)
.example("north-a");
pub const CENTRAL: Key = Key::new(
    "site.central",
    "a list of addresses like [\"https://central.example:7443\"]",
    "Where central listens for sites; tried one after the other. Without it notifications stay in the buffer.",
)
.example("[\"https://central.example:7443\"]");
pub const LISTEN: Key = Key::new(
    "site.listen",
    "an address and a port, like \"127.0.0.1:8090\" (port 0: any free one)",
    "Where the local API listens. One that other machines can reach needs site.api_token.",
);
pub const DATABASE: Key = Key::new(
    "site.database",
    "the path of a file",
    "Where messages wait. The folder is made if it is not there.",
);
pub const KEY: Key = Key::new(
    "site.key",
    "the key that central gave out for this site",
    "Proves to central that this is the site it says it is (`waypost sites add` shows it once).",
)
.secret()
.example("wps_…");
pub const KEY_FILE: Key = Key::new(
    "site.key_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/site_key");
pub const CA_FILE: Key = Key::new(
    "site.ca_file",
    "the path of a PEM file",
    "The authority that signed central's certificate, if it is not a public one.",
)
.example("/etc/waypost/ca.crt");
pub const TLS_CERT_FILE: Key = Key::new(
    "site.tls_cert_file",
    "the path of a PEM file, set together with site.tls_key_file",
    "A certificate to show to central, where it asks for one.",
)
.example("/etc/waypost/site.crt");
pub const TLS_KEY_FILE: Key = Key::new(
    "site.tls_key_file",
    "the path of a PEM file, set together with site.tls_cert_file",
    "The private key that belongs to it.",
)
.example("/etc/waypost/site.key");
pub const INSECURE: Key = Key::new(
    "site.insecure",
    "true or false",
    "Speak to a central on another machine without TLS: only inside a tunnel that adds it.",
);
pub const API_TOKEN: Key = Key::new(
    "site.api_token",
    "a text of at least 16 characters without spaces",
    "Asked for by the local API. Needed when site.listen can be reached from other machines.",
)
.secret()
.example("a-long-random-text");
pub const API_TOKEN_FILE: Key = Key::new(
    "site.api_token_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/site_api_token");
pub const MAX_BUFFER_BYTES: Key = Key::new(
    "site.max_buffer_bytes",
    "a number of bytes, 0 for no limit",
    "About how much may wait. Beyond it new messages are refused in words until some have gone.",
);
pub const DEFAULT_RETRY_INTERVAL: Key = Key::new(
    "site.default_retry_interval",
    "a duration from \"1s\" to \"1d\", like \"30s\"",
    "The fixed interval between tries of a message that does not say its own.",
);
pub const DEFAULT_MAX_RETRIES: Key = Key::new(
    "site.default_max_retries",
    "a number, 0 for no limit",
    "How often a call or write is tried again before it is parked. The immediate attempt does not count.",
);
pub const NOTIFICATION_MAX_RETRIES: Key = Key::new(
    "site.notification_max_retries",
    "a number, 0 for no limit",
    "The same for notifications: how many intervals central may be away before one is parked.",
);
pub const RETRY_TIMER_INTERVAL: Key = Key::new(
    "site.retry_timer_interval",
    "a duration from \"100ms\" to \"1h\", like \"10s\"",
    "How often the agent looks for messages that are due. New ones are tried at once; this is the net.",
);
pub const TRACKING_RETENTION: Key = Key::new(
    "site.tracking_retention",
    "a duration from \"1h\" to \"3650d\", like \"7d\"",
    "How long it is known what became of a call or write after it ended.",
);
pub const SYSTEM: Key = Key::new(
    "site.system",
    "tables [[site.system]] with name and base_url, and if need be auth (none, basic, bearer, header), username, \
     password, token, header, value, timeout, transient, headers, ca_file",
    "The HTTP systems that scripts may call by name. Secrets also as password_file, token_file, value_file.",
)
.example("[{ name = \"erp\", base_url = \"https://erp.example/api\", auth = \"bearer\", token_file = \"erp.token\" }]");
pub const CONNECTION: Key = Key::new(
    "site.connection",
    "tables [[site.connection]] with name and url (postgres://… or sqlite://path) or url_file, and if need be timeout",
    "The databases that scripts may write to by name.",
)
.example("[{ name = \"history\", url = \"sqlite:///var/lib/history.db\" }]");

pub const KEYS: &[Key] = &[
    ID,
    NODE,
    CENTRAL,
    KEY,
    KEY_FILE,
    CA_FILE,
    TLS_CERT_FILE,
    TLS_KEY_FILE,
    INSECURE,
    LISTEN,
    API_TOKEN,
    API_TOKEN_FILE,
    DATABASE,
    MAX_BUFFER_BYTES,
    DEFAULT_RETRY_INTERVAL,
    DEFAULT_MAX_RETRIES,
    NOTIFICATION_MAX_RETRIES,
    RETRY_TIMER_INTERVAL,
    TRACKING_RETENTION,
    replication::LISTEN,
    replication::PEER,
    replication::TLS_CERT_FILE,
    replication::TLS_KEY_FILE,
    replication::CA_FILE,
    replication::WAIT_FOR_STANDBY,
    replication::LEASE,
    SYSTEM,
    CONNECTION,
];

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

impl Site {
    /// What is wrong with what is set. What is missing is only said to whoever needs it: [`Site::missing`].
    pub fn problems(&self) -> Vec<Problem> {
        let mut bad = vec![];
        if let Some(Err(why)) = self.id.as_deref().map(SiteId::parse) {
            bad.push(Problem::new(ID.name, format!("the id {why}")));
        }
        for text in &self.central {
            if let Err(why) = text.parse::<link::Address>() {
                bad.push(Problem::new(CENTRAL.name, why));
            }
        }
        let pair = (&self.tls_cert_file, &self.tls_key_file);
        match pair {
            (Some(_), None) => bad.push(Problem::new(
                TLS_CERT_FILE.name,
                "is set without site.tls_key_file",
            )),
            (None, Some(_)) => bad.push(Problem::new(
                TLS_KEY_FILE.name,
                "is set without site.tls_cert_file",
            )),
            _ => {}
        }
        let moment = Duration::from_millis(100);
        let durations = [
            (
                &DEFAULT_RETRY_INTERVAL,
                self.default_retry_interval,
                Duration::from_secs(1),
                DAY,
            ),
            (&RETRY_TIMER_INTERVAL, self.retry_timer_interval, moment, HOUR),
            (&TRACKING_RETENTION, self.tracking_retention, HOUR, 3650 * DAY),
        ];
        for (key, value, least, most) in durations {
            if value < least || value > most {
                bad.push(Problem::takes(key, format!("{:?}", human(value))));
            }
        }
        match self.api_token().read() {
            Ok(Some(token)) => {
                if token.expose().len() < 16 || token.expose().contains(char::is_whitespace) {
                    bad.push(Problem::takes(&API_TOKEN, "a shorter one"));
                }
            }
            Ok(None) if !self.listen.ip().is_loopback() => bad.push(Problem::new(
                LISTEN.name,
                format!(
                    "{} can be reached from other machines: set site.api_token",
                    self.listen
                ),
            )),
            Ok(None) => {}
            Err(problem) => bad.push(problem),
        }
        bad.extend(self.key().read().err());
        bad.extend(self.replication.problems(self.insecure));
        let other = self.replication.listen;
        if let Some(taken) = other.filter(|other| is_taken_by(*other, self.listen)) {
            bad.push(Problem::new(
                replication::LISTEN.name,
                format!("{taken} is taken already, by site.listen"),
            ));
        }
        bad.extend(super::site_targets::problems(&self.system, &self.connection));
        bad
    }

    /// What `waypost site` cannot do without.
    pub fn missing(&self) -> Vec<Problem> {
        let mut bad = vec![];
        if self.id.is_none() {
            bad.push(Problem::new(
                ID.name,
                "is needed for `waypost site`: what this site is called at central",
            ));
        }
        let keyless = self.key.is_none() && self.key_file.is_none();
        if !self.central.is_empty() && keyless {
            bad.push(Problem::new(
                KEY.name,
                "is needed with site.central: the key that central gave out for this site",
            ));
        }
        if self.replication.peer.is_some() && keyless {
            bad.push(Problem::new(
                KEY.name,
                "is needed with site.replication.peer: the two machines prove by it that they are of one site",
            ));
        }
        bad
    }

    pub fn key(&self) -> Twin<'_> {
        Twin {
            key: &KEY,
            file_key: &KEY_FILE,
            given: self.key.as_ref(),
            file: self.key_file.as_deref(),
        }
    }

    pub fn api_token(&self) -> Twin<'_> {
        Twin {
            key: &API_TOKEN,
            file_key: &API_TOKEN_FILE,
            given: self.api_token.as_ref(),
            file: self.api_token_file.as_deref(),
        }
    }
}
