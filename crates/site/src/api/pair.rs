//! The two machines of a site: `GET /pair`, `POST /pair/promote`, `POST /pair/demote`; and what a standby answers to
//! whoever wants to change something.

use super::{Api, Problem, body::Fields, lists::only};
use crate::pair::{NotNow, Pair, PairStatus};
use axum::{
    Json,
    extract::{Query, Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::pair::lease::LONGEST_LEASE;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

/// What may be asked of a standby besides looking: who is to be active, and to pass a message on.
const OF_A_STANDBY: [&str; 5] = ["/pair/promote", "/pair/demote", "/notify", "/calls", "/db-writes"];

pub async fn show(
    State(api): State<Api>,
    Query(asked): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    only(&asked, &[])?;
    Ok(Json(shown(&pair(&api)?.status().await)))
}

pub(super) fn shown(status: &PairStatus) -> Value {
    json!({
        "role": status.role.as_str(),
        "epoch": status.epoch,
        "position": status.position,
        "behind": status.behind,
        "behindSeconds": status.behind_for.map(|time| time.as_secs()),
        "caughtUp": status.caught_up,
        "copiedRows": status.copied,
        "alone": status.alone,
        "leaseBy": status.lease.map(|(by, _)| by.as_str()),
        "leaseSeconds": status.lease.filter(|(_, left)| *left < LONGEST_LEASE * 2).map(|(_, left)| left.as_secs()),
        "held": status.held,
        "unrelieved": status.unrelieved,
        "ownRows": status.own,
        "other": {
            "address": status.other.address,
            "name": status.other.name,
            "version": status.other.version,
            "role": status.other.role.map(|role| role.as_str()),
            "lastContactAt": status.other.last_contact_at,
            "trouble": status.other.trouble,
        },
        "differences": status.differences,
    })
}

pub async fn promote(State(api): State<Api>, mut fields: Fields) -> Result<Json<Value>, Problem> {
    let force = fields.flag("force").unwrap_or(false);
    fields.finish()?;
    let pair = pair(&api)?;
    pair.promote(force).await?;
    Ok(Json(shown(&pair.status().await)))
}

pub async fn demote(State(api): State<Api>) -> Result<Json<Value>, Problem> {
    let pair = pair(&api)?;
    pair.demote().await?;
    Ok(Json(shown(&pair.status().await)))
}

fn pair(api: &Api) -> Result<Arc<Pair>, Problem> {
    let none = || Problem::not_found("this site has one machine: no site.replication.peer is configured");
    api.agent.site.pair().cloned().ok_or_else(none)
}

impl From<NotNow> for Problem {
    fn from(why: NotNow) -> Self {
        match why {
            NotNow::Unavailable(error) => error.into(),
            NotNow::Unsafe(_) | NotNow::Failed(_) => {
                Self::new(StatusCode::CONFLICT, "handover_refused", why.to_string())
            }
        }
    }
}

/// A standby changes nothing: its buffer is the active one's.
pub(super) async fn only_look_at_a_standby(State(api): State<Api>, request: Request, next: Next) -> Response {
    let looks = [Method::GET, Method::HEAD].contains(request.method());
    if looks || OF_A_STANDBY.contains(&request.uri().path()) || !api.agent.site.is_standby() {
        return next.run(request).await;
    }
    let Some(pair) = api.agent.site.pair() else {
        return next.run(request).await;
    };
    let name = pair.other_name();
    let words = format!("this machine is the standby of its site and changes nothing; ask {name}");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "standby", words).into_response()
}
