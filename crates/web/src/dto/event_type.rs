//! Types of events, in and out.

use super::names::{DedupeName, Time};
use crate::fields::Fields;
use domain::{
    Channel, EventType, FieldError, Timestamp,
    event::Dedupe,
    retry::human,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, time::Duration};
use store::events::EventTypeRow;
use utoipa::ToSchema;

/// What is said about events of one name.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EventTypeRequest {
    /// The event type up to its first dot if left out.
    pub entity_type: Option<String>,
    /// For each type of message the placeholder that holds the address: `{"Email": "guest.email"}`.
    pub addresses: Option<BTreeMap<String, String>>,
    /// Due at once if left out.
    pub schedule: Option<ScheduleRequest>,
    /// `entity`: once for each entity. `event`: each time.
    #[schema(value_type = DedupeName)]
    pub dedupe: String,
    /// Placeholders without which the event is Failed.
    pub required: Option<Vec<String>>,
    /// Event types that this one calls off for its entity.
    pub cancels: Option<Vec<String>>,
    /// A duration like `2h`, after which a message is no longer worth sending.
    pub expires_after: Option<String>,
    /// A lookup of the configuration.
    pub lookup: Option<String>,
    /// The placeholder that holds the recipient's language.
    pub language: Option<String>,
    /// Goes out even to who asked not to be written to.
    pub critical: Option<bool>,
}

/// When, from a date of the payload.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ScheduleRequest {
    /// The placeholder that holds the date.
    pub from: String,
    /// `date` (as written, the default) or `instant`.
    pub r#as: Option<String>,
    /// `-1d`, `+2h`.
    pub offset: Option<String>,
    /// `18:00`.
    pub at: Option<String>,
    /// A zone like `Asia/Kolkata`, or the placeholder that holds one.
    pub zone: Option<String>,
    /// `send` (the default) or `skip`.
    pub late: Option<String>,
    /// `10m` if left out.
    pub grace: Option<String>,
}

/// A type of event as it is stored.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventTypeView {
    pub name: String,
    pub entity_type: String,
    pub addresses: BTreeMap<String, String>,
    pub schedule: Option<ScheduleRuleView>,
    #[schema(value_type = DedupeName)]
    pub dedupe: Dedupe,
    pub required: Vec<String>,
    pub cancels: Vec<String>,
    pub expires_after: Option<String>,
    pub lookup: Option<String>,
    pub language: Option<String>,
    pub critical: bool,
    pub version: i64,
    #[schema(value_type = Time)]
    pub updated_at: Timestamp,
}

/// When, from a date of the payload.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRuleView {
    pub from: String,
    #[schema(value_type = String)]
    pub r#as: DateMeaning,
    pub offset: Option<String>,
    pub at: Option<String>,
    pub zone: Option<String>,
    #[schema(value_type = String)]
    pub late: Late,
    pub grace: String,
}

impl From<ScheduleRule> for ScheduleRuleView {
    fn from(rule: ScheduleRule) -> Self {
        Self {
            from: rule.from,
            r#as: rule.r#as,
            offset: rule.offset,
            at: rule.at,
            zone: rule.zone,
            late: rule.late,
            grace: human(rule.grace),
        }
    }
}

impl From<EventTypeRow> for EventTypeView {
    fn from(row: EventTypeRow) -> Self {
        let definition = row.definition;
        let entity_type = definition.entity_type(&row.name).to_owned();
        let addresses = definition.addresses.into_iter();
        Self {
            entity_type,
            name: row.name,
            addresses: addresses
                .map(|(channel, name)| (channel.to_string(), name))
                .collect(),
            schedule: definition.schedule.map(ScheduleRuleView::from),
            dedupe: definition.dedupe,
            required: definition.required,
            cancels: definition.cancels,
            expires_after: definition.expires_after.map(human),
            lookup: definition.lookup,
            language: definition.language,
            critical: definition.critical,
            version: row.version,
            updated_at: row.updated_at,
        }
    }
}

/// Reads a definition. With `named` (from the path) the body's name may be left out and must not differ; what an answer
/// adds may be sent back.
pub fn read_event_type(mut fields: Fields, named: &str) -> Result<EventType, Vec<FieldError>> {
    if fields.text("name").is_some_and(|name| name != named) {
        fields.problem(
            "name",
            "must be the name in the path; event types are not renamed",
        );
    }
    for shown in ["version", "updatedAt"] {
        fields.any(shown);
    }
    let dedupe = fields.text("dedupe");
    let dedupe = fields.require("dedupe", dedupe);
    let dedupe = match dedupe.as_deref() {
        Some("event") => Dedupe::Event,
        Some("entity") | None => Dedupe::Entity,
        Some(_) => {
            fields.problem("dedupe", "must be entity or event");
            Dedupe::Entity
        }
    };
    let addresses = fields.object("addresses").unwrap_or_default();
    let schedule = fields.object("schedule");
    let definition = EventType {
        entity_type: fields.text("entityType"),
        addresses: read_addresses(addresses, &mut fields),
        schedule: schedule.map(|map| read_schedule(map, &mut fields)),
        required: fields.texts("required").unwrap_or_default(),
        cancels: fields.texts("cancels").unwrap_or_default(),
        expires_after: fields.duration("expiresAfter"),
        lookup: fields.text("lookup"),
        language: fields.text("language"),
        critical: fields.boolean("critical").unwrap_or(false),
        ..EventType::new(dedupe)
    };
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(definition),
        false => Err(problems),
    }
}

fn read_addresses(map: Map<String, Value>, fields: &mut Fields) -> BTreeMap<Channel, String> {
    let mut addresses = BTreeMap::new();
    for (name, value) in map {
        let field = format!("addresses.{name}");
        match (name.parse::<Channel>(), value) {
            (Ok(channel), Value::String(placeholder)) => {
                addresses.insert(channel, placeholder);
            }
            (Ok(_), _) => fields.problem(&field, "must be the name of a placeholder"),
            (Err(unknown), _) => fields.problem(&field, unknown.to_string()),
        }
    }
    addresses
}

fn read_schedule(map: Map<String, Value>, outer: &mut Fields) -> ScheduleRule {
    let mut fields = Fields::nested(map, "schedule.");
    let from = fields.text("from");
    let from = fields.require("from", from).unwrap_or_default();
    let meaning = match fields.text("as").as_deref() {
        None | Some("date") => DateMeaning::Date,
        Some("instant") => DateMeaning::Instant,
        Some(_) => {
            fields.problem("as", "must be date or instant");
            DateMeaning::Date
        }
    };
    let late = match fields.text("late").as_deref() {
        None | Some("send") => Late::Send,
        Some("skip") => Late::Skip,
        Some(_) => {
            fields.problem("late", "must be send or skip");
            Late::Send
        }
    };
    let rule = ScheduleRule {
        from,
        r#as: meaning,
        offset: fields.text("offset"),
        at: fields.text("at"),
        zone: fields.text("zone"),
        late,
        grace: fields.duration("grace").unwrap_or(Duration::from_secs(600)),
    };
    outer.add_all(fields.finish());
    rule
}
