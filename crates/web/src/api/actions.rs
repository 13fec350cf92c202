//! What people do to one notification: retry, discard, try now, cancel, resend.

use super::PathId;
use crate::{
    auth::Caller,
    body::OptionalObject,
    dto::{
        notification::ActedAnswer,
        submit::{ResendAnswer, SubmitAnswer},
    },
    fields::Fields,
    problem::{Problem, Result},
    reason,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use central::operator::{Repeat, Resent};
use domain::{NotificationId, Status};
use store::operator::Acted;

pub async fn retry(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<ActedAnswer>> {
    let acted = state
        .central
        .operator
        .requeue(caller.tenant, &[id], &caller.actor)
        .await?;
    answer(
        id,
        acted.first().copied(),
        Status::Pending,
        "only a Parked one can be retried",
    )
}

pub async fn discard(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<ActedAnswer>> {
    let reason = reason::read(&state, &mut fields);
    finish(fields)?;
    let acted = state
        .central
        .operator
        .discard_noted(caller.tenant, &[id], &caller.actor, reason.as_deref())
        .await?;
    answer(
        id,
        acted.first().copied(),
        Status::Discarded,
        "only a Parked one can be discarded",
    )
}

/// Answers with the status it has: it still waits, if only for a moment.
pub async fn try_now(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<ActedAnswer>> {
    let central = &state.central;
    let acted = central.operator.try_now(caller.tenant, id, &caller.actor).await?;
    let row = central.store.get(caller.tenant, id).await?;
    let status = row.map_or(Status::Pending, |row| row.status);
    answer(
        id,
        Some(acted),
        status,
        "only one that still waits can be tried now",
    )
}

pub async fn cancel(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<ActedAnswer>> {
    let reason = reason::read(&state, &mut fields);
    finish(fields)?;
    let acted = state
        .central
        .operator
        .cancel_noted(caller.tenant, &[id], &caller.actor, reason.as_deref())
        .await?;
    answer(
        id,
        acted.first().copied(),
        Status::Discarded,
        "only one that still waits can be cancelled",
    )
}

pub async fn resend(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
    OptionalObject(mut fields): OptionalObject,
) -> Result<(StatusCode, Json<ResendAnswer>)> {
    let expires_at = fields.timestamp("expiresAt");
    if expires_at.is_some_and(|at| at <= state.central.clock.now()) {
        fields.problem("expiresAt", "must be in the future");
    }
    finish(fields)?;
    let repeat = Repeat {
        key: None,
        expires_at,
    };
    match state
        .central
        .operator
        .resend(caller.tenant, id, repeat, &caller.actor)
        .await?
    {
        Resent::As(new) => {
            let submitted = SubmitAnswer {
                notification_id: new,
                status: Some(Status::Pending),
                duplicate: false,
            };
            Ok((
                StatusCode::ACCEPTED,
                Json(ResendAnswer {
                    submitted,
                    resend_of: id,
                }),
            ))
        }
        Resent::NotFound => Err(Problem::not_found("notification")),
        Resent::WrongState(found) => Err(Problem::wrong_state(
            found,
            "only one that has ended can be sent again",
        )),
        Resent::Refused(problems) => Err(Problem::fields(problems)),
    }
}

fn finish(fields: Fields) -> Result<()> {
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Problem::fields(problems)),
    }
}

fn answer(
    id: NotificationId,
    acted: Option<Acted>,
    status: Status,
    wanted: &str,
) -> Result<Json<ActedAnswer>> {
    match acted {
        Some(Acted::Done) => Ok(Json(ActedAnswer {
            notification_id: id,
            status,
        })),
        Some(Acted::WrongState(found)) => Err(Problem::wrong_state(found, wanted)),
        Some(Acted::NotFound) | None => Err(Problem::not_found("notification")),
    }
}
