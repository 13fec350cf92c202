//! A provider's callback address: made, and shown once.

use super::PathText;
use crate::{
    auth::Caller,
    problem::{Code, Problem, Result},
    state::Shared,
};
use axum::{Json, extract::State};
use central::providers::{CallbackProblem, NewCallback};
use delivery::receipt::ReceiptsBy;
use domain::ProviderId;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a provider's far end sends receipts. Shown this once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallbackView {
    pub url: String,
    /// Whether a person enters it at the provider (`itsSettings`), or each message carries it (`eachMessage`).
    #[schema(value_type = String)]
    pub told_by: ReceiptsBy,
}

impl From<NewCallback> for CallbackView {
    fn from(made: NewCallback) -> Self {
        Self {
            url: made.url,
            told_by: made.told_by,
        }
    }
}

/// A new secret address; the one before stops working at once.
pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<CallbackView>> {
    let id = ProviderId::new(id);
    let made = state
        .central
        .providers
        .new_callback(caller.tenant, &id, &caller.actor)
        .await?;
    Ok(Json(made.into()))
}

impl From<CallbackProblem> for Problem {
    fn from(problem: CallbackProblem) -> Self {
        match problem {
            CallbackProblem::NotFound => Problem::not_found("provider"),
            CallbackProblem::NoReceipts(_) | CallbackProblem::NoPublicUrl => {
                Problem::new(Code::Conflict, problem.to_string())
            }
            CallbackProblem::Store(error) => error.into(),
        }
    }
}
