//! How a refusal looks in the OpenAPI document; it is written by [`crate::problem`].

use super::names::{CodeName, StatusName, Time};
use utoipa::ToSchema;

/// A refusal (RFC 9457). `code` is stable; `errors` names every bad field.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct Problem {
    /// Where the code is explained.
    pub r#type: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: CodeName,
    pub errors: Vec<BadField>,
    /// With `wrong_state`: the status that was in the way.
    pub notification_status: Option<StatusName>,
    /// With `site_offline`: since when, if the site was ever there.
    pub offline_since: Option<Time>,
}

/// One field that was refused.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BadField {
    #[schema(example = "to[3]")]
    pub field: String,
    #[schema(example = "must not be blank")]
    pub problem: String,
}
