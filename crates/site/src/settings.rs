//! What a site is told about itself.

use domain::{SiteId, Tracer};
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Settings {
    pub id: SiteId,
    /// What this machine is called among those of the site.
    pub node: String,
    /// The fixed interval between tries, where a message does not say its own.
    pub retry_interval: Duration,
    /// Tries of a call or write before it is parked, where it does not say its own; 0: no limit.
    pub max_retries: u32,
    /// The same for a notification.
    pub notification_max_retries: u32,
    /// How often the sweep looks for what is due. News wakes it at once.
    pub timer: Duration,
    /// How long it is known what became of a call or write.
    pub tracking_retention: Duration,
    /// Attempts at once on one target.
    pub parallel: usize,
    /// No attempt takes longer, whatever its handler says.
    pub attempt_timeout: Duration,
    /// How long a stop waits for attempts under way.
    pub shutdown_wait: Duration,
    /// Where the steps of a notification are told; nowhere unless the configuration says.
    pub tracer: Tracer,
}

impl Settings {
    pub fn of(id: SiteId) -> Self {
        Self {
            node: id.to_string(),
            id,
            retry_interval: Duration::from_secs(30),
            max_retries: 50,
            notification_max_retries: 0,
            timer: Duration::from_secs(10),
            tracking_retention: Duration::from_secs(7 * 24 * 3600),
            parallel: 8,
            attempt_timeout: Duration::from_secs(120),
            shutdown_wait: Duration::from_secs(10),
            tracer: Tracer::default(),
        }
    }
}
