//! The list of providers, with their health, and who takes over from whom.

use super::{
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{LaneShown, number},
};
use crate::{
    api::{PathText, lists::encode},
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::failover::ChannelOrder;
use domain::Channel;
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
    /// Of types with more than one provider.
    orders: Vec<ChannelOrder>,
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
    let mut orders = state.central.failover.orders(tenant).await?;
    orders.retain(|order| order.providers.len() > 1);
    let page = Page { rows, orders, frame };
    Ok(page.show(&state))
}

/// Lets the next provider of a type take over, or not.
pub async fn failover(
    State(state): State<Shared>,
    signed: Signed,
    PathText(name): PathText,
    form: Form,
) -> Result {
    let channel: Channel = name.parse().map_err(|_| Problem::not_found("type"))?;
    let on = form.get("failover") == Some("on");
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    state.central.failover.put(tenant, channel, on, actor).await?;
    let said = match on {
        true => format!("What waits for a {channel} provider in trouble goes on to the next one."),
        false => format!("{channel} notifications wait for their provider."),
    };
    Ok(Flash::good(said).at("/providers", &state.console))
}
