//! Many parked messages at once: `POST /parked/retry`, `POST /parked/discard`. Each request is one bounded step; whoever
//! asks goes on where the answer says.

use super::{Api, Problem, body::Fields, lists::here};
use crate::parked::{PAGE, ParkedError};
use axum::{Json, extract::State};
use domain::site::{ParkedAction, ParkedFilter};
use link::BulkStep;
use serde_json::{Value, json};

pub async fn retry(State(api): State<Api>, fields: Fields) -> Result<Json<Value>, Problem> {
    act(&api, fields, ParkedAction::Retry).await
}

pub async fn discard(State(api): State<Api>, fields: Fields) -> Result<Json<Value>, Problem> {
    act(&api, fields, ParkedAction::Discard).await
}

async fn act(api: &Api, mut fields: Fields, action: ParkedAction) -> Result<Json<Value>, Problem> {
    let mut filter = filter(&mut fields);
    let dry_run = fields.flag("dryRun").unwrap_or(false);
    if let Some(until) = number(&mut fields, "until", i64::MAX) {
        filter.until = Some(until);
    }
    let limit = number(&mut fields, "limit", i64::from(PAGE));
    let after = fields.text("cursor");
    fields.finish()?;
    let site = &api.agent.site;
    if dry_run {
        let counted = site.count_parked(filter).await?;
        return Ok(Json(json!({"total": counted.total, "until": counted.until})));
    }
    let step = BulkStep {
        // Over HTTP the one who asks hears the answer, or knows that there was none.
        job: String::new(),
        action,
        filter,
        after,
        limit: limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(PAGE),
        by: here().to_string(),
    };
    let acted = site.act_on_many(step).await?;
    Ok(Json(json!({"done": acted.done, "nextCursor": acted.next})))
}

/// An empty filter means everything; none at all is a mistake.
fn filter(fields: &mut Fields) -> ParkedFilter {
    let Some(value) = fields.any("filter") else {
        fields.bad("filter", "is missing; {} means everything that is parked");
        return ParkedFilter::default();
    };
    serde_json::from_value(value).unwrap_or_else(|e| {
        fields.bad("filter", e.to_string());
        ParkedFilter::default()
    })
}

fn number(fields: &mut Fields, name: &str, most: i64) -> Option<i64> {
    let value = fields.any(name)?;
    let number = value.as_i64().filter(|n| (1..=most).contains(n));
    if number.is_none() {
        fields.bad(name, format!("must be a number from 1 to {most}"));
    }
    number
}

impl From<ParkedError> for Problem {
    fn from(error: ParkedError) -> Self {
        match error {
            ParkedError::Bad(field, why) => Self::field(field, why),
            ParkedError::Unavailable(error) => error.into(),
        }
    }
}
