//! Alive, and able to take work.

use crate::state::Shared;
use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use std::{error::Error, time::Duration};
use utoipa::ToSchema;

/// The process answers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Alive {
    pub status: &'static str,
}

/// Whether work can be taken, and what is in the way if not.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    pub ready: bool,
    pub checks: Vec<Check>,
}

/// One thing that has to be right.
#[derive(Debug, Serialize, ToSchema)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: Option<String>,
}

/// A store that does not answer within this is as good as gone.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok" })
}

pub async fn ready(State(state): State<Shared>) -> (StatusCode, Json<Ready>) {
    let mut checks = vec![store(&state).await];
    for (name, why) in state.readiness.parts() {
        checks.push(Check {
            name: name.to_owned(),
            ok: why.is_none(),
            detail: why,
        });
    }
    if let Some(gone) = state.central.loops.ended() {
        checks.push(Check {
            name: "parts".into(),
            ok: false,
            detail: Some(gone.to_string()),
        });
    }
    if state.stop.is_cancelled() {
        checks.push(Check {
            name: "process".into(),
            ok: false,
            detail: Some("it is stopping".into()),
        });
    }
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(Ready { ready, checks }))
}

async fn store(state: &Shared) -> Check {
    let detail = match tokio::time::timeout(PING_TIMEOUT, state.central.store.ping()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            tracing::warn!(error = &error as &dyn Error, "the store does not answer");
            Some("the store cannot be reached; the cause is in the server's log".to_owned())
        }
        Err(_) => Some("the store did not answer in time".to_owned()),
    };
    Check {
        name: "store".into(),
        ok: detail.is_none(),
        detail,
    }
}
