//! `[outbox]`: how fast the queue is worked, and how long things are kept.

use super::{key::Key, problem::Problem};
use domain::{
    kpi::{BUCKET, STATS_KEPT},
    retry::{human, seconds},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Outbox {
    #[serde(with = "seconds")]
    pub dispatch_interval: Duration,
    pub dispatch_batch_size: u32,
    #[serde(with = "seconds")]
    pub lease: Duration,
    #[serde(with = "seconds")]
    pub stuck_age_threshold: Duration,
    #[serde(with = "seconds")]
    pub delivered_kpi_window: Duration,
    #[serde(with = "seconds")]
    pub purge_interval: Duration,
    #[serde(with = "seconds")]
    pub terminal_retention: Duration,
    #[serde(with = "seconds")]
    pub audit_retention: Duration,
    /// None: for ever.
    #[serde(with = "or_forever")]
    pub spent_key_retention: Option<Duration>,
    /// Zero: nothing is kept.
    #[serde(with = "seconds")]
    pub transcript_retention: Duration,
    pub discard_needs_reason: bool,
}

impl Default for Outbox {
    /// What a node does when it is told nothing.
    fn default() -> Self {
        let node = central::Settings::named("");
        Self {
            dispatch_interval: node.dispatch.interval,
            dispatch_batch_size: u32::try_from(node.dispatch.batch).unwrap_or(u32::MAX),
            lease: node.dispatch.lease,
            stuck_age_threshold: node.kpi.stuck_after,
            delivered_kpi_window: node.kpi.delivered_window,
            purge_interval: node.purge_interval,
            terminal_retention: node.retention.terminal,
            audit_retention: node.retention.audit,
            spent_key_retention: node.retention.spent_keys,
            transcript_retention: node.retention.transcripts,
            discard_needs_reason: node.discard_needs_reason,
        }
    }
}

const A_DURATION: &str = "a duration above 0, like \"10s\", \"5m\", \"2h\" or \"7d\"";

pub const DISPATCH_INTERVAL: Key = Key::new(
    "outbox.dispatch_interval",
    "a duration from \"100ms\" to \"1h\", like \"10s\"",
    "How often the dispatcher looks for due notifications. A new one wakes it at once; this is the net.",
);
pub const DISPATCH_BATCH_SIZE: Key = Key::new(
    "outbox.dispatch_batch_size",
    "a number from 1 to 10000",
    "The most one claim takes from one lane while others wait for their turn. A lane that is alone may take all that can \
     be sent at once.",
);
pub const LEASE: Key = Key::new(
    "outbox.lease",
    "a duration from \"1s\" to \"1h\", like \"2m\"",
    "How long a claimed notification is kept from the other nodes. A node that dies gives its rows back after this.",
);
pub const STUCK_AGE_THRESHOLD: Key = Key::new(
    "outbox.stuck_age_threshold",
    A_DURATION,
    "Waiting for longer than this counts as stuck. For show only: nothing is done differently.",
);
pub const DELIVERED_KPI_WINDOW: Key = Key::new(
    "outbox.delivered_kpi_window",
    "a duration from \"10s\" to \"31d\", like \"1m\"",
    "The trailing window of the figure \"delivered in the last interval\".",
);
pub const PURGE_INTERVAL: Key = Key::new(
    "outbox.purge_interval",
    A_DURATION,
    "How often what is past its time is deleted.",
);
pub const TERMINAL_RETENTION: Key = Key::new(
    "outbox.terminal_retention",
    A_DURATION,
    "How long a notification is kept after it was delivered, parked or discarded. Waiting ones are never deleted.",
);
pub const AUDIT_RETENTION: Key = Key::new(
    "outbox.audit_retention",
    A_DURATION,
    "How long audit rows are kept.",
);
pub const SPENT_KEY_RETENTION: Key = Key::new(
    "outbox.spent_key_retention",
    "a duration above 0, like \"730d\", or \"forever\"",
    "How long the ids of deleted notifications are remembered, so that a late resend is still recognised.",
);
pub const TRANSCRIPT_RETENTION: Key = Key::new(
    "outbox.transcript_retention",
    "a duration up to \"365d\", like \"7d\", or \"0s\" for none",
    "How long it is kept what was said in an attempt: request and answer, or the dialogue with a mail server. Failures first; \
     what one node keeps has a bound. \"0s\" keeps nothing.",
);
pub const DISCARD_NEEDS_REASON: Key = Key::new(
    "outbox.discard_needs_reason",
    "true or false",
    "Whoever discards or cancels a notification has to say why. The reason is in the audit log.",
);

pub const KEYS: &[Key] = &[
    DISPATCH_INTERVAL,
    DISPATCH_BATCH_SIZE,
    LEASE,
    STUCK_AGE_THRESHOLD,
    DELIVERED_KPI_WINDOW,
    PURGE_INTERVAL,
    TERMINAL_RETENTION,
    AUDIT_RETENTION,
    SPENT_KEY_RETENTION,
    TRANSCRIPT_RETENTION,
    DISCARD_NEEDS_REASON,
];

const HOUR: Duration = Duration::from_secs(3600);
/// Nothing is kept for longer than this; beyond it dates stop making sense.
const MAX_DURATION: Duration = Duration::from_secs(100 * 366 * 86_400);
/// A tick shorter than this only burns a core.
const MOMENT: Duration = Duration::from_millis(100);

impl Outbox {
    pub fn problems(&self) -> Vec<Problem> {
        let spent = self.spent_key_retention.unwrap_or(MAX_DURATION);
        let durations = [
            (&DISPATCH_INTERVAL, self.dispatch_interval, MOMENT, HOUR),
            (&LEASE, self.lease, Duration::from_secs(1), HOUR),
            (
                &STUCK_AGE_THRESHOLD,
                self.stuck_age_threshold,
                MOMENT,
                MAX_DURATION,
            ),
            (
                &DELIVERED_KPI_WINDOW,
                self.delivered_kpi_window,
                BUCKET,
                STATS_KEPT,
            ),
            (&PURGE_INTERVAL, self.purge_interval, MOMENT, MAX_DURATION),
            (&TERMINAL_RETENTION, self.terminal_retention, MOMENT, MAX_DURATION),
            (&AUDIT_RETENTION, self.audit_retention, MOMENT, MAX_DURATION),
            (&SPENT_KEY_RETENTION, spent, MOMENT, MAX_DURATION),
            (
                &TRANSCRIPT_RETENTION,
                self.transcript_retention,
                Duration::ZERO,
                365 * 24 * HOUR,
            ),
        ];
        let mut bad: Vec<_> = durations
            .into_iter()
            .filter(|(_, value, least, most)| value < least || value > most)
            .map(|(key, value, ..)| Problem::takes(key, format!("{:?}", human(value))))
            .collect();
        if !(1..=10_000).contains(&self.dispatch_batch_size) {
            bad.push(Problem::takes(&DISPATCH_BATCH_SIZE, self.dispatch_batch_size));
        }
        if bad.is_empty() && self.dispatch_interval >= self.stuck_age_threshold {
            bad.push(Problem::new(
                STUCK_AGE_THRESHOLD.name,
                "must be longer than outbox.dispatch_interval, or everything that waits for a look counts as stuck",
            ));
        }
        bad
    }
}

/// A duration or the word `forever`.
mod or_forever {
    use domain::retry::{human, parse_human};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        match d {
            Some(d) => s.collect_str(&human(*d)),
            None => s.serialize_str("forever"),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        match String::deserialize(d)?.as_str() {
            "forever" => Ok(None),
            text => parse_human(text).map(Some).map_err(D::Error::custom),
        }
    }
}
