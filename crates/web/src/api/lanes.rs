//! What is going on underneath: lanes with their holds, and this node's background loops.

use crate::{
    auth::Caller,
    dto::{
        lane::{LaneView, LoopView},
        page::Paged,
    },
    problem::Result,
    state::Shared,
};
use axum::{Json, extract::State};
use store::directory::Role;

pub async fn lanes(State(state): State<Shared>, caller: Caller) -> Result<Json<Paged<LaneView>>> {
    let lanes = state.central.lanes(caller.tenant).await?;
    Ok(Json(Paged::whole(
        lanes.into_iter().map(LaneView::from).collect(),
    )))
}

/// The words of a failure are for those who run the place; the others learn that there is one.
pub async fn loops(State(state): State<Shared>, caller: Caller) -> Json<Paged<LoopView>> {
    let all = state.central.loops.reports().into_values().map(|report| {
        let mut view = LoopView::from(report);
        if !view.ok && !matches!(caller.role, Role::Admin | Role::Ops) {
            view.result = "failed; the cause is in the server's log".into();
        }
        view
    });
    Json(Paged::whole(all.collect()))
}
