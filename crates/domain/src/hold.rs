//! Why a lane is not claimed from. A hold keeps rows waiting, uncounted, until the reason is gone.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A hold as it stands in the store, seen by every node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub reason: HoldReason,
    /// The far end's words, or the operator's.
    pub detail: Option<String>,
    pub since: Timestamp,
    /// When one row is tried next; never, for holds that only a person ends.
    pub next_probe: Option<Timestamp>,
    /// Probes that failed so far.
    pub probes: u32,
    /// The person who said so; none when it is the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Of the failure that it is held for, the far end's own where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoldReason {
    /// Credentials were refused.
    Auth,
    /// The provider's quota is used up.
    Quota,
    /// The provider wants money.
    Billing,
    /// A setting is wrong: an address that is gone, a webhook that was revoked.
    Config,
    /// The provider does not answer.
    Down,
    /// An operator said so.
    Operator,
    /// The provider is switched off.
    Disabled,
}

impl HoldReason {
    pub const ALL: [HoldReason; 7] = [
        HoldReason::Auth,
        HoldReason::Quota,
        HoldReason::Billing,
        HoldReason::Config,
        HoldReason::Down,
        HoldReason::Operator,
        HoldReason::Disabled,
    ];

    /// Whether one row is tried now and then to see if the reason is gone.
    pub fn is_probed(self) -> bool {
        !matches!(self, HoldReason::Operator | HoldReason::Disabled)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            HoldReason::Auth => "auth",
            HoldReason::Quota => "quota",
            HoldReason::Billing => "billing",
            HoldReason::Config => "config",
            HoldReason::Down => "down",
            HoldReason::Operator => "operator",
            HoldReason::Disabled => "disabled",
        }
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HoldReason {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| format!("unknown hold reason {text:?}"))
    }
}
