//! `[log]`: what is logged, and in which shape.

use super::{key::Key, problem::Problem};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    pub format: Format,
    pub filter: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Human,
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: Format::Human,
            filter: "info,refinery_core=warn,tokio_postgres=warn".into(),
        }
    }
}

pub const FORMAT: Key = Key::new(
    "log.format",
    "human or json",
    "One line for people, or one JSON object per line for collectors.",
);
pub const FILTER: Key = Key::new(
    "log.filter",
    "levels by module, like \"info\" or \"info,central=debug\"",
    "What is logged. WAYPOST_LOG, or else RUST_LOG, takes its place.",
);

pub const KEYS: &[Key] = &[FORMAT, FILTER];

impl Log {
    pub fn problems(&self) -> Vec<Problem> {
        match tracing_subscriber::EnvFilter::builder().parse(&self.filter) {
            Ok(_) => vec![],
            Err(e) => vec![Problem::takes(&FILTER, format!("{:?} ({e})", self.filter))],
        }
    }
}
