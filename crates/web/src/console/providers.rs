//! The list of providers, with their health, and who takes over from whom.

use super::{
    download::{Column, Download},
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{LaneShown, number},
};
use crate::{
    api::{PathText, lists::encode},
    csv::Cell,
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

/// Every provider with what its lane is doing. What it is set to stays here: settings hold secrets.
pub struct Providers;

impl Download for Providers {
    type Row = Row;
    type Filter = ();
    const FILE: &'static str = "providers.csv";
    const COLUMNS: &'static [Column<Row>] = &[
        ("id", |row| Cell::text(&row.stored.provider.id)),
        ("name", |row| Cell::text(&row.stored.provider.name)),
        ("kind", |row| Cell::text(&row.stored.provider.kind)),
        ("type", |row| Cell::plain(row.stored.provider.channel)),
        ("enabled", |row| Cell::plain(row.stored.provider.enabled)),
        ("order", |row| Cell::plain(row.stored.provider.order)),
        ("state", |row| Cell::plain(row.state.badge.word())),
        ("words", |row| Cell::text(&row.state.why)),
        ("detail", |row| Cell::text_or_empty(row.state.detail.as_ref())),
        ("since", |row| Cell::plain_or_empty(row.state.since)),
        ("until", |row| Cell::plain_or_empty(row.state.next)),
        ("waiting", |row| Cell::plain(row.waiting)),
        ("failing", |row| Cell::plain(row.failing)),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Row>> {
        rows(state, signed).await
    }
}

async fn rows(state: &Shared, signed: &Signed) -> Result<Vec<Row>> {
    let tenant = signed.caller.tenant;
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
    Ok(rows)
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    let frame = Frame::new(&state, &signed, "Providers", Nav::Providers)
        .await?
        .live();
    let rows = rows(&state, &signed).await?;
    let mut orders = state.central.failover.orders(signed.caller.tenant).await?;
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
