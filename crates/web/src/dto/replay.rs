//! Which events, or what became of them, a bulk replay is about.

use super::{
    job::{CountAnswer, DryRunAnswer},
    names::{EventReplayName, ScheduleReplayName, Time},
};
use crate::fields::Fields;
use central::{
    events::bulk::{ReplayBulk, ReplayFilter, ReplayStatus, Replays},
    jobs::{Counted, ReplayCount},
};
use domain::FieldError;
use utoipa::ToSchema;

/// Which events are worked on again.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EventReplayRequest {
    pub filter: EventReplayFilter,
    /// Only count what matches; change nothing.
    pub dry_run: Option<bool>,
    /// The `asOf` of a dry run: only what stood like this at that moment, and has since, is replayed. Now if left out.
    pub as_of: Option<Time>,
    /// The `total` of the same dry run: if there are more, nothing is done and the answer is a 409.
    pub total: Option<u64>,
    /// Why; kept with the job.
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// An empty one means everything that is Failed or Deferred.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EventReplayFilter {
    pub status: Option<EventReplayName>,
    pub event_type: Option<String>,
    pub entity_id: Option<String>,
    /// Created at or after this time.
    pub from: Option<Time>,
    /// Created before this time.
    pub to: Option<Time>,
}

/// Which schedules are replayed.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ScheduleReplayRequest {
    pub filter: ScheduleReplayFilter,
    /// Also templates that were made after the event.
    pub new_templates: Option<bool>,
    /// Only count what matches; change nothing.
    pub dry_run: Option<bool>,
    /// The `asOf` of a dry run: only what stood like this at that moment, and has since, is replayed. Now if left out.
    pub as_of: Option<Time>,
    /// The `total` of the same dry run: if there are more, nothing is done and the answer is a 409.
    pub total: Option<u64>,
    /// Why; kept with the job.
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// An empty one means everything that is Failed.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ScheduleReplayFilter {
    /// Failed if left out.
    pub status: Option<ScheduleReplayName>,
    pub event_type: Option<String>,
    /// Together with `entityId`.
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    /// Made at or after this time.
    pub from: Option<Time>,
    /// Made before this time.
    pub to: Option<Time>,
}

/// A bulk replay, read.
#[derive(Debug)]
pub struct BulkReplay {
    pub bulk: ReplayBulk,
    pub dry_run: bool,
    /// What a dry run said.
    pub counted: Option<Counted>,
    pub reason: Option<String>,
}

impl BulkReplay {
    pub fn read(mut fields: Fields, replays: Replays) -> Result<Self, Vec<FieldError>> {
        let reason = fields.text("reason");
        let dry_run = fields.boolean("dryRun").unwrap_or(false);
        let as_of = fields.timestamp("asOf");
        let total = fields.integer::<u64>("total");
        if total.is_some() && as_of.is_none() {
            fields.problem("total", "goes with the asOf of the same dry run");
        }
        let new_templates = match replays {
            Replays::Schedules => fields.boolean("newTemplates").unwrap_or(false),
            Replays::Events => false,
        };
        let map = fields.object("filter");
        let map = fields.require("filter", map);
        let mut inner = Fields::nested(map.unwrap_or_default(), "filter.");
        let filter = filter(&mut inner, replays);
        fields.add_all(inner.finish());
        let problems = fields.finish();
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            bulk: ReplayBulk {
                new_templates,
                ..ReplayBulk::new(replays, filter)
            },
            dry_run,
            counted: as_of.map(|as_of| Counted {
                total: total.unwrap_or(u64::MAX),
                as_of,
            }),
            reason,
        })
    }
}

fn filter(inner: &mut Fields, replays: Replays) -> ReplayFilter {
    let said = inner.text("status");
    let status = said.as_deref().and_then(ReplayStatus::named);
    let status = status.filter(|status| status.is_of(replays));
    if said.is_some() && status.is_none() {
        let known = match replays {
            Replays::Events => "must be Failed or Deferred: nothing else is worked on again",
            Replays::Schedules => "must be Failed, Completed or Cancelled",
        };
        inner.problem("status", known);
    }
    let entity_type = match replays {
        Replays::Schedules => inner.text("entityType"),
        Replays::Events => None,
    };
    let entity_id = inner.text("entityId");
    if replays == Replays::Schedules && entity_type.is_some() != entity_id.is_some() {
        inner.problem("entityId", "goes with entityType");
    }
    ReplayFilter {
        status,
        event_type: inner.text("eventType"),
        entity_type,
        entity_id,
        from: inner.timestamp("from"),
        to: inner.timestamp("to"),
    }
}

impl From<ReplayCount> for DryRunAnswer {
    fn from(counted: ReplayCount) -> Self {
        Self {
            count: CountAnswer {
                total: counted.total,
                total_at_least: counted.at_least,
            },
            as_of: counted.as_of,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(body: Value, replays: Replays) -> Result<BulkReplay, Vec<String>> {
        let Value::Object(map) = body else {
            panic!("not an object")
        };
        BulkReplay::read(Fields::new(map), replays)
            .map_err(|problems| problems.into_iter().map(|p| p.field).collect())
    }

    #[test]
    fn a_replay_of_many_needs_a_filter_and_names_what_is_wrong_in_it() {
        assert_eq!(read(json!({}), Replays::Events).unwrap_err(), ["filter"]);
        let bad = json!({"filter": {"status": "Published", "entityType": "x", "from": 3}, "newTemplates": true, "total": 3});
        let mut named = read(bad.clone(), Replays::Events).unwrap_err();
        named.sort_unstable();
        let all = [
            "filter.entityType",
            "filter.from",
            "filter.status",
            "newTemplates",
            "total",
        ];
        assert_eq!(named, all);
        let mut named = read(bad, Replays::Schedules).unwrap_err();
        named.sort_unstable();
        assert_eq!(
            named,
            ["filter.entityId", "filter.from", "filter.status", "total"]
        );
    }
}
