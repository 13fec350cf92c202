//! What hangs on something that may be removed, as it is answered.

use super::names::Time;
use domain::{Timestamp, Usage};
use serde::Serialize;
use utoipa::ToSchema;

/// What would miss it if it were gone. Each is counted up to 1,000; what it cannot have is 0.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    pub providers: u64,
    pub templates: u64,
    /// Schedules of events that wait for their time.
    pub schedules: u64,
    /// Notifications that wait.
    pub waiting: u64,
    /// Notifications that are parked.
    pub parked: u64,
    /// As far as the newest rows tell.
    #[schema(value_type = Option<Time>)]
    pub last_used_at: Option<Timestamp>,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        let Usage {
            providers,
            templates,
            schedules,
            waiting,
            parked,
            last_used_at,
        } = usage;
        Self {
            providers,
            templates,
            schedules,
            waiting,
            parked,
            last_used_at,
        }
    }
}
