//! The order of a channel's providers, in and out.

use super::names::TypeName;
use crate::fields::Fields;
use central::failover::ChannelOrder;
use domain::{Channel, FieldError};
use serde::Serialize;
use utoipa::ToSchema;

/// A channel and its providers in the order in which they are used.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelView {
    #[serde(rename = "type")]
    #[schema(value_type = TypeName)]
    pub channel: Channel,
    /// What waits for a provider that is held for trouble of its own goes on to the next.
    pub failover: bool,
    /// The first that is switched on takes new notifications.
    pub providers: Vec<String>,
}

/// What becomes of a channel's notifications when a provider is in trouble.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ChannelRequest {
    pub failover: bool,
}

pub fn read_channel(mut fields: Fields) -> Result<bool, Vec<FieldError>> {
    let failover = fields.boolean("failover");
    let failover = fields.require("failover", failover).unwrap_or_default();
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(failover),
        false => Err(problems),
    }
}

impl From<ChannelOrder> for ChannelView {
    fn from(order: ChannelOrder) -> Self {
        Self {
            channel: order.channel,
            failover: order.failover,
            providers: order.providers.iter().map(ToString::to_string).collect(),
        }
    }
}
