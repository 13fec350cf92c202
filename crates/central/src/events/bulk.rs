//! Replaying all that match: what a job is about, and its pages. The job itself is `crate::jobs`.
//!
//! Always true: what counts is what stood like this when somebody was told how many there are, and has since. A page that is
//! worked on again after a crash finds what it has replayed no longer among them.

use super::{EventService, ReplayRequest, ResendError, views::ScheduleView};
use domain::{Actor, EventId, EventStatus, ScheduleStatus, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use store::{
    events::{EventFilter, ScheduleFilter},
    query::{Cursor, Page},
};

/// What a job replays, as it is kept in the job's row. A word that this version does not know is not read at all: leaving it
/// out would act on more than somebody was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplayBulk {
    pub replay: Replays,
    pub filter: ReplayFilter,
    /// Of schedules: also templates that were made after the event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_templates: bool,
    /// Events of all tenants, also of those there are not: for who runs the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<Across>,
    /// Only what stood like this by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// Counting ended before it had seen all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replays {
    /// Rows of the outbox, which become due again.
    Events,
    /// What events became: parked messages go round again, what was skipped or refused is made.
    Schedules,
}

/// Whose events, where it is not one's own tenant's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Across {
    All,
    Tenant(i32),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReplayFilter {
    /// Events: Failed or Deferred, both if left out. Schedules: Failed if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ReplayStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// Of schedules only, and with the entity's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

/// The states that a replay can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplayStatus {
    Failed,
    Deferred,
    Completed,
    Cancelled,
}

impl ReplayStatus {
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Failed, Self::Deferred, Self::Completed, Self::Cancelled];
        all.into_iter().find(|status| status.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "Failed",
            Self::Deferred => "Deferred",
            Self::Completed => "Completed",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Whether events, or schedules, can be replayed that stand like this.
    pub fn is_of(self, replays: Replays) -> bool {
        match replays {
            Replays::Events => matches!(self, Self::Failed | Self::Deferred),
            Replays::Schedules => self != Self::Deferred,
        }
    }
}

impl ReplayBulk {
    pub fn new(replay: Replays, filter: ReplayFilter) -> Self {
        Self {
            replay,
            filter,
            new_templates: false,
            across: None,
            as_of: None,
            at_least: false,
        }
    }

    /// None for a job about something else.
    pub(crate) fn of(job: &store::jobs::Job) -> Option<Self> {
        serde_json::from_str(&job.filter).ok()
    }
}

/// Some of what a job is about.
#[derive(Debug, Default)]
pub(crate) struct ReplayPage {
    pub rows: Vec<ReplayRow>,
    /// Rows that were looked at for it.
    pub looked_at: u64,
    pub next: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ReplayRow {
    /// By its number.
    Event(i64),
    Schedule(EventId),
}

impl EventService {
    /// What matches behind a place, newest first.
    pub(crate) async fn replay_page(
        &self,
        tenant: TenantId,
        bulk: &ReplayBulk,
        as_of: Timestamp,
        after: Option<i64>,
        limit: u32,
    ) -> store::Result<ReplayPage> {
        let after = after.map(|seq| Cursor {
            at: Timestamp::EPOCH,
            seq,
        });
        let page = Page { limit, after };
        match bulk.replay {
            Replays::Events => self.stuck_page(tenant, bulk, as_of, page).await,
            Replays::Schedules => self.schedules_page(tenant, bulk, as_of, page).await,
        }
    }

    async fn stuck_page(
        &self,
        tenant: TenantId,
        bulk: &ReplayBulk,
        as_of: Timestamp,
        page: Page,
    ) -> store::Result<ReplayPage> {
        let tenant = match bulk.across {
            None => Some(tenant),
            Some(Across::Tenant(of)) => Some(TenantId(of)),
            Some(Across::All) => None,
        };
        let asked = &bulk.filter;
        let filter = EventFilter {
            status: asked.status.and_then(|status| match status {
                ReplayStatus::Failed => Some(EventStatus::Failed),
                ReplayStatus::Deferred => Some(EventStatus::Deferred),
                ReplayStatus::Completed | ReplayStatus::Cancelled => None,
            }),
            event_type: asked.event_type.clone(),
            entity_id: asked.entity_id.clone(),
            from: asked.from,
            to: asked.to,
            ..EventFilter::default()
        };
        let found = self.store.stuck_events(tenant, &filter, as_of, page).await?;
        Ok(ReplayPage {
            looked_at: found.seqs.len() as u64,
            rows: found.seqs.into_iter().map(ReplayRow::Event).collect(),
            next: found.next.map(|place| place.seq),
        })
    }

    async fn schedules_page(
        &self,
        tenant: TenantId,
        bulk: &ReplayBulk,
        as_of: Timestamp,
        page: Page,
    ) -> store::Result<ReplayPage> {
        let asked = &bulk.filter;
        let filter = ScheduleFilter {
            entity: asked.entity_type.clone().zip(asked.entity_id.clone()),
            ..ScheduleFilter::default()
        };
        let found = self.store.schedules(tenant, &filter, page).await?;
        let looked_at = found.rows.len() as u64;
        // Newest first: once all of a page are too old, so is the rest.
        let over = asked
            .from
            .is_some_and(|from| found.rows.iter().all(|schedule| schedule.created_at < from));
        let mut rows = found.rows;
        rows.retain(|schedule| {
            asked
                .event_type
                .as_ref()
                .is_none_or(|name| *name == schedule.event_type)
                && asked.from.is_none_or(|from| schedule.created_at >= from)
                && asked.to.is_none_or(|to| schedule.created_at < to)
        });
        let views = self.views_of(rows).await?;
        let stands = |view: &&ScheduleView| {
            view.status == asked.schedule_status() && view.since.is_some_and(|since| since <= as_of)
        };
        Ok(ReplayPage {
            rows: views
                .iter()
                .filter(stands)
                .map(|view| ReplayRow::Schedule(view.schedule.event))
                .collect(),
            looked_at,
            next: found.next.map(|place| place.seq).filter(|_| !over),
        })
    }

    /// Answers whether there was anything to do.
    pub(crate) async fn replay_row(
        &self,
        tenant: TenantId,
        row: ReplayRow,
        new_templates: bool,
        actor: &Actor,
    ) -> store::Result<bool> {
        let schedule = match row {
            ReplayRow::Event(seq) => {
                let stood = self.store.replay_event(seq, actor).await?;
                return Ok(stood.is_some_and(EventStatus::may_be_replayed));
            }
            ReplayRow::Schedule(schedule) => schedule,
        };
        let ask = ReplayRequest {
            tenant,
            schedule,
            new_templates,
            actor: actor.clone(),
        };
        match self.replay_schedule(&ask).await {
            Ok(done) => Ok(done.due_again || done.requeued + done.created > 0),
            Err(ResendError::Store(error)) => Err(error),
            Err(why) => {
                tracing::info!(event.id = %schedule, reason = %why, "a schedule was not replayed");
                Ok(false)
            }
        }
    }
}

impl ReplayFilter {
    fn schedule_status(&self) -> ScheduleStatus {
        match self.status {
            None | Some(ReplayStatus::Failed | ReplayStatus::Deferred) => ScheduleStatus::Failed,
            Some(ReplayStatus::Completed) => ScheduleStatus::Completed,
            Some(ReplayStatus::Cancelled) => ScheduleStatus::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_kept_by_any_version_is_read_and_one_that_is_not_understood_is_refused() {
        let kept = r#"{"replay":"events","filter":{"status":"Deferred","eventType":"a.b"},"across":{"tenant":3},"asOf":"2026-01-01T00:00:00.000Z"}"#;
        let bulk: ReplayBulk = serde_json::from_str(kept).unwrap();
        assert_eq!(bulk.filter.status, Some(ReplayStatus::Deferred));
        assert_eq!(bulk.across, Some(Across::Tenant(3)));
        let again = serde_json::to_string(&bulk).unwrap();
        assert_eq!(serde_json::from_str::<ReplayBulk>(&again).unwrap(), bulk);
        for other in [
            r#"{"replay":"events","filter":{"colour":"red"}}"#,
            r#"{"filter":{}}"#,
            r#"{"atSite":"north","filter":{}}"#,
        ] {
            serde_json::from_str::<ReplayBulk>(other).unwrap_err();
        }
    }
}
