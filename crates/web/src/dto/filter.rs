//! The filters of a list of notifications, from a query string and from a bulk request's body.

use super::names::{StatusName, Time, TypeName};
use crate::{fields::Fields, problem::Result, query::Params};
use central::jobs::{BulkFilter, Counted};
use domain::{Channel, FieldError, Status, Timestamp};
use std::time::Duration;
use store::query::{AuditFilter, Filter};
use utoipa::ToSchema;

/// A search for words looks this far back unless the request says how far.
pub const SEARCH_RANGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The filter of `GET /api/notifications`.
pub fn from_query(params: &mut Params, now: Timestamp, stuck_after: Duration) -> Filter {
    let keyword = params.text("q");
    let filter = Filter {
        status: params.several("status"),
        channel: params.parsed("type"),
        site: params.text("site"),
        list: params.text("list"),
        provider: params.text("provider"),
        from: params
            .timestamp("from")
            .or_else(|| search_start(keyword.as_deref(), now)),
        to: params.timestamp("to"),
        stuck_after: params
            .boolean("stuck")
            .filter(|stuck| *stuck)
            .map(|_| stuck_after),
        keyword,
        entity_type: params.text("entityType"),
        entity_id: params.text("entityId"),
        error_code: params.text("errorCode"),
        receipt: params.text("receipt"),
        execution: params.text("executionId"),
        ended_by: None,
    };
    if let (Some(from), Some(to)) = (filter.from, filter.to)
        && to < from
    {
        params.problem("to", "must not be before from");
    }
    filter
}

fn search_start(keyword: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    keyword.map(|_| now - SEARCH_RANGE)
}

/// The filter of `GET /api/audit`.
pub fn audit_from_query(params: &mut Params) -> AuditFilter {
    let correlation = params.text("correlation");
    let parsed = correlation.as_deref().map(str::parse);
    if let Some(Err(_)) = parsed {
        params.problem("correlation", "must be a notification id (a UUID)");
    }
    AuditFilter {
        from: params.timestamp("from"),
        to: params.timestamp("to"),
        kind: params.parsed("kind"),
        status: params.parsed("status"),
        actor: params.text("actor"),
        correlation: parsed.and_then(Result::ok),
    }
}

/// What a bulk action is to be done to.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BulkRequest {
    pub filter: BulkFilterRequest,
    /// Only count what matches; change nothing.
    pub dry_run: Option<bool>,
    /// The `asOf` of a dry run: only what was parked at that moment, and has been since, is acted on. Now if left out.
    pub as_of: Option<Time>,
    /// The `total` of the same dry run: if there are more, nothing is done and the answer is a 409.
    pub total: Option<u64>,
}

/// Which parked notifications. An empty one means all of them. With `q` and without `from`: the last 7 days.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BulkFilterRequest {
    /// May be left out; only `Parked` makes sense.
    pub status: Option<StatusName>,
    pub r#type: Option<TypeName>,
    pub site: Option<String>,
    pub list: Option<String>,
    pub provider: Option<String>,
    pub from: Option<Time>,
    pub to: Option<Time>,
    pub q: Option<String>,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub error_code: Option<String>,
}

/// A bulk request, read.
#[derive(Debug)]
pub struct Bulk {
    pub filter: BulkFilter,
    pub dry_run: bool,
    /// What a dry run said.
    pub counted: Option<Counted>,
}

impl Bulk {
    pub fn read(mut fields: Fields, now: Timestamp) -> Result<Self, Vec<FieldError>> {
        let dry_run = fields.boolean("dryRun").unwrap_or(false);
        let as_of = fields.timestamp("asOf");
        let total = fields.integer::<u64>("total");
        if total.is_some() && as_of.is_none() {
            fields.problem("total", "goes with the asOf of the same dry run");
        }
        let counted = as_of.map(|as_of| Counted {
            total: total.unwrap_or(u64::MAX),
            as_of,
        });
        // The last days of a search are those of the count.
        let now = as_of.map_or(now, |as_of| as_of.min(now));
        let map = fields.object("filter");
        let map = fields.require("filter", map);
        let mut inner = Fields::nested(map.unwrap_or_default(), "filter.");
        if inner
            .parsed::<Status>("status")
            .is_some_and(|status| status != Status::Parked)
        {
            inner.problem(
                "status",
                "must be Parked: only parked notifications are retried or discarded",
            );
        }
        let keyword = inner.text("q");
        let filter = BulkFilter {
            channel: inner.parsed::<Channel>("type"),
            site: inner.text("site"),
            list: inner.text("list"),
            provider: inner.text("provider"),
            from: inner
                .timestamp("from")
                .or_else(|| search_start(keyword.as_deref(), now)),
            to: inner.timestamp("to"),
            keyword,
            entity_type: inner.text("entityType"),
            entity_id: inner.text("entityId"),
            error_code: inner.text("errorCode"),
            as_of: None,
        };
        fields.add_all(inner.finish());
        let problems = fields.finish();
        if problems.is_empty() {
            Ok(Self {
                filter,
                dry_run,
                counted,
            })
        } else {
            Err(problems)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(body: Value) -> Result<Bulk, Vec<String>> {
        let Value::Object(map) = body else {
            panic!("not an object")
        };
        Bulk::read(
            Fields::new(map),
            Timestamp::from_millis(SEARCH_RANGE.as_millis() as i64),
        )
        .map_err(|problems| problems.into_iter().map(|p| p.field).collect())
    }

    #[test]
    fn a_bulk_action_needs_a_filter_and_names_what_is_wrong_in_it() {
        assert_eq!(read(json!({})).unwrap_err(), ["filter"]);
        let bad = json!({"filter": {"status": "Pending", "type": "Pigeon", "from": 3, "nope": 1}, "x": 1});
        let mut named = read(bad).unwrap_err();
        named.sort_unstable();
        assert_eq!(
            named,
            ["filter.from", "filter.nope", "filter.status", "filter.type", "x"]
        );
        let all = read(json!({"filter": {}})).unwrap();
        assert_eq!(all.filter, BulkFilter::default());
        assert!(!all.dry_run);
    }

    #[test]
    fn a_search_without_a_start_looks_back_seven_days_in_bulk_too() {
        let found = read(json!({"filter": {"q": "pump"}})).unwrap().filter;
        assert_eq!(found.from, Some(Timestamp::EPOCH));
    }
}
