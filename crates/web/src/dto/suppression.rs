//! Who must not be written to, in and out.

use super::names::{SuppressionSourceName, Time, TypeName};
use crate::fields::Fields;
use domain::{
    Channel, FieldError, Timestamp,
    suppression::{NewSuppression, Suppression, SuppressionSource},
};
use serde::Serialize;
use utoipa::ToSchema;

/// An entry of the list of who must not be written to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuppressionView {
    pub id: i64,
    pub address: String,
    /// Null: every channel.
    #[schema(value_type = Option<TypeName>)]
    pub channel: Option<Channel>,
    /// Null: whatever it is about. Otherwise an event's topic or its type.
    pub topic: Option<String>,
    pub reason: String,
    #[schema(value_type = SuppressionSourceName)]
    pub source: SuppressionSource,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    pub created_by: String,
}

/// Somebody who must not be written to.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct SuppressionRequest {
    #[schema(max_length = 512)]
    pub address: String,
    /// Every channel if left out.
    pub channel: Option<TypeName>,
    /// An event's topic or its type; everything if left out.
    #[schema(max_length = 255)]
    pub topic: Option<String>,
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

pub fn read_suppression(mut fields: Fields) -> Result<NewSuppression, Vec<FieldError>> {
    let address = fields.text("address");
    let entry = NewSuppression {
        address: fields.require("address", address).unwrap_or_default(),
        channel: fields.parsed("channel"),
        topic: fields.text("topic"),
        reason: fields.text("reason").unwrap_or_default(),
        source: SuppressionSource::Operator,
    };
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(entry),
        false => Err(problems),
    }
}

impl From<Suppression> for SuppressionView {
    fn from(found: Suppression) -> Self {
        Self {
            id: found.id,
            address: found.entry.address,
            channel: found.entry.channel,
            topic: found.entry.topic,
            reason: found.entry.reason,
            source: found.entry.source,
            created_at: found.created_at,
            created_by: found.created_by.to_string(),
        }
    }
}
