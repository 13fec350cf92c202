//! The order of a channel's providers, and whether the next one takes over.

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        channel::{ChannelView, read_channel},
        page::Paged,
    },
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State};
use central::failover::ChannelOrder;
use domain::Channel;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<ChannelView>>> {
    let orders = state.central.failover.orders(caller.tenant).await?;
    paging::page_whole(
        orders,
        params,
        |order| order.channel.to_string(),
        ChannelView::from,
    )
    .map(Json)
}

pub async fn put(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Json<ChannelView>> {
    let channel: Channel = name.parse().map_err(|_| Problem::not_found("type"))?;
    let on = read_channel(fields).map_err(Problem::fields)?;
    let failover = &state.central.failover;
    failover.put(caller.tenant, channel, on, &caller.actor).await?;
    let mut orders = failover.orders(caller.tenant).await?;
    orders.retain(|order| order.channel == channel);
    let order = orders.pop().unwrap_or(ChannelOrder {
        channel,
        failover: on,
        providers: vec![],
    });
    Ok(Json(order.into()))
}
