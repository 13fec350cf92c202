//! The list of providers, with their health.

use super::{
    failure::Result,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{LaneShown, number},
};
use crate::{api::lists::encode, state::Shared};
use askama::Template;
use axum::extract::State;
use std::collections::HashMap;
use store::directory::Provider;

pub struct Row {
    pub stored: Provider,
    pub waiting: u64,
    pub state: LaneShown,
    /// Parked and retrying of the newest.
    pub failing: u64,
}

#[derive(Template)]
#[template(path = "providers/page.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    let tenant = signed.caller.tenant;
    let frame = Frame::new(&state, &signed, "Providers", Nav::Providers)
        .await?
        .live();
    let store = &state.central.store;
    let lanes = state.central.lanes(tenant).await?;
    let mut lanes: HashMap<_, _> = lanes.into_iter().map(|now| (now.lane.lane, now)).collect();
    let mut failing: HashMap<String, u64> = HashMap::new();
    for group in store.failures(tenant).await? {
        *failing.entry(group.provider).or_default() += group.count;
    }
    let mut rows = vec![];
    for stored in store.providers(tenant).await? {
        let Some(now) = lanes.remove(&stored.lane) else {
            continue;
        };
        rows.push(Row {
            waiting: now.lane.waiting,
            state: now.report.into(),
            failing: failing.get(stored.provider.id.as_str()).copied().unwrap_or(0),
            stored,
        });
    }
    let page = Page { rows, frame };
    Ok(page.show(&state))
}
