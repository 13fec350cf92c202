//! What people do to one notification: retry, discard, cancel, resend.

use super::PathId;
use crate::{
    auth::Caller,
    dto::{
        notification::ActedAnswer,
        submit::{ResendAnswer, SubmitAnswer},
    },
    problem::{Problem, Result},
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use central::operator::Resent;
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
) -> Result<Json<ActedAnswer>> {
    let acted = state
        .central
        .operator
        .discard(caller.tenant, &[id], &caller.actor)
        .await?;
    answer(
        id,
        acted.first().copied(),
        Status::Discarded,
        "only a Parked one can be discarded",
    )
}

pub async fn cancel(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<ActedAnswer>> {
    let acted = state
        .central
        .operator
        .cancel(caller.tenant, id, &caller.actor)
        .await?;
    answer(
        id,
        Some(acted),
        Status::Discarded,
        "only one that still waits can be cancelled",
    )
}

pub async fn resend(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<ResendAnswer>)> {
    match state
        .central
        .operator
        .resend(caller.tenant, id, &caller.actor)
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
