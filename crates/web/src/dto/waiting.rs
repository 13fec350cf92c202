//! Why something waits, as it is shown.

use super::names::{HoldReasonName, Time, WaitReasonName};
use domain::{Hold, HoldReason, Timestamp, WaitReason, Waiting};
use serde::Serialize;
use utoipa::ToSchema;

/// What keeps a notification from going out just now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingView {
    #[schema(value_type = WaitReasonName)]
    pub reason: WaitReason,
    /// The far end's words, the operator's or this node's.
    pub detail: Option<String>,
    /// When it is tried next; null when that is up to a person, or to what stands before it.
    #[schema(value_type = Option<Time>)]
    pub until: Option<Timestamp>,
}

impl From<Waiting> for WaitingView {
    fn from(waiting: Waiting) -> Self {
        let Waiting {
            reason,
            detail,
            until,
        } = waiting;
        Self {
            reason,
            detail,
            until,
        }
    }
}

/// Why a provider takes nothing just now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HoldView {
    #[schema(value_type = HoldReasonName)]
    pub reason: HoldReason,
    /// The far end's words, or the operator's.
    pub detail: Option<String>,
    #[schema(value_type = Time)]
    pub since: Timestamp,
    /// When one row is tried next; null for holds that only a person ends.
    #[schema(value_type = Option<Time>)]
    pub next_probe: Option<Timestamp>,
    pub probes: u32,
    /// The person who said so; null when it is the system.
    pub by: Option<String>,
    /// Of the failure that it is held for, the far end's own where it has one. `ADDRESS_REFUSED`: waypost itself refuses to connect.
    pub code: Option<String>,
}

impl HoldView {
    /// As it explains why one message waits, which it has not done for longer than the message is there.
    pub fn of_message(hold: Hold, created_at: Timestamp) -> Self {
        Self::from(Hold {
            since: hold.since.max(created_at),
            ..hold
        })
    }
}

impl From<Hold> for HoldView {
    fn from(hold: Hold) -> Self {
        let Hold {
            reason,
            detail,
            since,
            next_probe,
            probes,
            by,
            code,
        } = hold;
        Self {
            reason,
            detail,
            since,
            next_probe,
            probes,
            by,
            code,
        }
    }
}
