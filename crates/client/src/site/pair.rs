//! The two machines of a site.

use super::{Site, of_site};
use crate::{Result, http::NONE};
use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The pair, as the machine that was asked sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pair {
    /// `Active` or `Standby`.
    pub role: String,
    /// How often the active one has changed.
    pub epoch: u64,
    /// The last change in the copy, or of the active.
    pub position: i64,
    /// Changes that the copy lacks; none where that is not known.
    pub behind: Option<u64>,
    /// How long ago the copy was known to be complete.
    pub behind_seconds: Option<u64>,
    /// The copy was complete when it was last brought up to date.
    pub caught_up: bool,
    /// Rows of a whole copy that have come so far, while one is being made.
    pub copied_rows: Option<u64>,
    /// Sends should wait for the standby, and do not because it does not follow.
    #[serde(default)]
    pub alone: bool,
    /// Who gave the right to attempt what both machines know: `Standby`, `Central`, or `Nobody` where none is needed.
    #[serde(default)]
    pub lease_by: Option<String>,
    #[serde(default)]
    pub lease_seconds: Option<u64>,
    /// Why calls and writes that both machines know are not attempted.
    #[serde(default)]
    pub held: Option<String>,
    /// Why this machine would hand over by itself, and why it cannot.
    #[serde(default)]
    pub unrelieved: Option<String>,
    /// Messages that the other machine does not have yet: of the active one counted up to 10,000, of a standby those it keeps for the
    /// active one.
    #[serde(default)]
    pub own_rows: Option<u64>,
    pub other: OtherMachine,
    /// What differs between the two, in words.
    #[serde(default)]
    pub differences: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherMachine {
    pub address: String,
    pub name: Option<String>,
    pub version: Option<String>,
    pub role: Option<String>,
    pub last_contact_at: Option<Timestamp>,
    /// Why it cannot be asked.
    pub trouble: Option<String>,
}

impl Site {
    /// Which of the two machines this is, and how far the copy is. An error where the site has one.
    pub async fn pair(&self) -> Result<Pair> {
        of_site(self.client.get(&["pair"], NONE).await)
    }

    /// Makes this machine the active one; the other hands over. With `force` also where that cannot be asked.
    pub async fn promote(&self, force: bool) -> Result<Pair> {
        let body = json!({ "force": force });
        of_site(self.client.post(&["pair", "promote"], &body).await)
    }

    /// Has the other machine take over from this one.
    pub async fn demote(&self) -> Result<Pair> {
        of_site(self.client.post(&["pair", "demote"], &json!({})).await)
    }
}
