//! Keeping the store in shape: what is old goes, in small steps that let others in between.

use crate::Result;
use async_trait::async_trait;
use domain::Timestamp;
use std::{collections::BTreeMap, fmt::Debug, path::Path, time::Duration};

#[async_trait]
pub trait Maintenance: Debug + Send + Sync {
    /// Deletes at most `chunk` notifications that ended before now − `terminal`, with everything that hangs on
    /// them, and leaves their ids in `spent_keys`. Never touches one that has not ended.
    /// Also at most `chunk` calls of sites and bulk actions that ended as long ago, events past their own time, and at most as many audit rows, spent keys, stats and
    /// transcripts that are past their own time.
    async fn purge_chunk(&self, keep: &Retention, chunk: u32) -> Result<Purged>;

    /// What a purge would delete, counted up to `bound`.
    async fn purgeable(&self, keep: &Retention, bound: u32) -> Result<Purged>;

    /// Frees the queue of rows that are gone, which keeps whoever uses it waiting for a moment. Nothing that waits changes.
    /// Worth doing when [`crate::outbox::Chores::compact`] says so; an embedded store never does.
    async fn compact_queue(&self) -> Result<()>;

    async fn schema_version(&self) -> Result<i64>;

    /// Writes a consistent copy while everything goes on. Only an embedded store can.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Whether the store answers, in one round trip; the error says why not.
    async fn ping(&self) -> Result<()>;

    /// Finishes what is under way and closes. Later calls fail.
    async fn close(&self);

    /// For tests and `doctor`: notifications that are in neither or in both of `due` and `outcome`.
    async fn misplaced(&self) -> Result<u64>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub terminal: Duration,
    pub audit: Duration,
    /// None: for ever.
    pub spent_keys: Option<Duration>,
    pub stats: Duration,
    /// Of events that ended or were deferred, from when they came.
    pub events: Duration,
    /// Of what was said in attempts.
    pub transcripts: Duration,
}

/// What is purged besides notifications, each by an age of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aging {
    Audit,
    SpentKeys,
    Stats,
    SiteCalls,
    Jobs,
    Events,
    Transcripts,
}

impl Aging {
    pub const ALL: [Aging; 7] = [
        Aging::Audit,
        Aging::SpentKeys,
        Aging::Stats,
        Aging::SiteCalls,
        Aging::Jobs,
        Aging::Events,
        Aging::Transcripts,
    ];
}

/// The statements of a database for each of them, by the names that both databases give them.
macro_rules! aging_statements {
    ($sql:ident) => {
        fn purge_statement(what: Aging) -> &'static str {
            match what {
                Aging::Audit => $sql::purge_audit,
                Aging::SpentKeys => $sql::purge_spent_keys,
                Aging::Stats => $sql::purge_stats,
                Aging::SiteCalls => $sql::purge_site_calls,
                Aging::Jobs => $sql::purge_jobs,
                Aging::Events => $sql::purge_events,
                Aging::Transcripts => $sql::purge_transcripts,
            }
        }

        fn count_statement(what: Aging) -> &'static str {
            match what {
                Aging::Audit => $sql::purgeable_audit,
                Aging::SpentKeys => $sql::purgeable_spent_keys,
                Aging::Stats => $sql::purgeable_stats,
                Aging::SiteCalls => $sql::purgeable_site_calls,
                Aging::Jobs => $sql::purgeable_jobs,
                Aging::Events => $sql::purgeable_events,
                Aging::Transcripts => $sql::purgeable_transcripts,
            }
        }
    };
}
pub(crate) use aging_statements;

impl Retention {
    /// None: for ever.
    pub(crate) fn of(&self, what: Aging) -> Option<Duration> {
        match what {
            Aging::Audit => Some(self.audit),
            Aging::SpentKeys => self.spent_keys,
            Aging::Stats => Some(self.stats),
            Aging::SiteCalls | Aging::Jobs => Some(self.terminal),
            Aging::Events => Some(self.events),
            Aging::Transcripts => Some(self.transcripts),
        }
    }
}

impl Purged {
    pub(crate) fn count_of(&mut self, what: Aging) -> &mut u64 {
        match what {
            Aging::Audit => &mut self.audit_rows,
            Aging::SpentKeys => &mut self.spent_keys,
            Aging::Stats => &mut self.stats_rows,
            Aging::SiteCalls => &mut self.site_calls,
            Aging::Jobs => &mut self.jobs,
            Aging::Events => &mut self.events,
            Aging::Transcripts => &mut self.transcripts,
        }
    }
}

/// What the audit log says of a purge, tenant by tenant.
pub(crate) fn purged_in_words(tenants: impl IntoIterator<Item = i32>) -> BTreeMap<i32, String> {
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    for tenant in tenants {
        *counts.entry(tenant).or_default() += 1;
    }
    let words = |(tenant, n)| (tenant, format!("{n} notifications"));
    counts.into_iter().map(words).collect()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    pub notifications: u64,
    pub audit_rows: u64,
    pub spent_keys: u64,
    pub stats_rows: u64,
    /// Cached calls and writes of sites that ended.
    pub site_calls: u64,
    /// Bulk actions that ended.
    pub jobs: u64,
    /// Events with their schedules, whose notifications are gone.
    pub events: u64,
    /// What was said in attempts.
    pub transcripts: u64,
    pub oldest_left: Option<Timestamp>,
}
