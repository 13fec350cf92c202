//! Where an event and its schedule stand. Names are the same in the API, in SQL and on the console.

use crate::audit::names;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

names!(
    /// Where an event stands.
    EventStatus {
        /// Nobody has worked on it, or it is to be tried again.
        Pending,
        /// It has a schedule.
        Published,
        /// It cannot become anything; a person may replay it.
        Failed,
        /// There is no event type of its name; a person may replay it once there is.
        Deferred,
    }
);

names!(
    /// Where a schedule stands. From `Published` on it is derived from the notifications it names.
    ScheduleStatus {
        Pending,
        Published,
        Completed,
        Failed,
        Cancelled,
    }
);

impl EventStatus {
    /// Whether a person may have it worked on again.
    pub fn may_be_replayed(self) -> bool {
        matches!(self, Self::Failed | Self::Deferred)
    }
}
