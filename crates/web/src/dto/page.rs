//! The answer of every list.

use super::{names::Time, notification::Summary};
use domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A page. It may be short, even empty, and still not the last: go on until `nextCursor` is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paged<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> Paged<T> {
    /// All there is, in one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            next_cursor: None,
        }
    }
}

/// A page of notifications.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationPage {
    pub items: Vec<Summary>,
    /// Where to go on; a search also stops here when it has looked at enough rows for one answer.
    pub next_cursor: Option<String>,
    /// The start of the time range in force: what was asked for, or seven days back for a search.
    #[schema(value_type = Option<Time>)]
    pub from: Option<Timestamp>,
}
