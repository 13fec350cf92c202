//! What was said in one attempt.

use super::PathTexts;
use crate::{
    auth::Caller,
    dto::transcript::AttemptTranscript,
    problem::{Code, Problem, Result},
    state::Shared,
};
use axum::{Json, extract::State};
use domain::{NotificationId, TenantId, Transcript};
use store::query::AuditRow;

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(id, number): PathTexts,
) -> Result<Json<AttemptTranscript>> {
    let (row, said) = find(&state, caller.tenant, &id, &number).await?;
    let said = said.ok_or_else(|| Problem::new(Code::NotFound, NOT_KEPT))?;
    Ok(Json(AttemptTranscript::of(row, said)))
}

/// Why there may be none.
pub const NOT_KEPT: &str = "what was said in this attempt is not kept: nothing was, it is past \
     outbox.transcript_retention, or there was no room for it";

/// One attempt of a notification, and what was said in it where that is kept.
pub async fn find(
    state: &Shared,
    tenant: TenantId,
    id: &str,
    number: &str,
) -> Result<(AuditRow, Option<Transcript>)> {
    let id: NotificationId = id.parse().map_err(|_| Problem::not_found("notification"))?;
    let rows = state.central.store.attempts(tenant, id).await?;
    let rows = rows.ok_or_else(|| Problem::not_found("notification"))?;
    let number: Option<u32> = number.parse().ok();
    let wanted = |row: &AuditRow| row.attempt.is_some() && row.attempt == number;
    let row = rows.into_iter().find(wanted);
    let row = row.ok_or_else(|| Problem::not_found("attempt"))?;
    let said = match row.attempt.filter(|_| row.has_transcript) {
        Some(number) => state.central.store.transcript(tenant, id, number).await?,
        None => None,
    };
    Ok((row, said))
}
