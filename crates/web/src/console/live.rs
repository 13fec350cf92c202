//! Live events for a page: what changed, and the figures every few seconds. Ends soon after the session does.

use super::{failure::Result, guard::Signed};
use crate::{
    api::stream::{Live, Welcome},
    state::Shared,
};
use axum::{extract::State, http::HeaderMap};

/// An open page that asks for itself again, as all of them do with every event of the figures.
pub fn is_live_refresh(headers: &HeaderMap) -> bool {
    headers.contains_key("x-waypost-live")
}

pub async fn stream(State(state): State<Shared>, signed: Signed) -> Result {
    let welcome = Welcome::Session {
        token: signed.token.clone(),
        tenant: signed.caller.tenant,
    };
    Ok(Live::open(state, signed.caller.tenant, welcome)?)
}
