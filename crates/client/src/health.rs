//! How central itself is doing.

use crate::{Client, Error, Page, Result, http::NONE};
use domain::Timestamp;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether central can take work, and what is missing if not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    pub ready: bool,
    #[serde(default)]
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: Option<String>,
}

/// How a background loop's last run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopReport {
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub what: String,
    pub at: Timestamp,
    pub duration_ms: u64,
    pub ok: bool,
    pub result: String,
    /// The last run that had something to do, which may be the last one.
    #[serde(default)]
    pub last_work: Option<LoopWork>,
    pub runs: u64,
    /// Runs that ended in a panic; it was started again each time.
    #[serde(default)]
    pub panics: u64,
    pub every: Value,
    /// A run is under way since then.
    #[serde(default)]
    pub running_since: Option<Timestamp>,
    /// None while it runs, or only waits to be woken.
    #[serde(default)]
    pub next_run: Option<Timestamp>,
}

/// What a run of a background loop did, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopWork {
    pub at: Timestamp,
    pub result: String,
}

impl Client {
    /// Whether the process is alive.
    pub async fn healthz(&self) -> Result<()> {
        self.get::<Value>(&["healthz"], NONE).await.map(drop)
    }

    /// Whether it can take work. Not being ready is an answer, not an error.
    pub async fn readyz(&self) -> Result<Readiness> {
        let answer = self.send(self.request(Method::GET, &["readyz"], NONE)).await?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(|e| self.unreachable(e))?;
        serde_json::from_slice(&body).map_err(|e| Error::Server {
            status,
            code: String::new(),
            detail: format!("readiness this client does not understand: {e}"),
            retry_after: None,
        })
    }

    pub async fn loops(&self) -> Result<Vec<LoopReport>> {
        let page: Page<_> = self.get(&["api", "loops"], NONE).await?;
        Ok(page.items)
    }
}
