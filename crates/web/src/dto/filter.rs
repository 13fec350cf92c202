//! The filters of a list of notifications, from a query string and from a bulk request's body.

use super::names::{StatusName, Time, TypeName};
use crate::{fields::Fields, problem::Result, query::Params};
use central::jobs::{Action, BulkFilter, Counted};
use domain::{Channel, FieldError, Status, TextFilter, TextFilters, Timestamp, filter::problem_of_words};
use serde::Serialize;
use std::{borrow::Cow, time::Duration};
use store::query::{AuditFilter, Filter};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{Schema, SchemaType, Type},
    },
};

/// The filter of `GET /api/notifications`.
pub fn from_query(params: &mut Params, stuck_after: Duration) -> Filter {
    let filter = Filter {
        status: params.several("status"),
        channel: params.parsed("type"),
        from: params.timestamp("from"),
        to: params.timestamp("to"),
        stuck_after: params
            .boolean("stuck")
            .filter(|stuck| *stuck)
            .map(|_| stuck_after),
        keyword: params.words("q"),
        by: TextFilters::read(|name| params.text(name)),
        ids: None,
        ended_by: None,
    };
    if let (Some(from), Some(to)) = (filter.from, filter.to)
        && to < from
    {
        params.problem("to", "must not be before from");
    }
    filter
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
        retried: params.boolean("retried").unwrap_or(false),
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
    /// The `asOf` of a dry run: only what stood like this at that moment, and has since, is acted on. Now if left out.
    pub as_of: Option<Time>,
    /// The `total` of the same dry run: if there are more, nothing is done and the answer is a 409.
    pub total: Option<u64>,
    /// Why; with discard and cancel in the audit log of each. `outbox.discard_needs_reason` makes it required there.
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// Which notifications, among those that the action is for. An empty one means all of them. With `q` and without `from`:
/// the last 7 days.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BulkFilterRequest {
    /// Retry and discard are about `Parked`, cancel about `Pending` and `Retrying`. For resend: which of those that have
    /// ended; `Parked` if left out.
    #[schema(value_type = Option<StatusName>)]
    status: Option<Status>,
    #[schema(value_type = Option<TypeName>)]
    r#type: Option<Channel>,
    #[schema(value_type = Option<Time>)]
    from: Option<Timestamp>,
    #[schema(value_type = Option<Time>)]
    to: Option<Timestamp>,
    q: Option<String>,
    #[serde(flatten)]
    by: BulkTexts,
}

/// The texts that a bulk action may go by.
#[derive(Debug, Serialize)]
struct BulkTexts;

impl PartialSchema for BulkTexts {
    fn schema() -> RefOr<Schema> {
        let text = |help| {
            let types = SchemaType::Array(vec![Type::String, Type::Null]);
            ObjectBuilder::new().schema_type(types).description(Some(help))
        };
        let object = TextFilter::in_bulk().fold(ObjectBuilder::new(), |object, one| {
            object.property(one.name, text(one.help))
        });
        object.into()
    }
}

impl ToSchema for BulkTexts {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("BulkTexts")
    }
}

/// What `GET /api/notifications` is described with.
pub fn documented() -> Vec<(&'static str, &'static str)> {
    let mut all = vec![
        (
            "status",
            "one or several, separated by commas: Pending, Retrying, Delivered, Parked, Discarded",
        ),
        ("type", "Email, Webhook, …"),
        ("from", "created at or after this time"),
        ("to", "created before this time"),
        ("stuck", "true: only what waits longer than the threshold"),
        (
            "q",
            "an id, its first 8 characters or more, or a Message-ID; otherwise words in any case and order, each in the \
             subject, an address or the provider's id, of the last 7 days unless from is given",
        ),
    ];
    all.extend(TextFilter::ALL.iter().map(|one| (one.name, one.help)));
    all
}

/// The states an action is about, and what to say when another is asked for.
fn only_for(action: Action) -> (&'static [Status], &'static str) {
    match action {
        Action::Retry | Action::Discard => (
            &[Status::Parked],
            "must be Parked: only parked notifications are retried or discarded",
        ),
        Action::Cancel => (
            &[Status::Pending, Status::Retrying],
            "must be Pending or Retrying: only what still waits is cancelled",
        ),
        Action::Resend => (
            &[Status::Delivered, Status::Parked, Status::Discarded],
            "must be Delivered, Parked or Discarded: only what has ended is sent again",
        ),
    }
}

/// A bulk request, read.
#[derive(Debug)]
pub struct Bulk {
    pub filter: BulkFilter,
    pub dry_run: bool,
    /// What a dry run said.
    pub counted: Option<Counted>,
    /// Why, as it was said.
    pub reason: Option<String>,
}

impl Bulk {
    pub fn read(mut fields: Fields, action: Action) -> Result<Self, Vec<FieldError>> {
        let reason = fields.text("reason");
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
        let map = fields.object("filter");
        let map = fields.require("filter", map);
        let mut inner = Fields::nested(map.unwrap_or_default(), "filter.");
        let status = inner.parsed::<Status>("status");
        let (allowed, why) = only_for(action);
        if status.is_some_and(|status| !allowed.contains(&status)) {
            inner.problem("status", why);
        }
        let filter = BulkFilter {
            ended_as: status.filter(|_| action == Action::Resend).into_iter().collect(),
            channel: inner.parsed::<Channel>("type"),
            from: inner.timestamp("from"),
            to: inner.timestamp("to"),
            keyword: words(&mut inner),
            id: None,
            by: TextFilters::read_bulk(|name| given(&mut inner, name)),
            as_of: None,
        };
        fields.add_all(inner.finish());
        let problems = fields.finish();
        if problems.is_empty() {
            Ok(Self {
                filter,
                dry_run,
                counted,
                reason,
            })
        } else {
            Err(problems)
        }
    }
}

/// A text that a bulk action goes by. An empty one is more likely a variable that was never set than what is meant.
fn given(fields: &mut Fields, name: &str) -> Option<String> {
    let text = fields.text(name)?;
    if text.trim().is_empty() {
        fields.problem(name, "must not be empty; leave it out to match everything");
    }
    Some(text)
}

fn words(fields: &mut Fields) -> Option<String> {
    let text = fields.text("q")?;
    if let Some(why) = problem_of_words(&text) {
        fields.problem("q", why);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(body: Value) -> Result<Bulk, Vec<String>> {
        let Value::Object(map) = body else {
            panic!("not an object")
        };
        Bulk::read(Fields::new(map), Action::Retry)
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
    fn a_bulk_action_is_never_over_everything_because_a_value_was_empty() {
        let of = |filter: Value| read(json!({"filter": filter})).map(drop);
        for blank in ["", "  "] {
            assert_eq!(of(json!({"q": blank})).unwrap_err(), ["filter.q"]);
            for one in TextFilter::in_bulk() {
                assert_eq!(
                    of(json!({one.name: blank})).unwrap_err(),
                    [format!("filter.{}", one.name)]
                );
            }
        }
        assert_eq!(of(json!({"q": "word ".repeat(17)})).unwrap_err(), ["filter.q"]);
        of(json!({"q": "pump full"})).unwrap();
    }
}
