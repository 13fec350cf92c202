//! What each template came to when a schedule was published: kept with the schedule, so that nothing is skipped unseen.

use crate::{Channel, NotificationId};
use serde::{Deserialize, Serialize};

/// One template's part in a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledMessage {
    pub template: String,
    pub template_name: String,
    pub template_version: i64,
    pub channel: Channel,
    pub came_to: CameTo,
    /// The notification; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<NotificationId>,
    /// Why it was skipped or refused, as what it was sent before, or which values it lacked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of one template of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CameTo {
    /// A notification was taken in.
    Created,
    /// An earlier event had caused the same one.
    Found,
    /// There was nobody to write to.
    Skipped,
    /// It could not be taken in.
    Refused,
}

impl ScheduledMessage {
    /// Whether a replay may make it: there is no notification of it.
    pub fn is_missing(&self) -> bool {
        matches!(self.came_to, CameTo::Skipped | CameTo::Refused)
    }
}
