//! What a `capture` provider kept, on its way out.

use super::names::{Id, Time};
use delivery::Capture;
use domain::{NotificationId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A message that was kept instead of being sent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapturedView {
    /// Goes up with every message that this node captured.
    pub number: u64,
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    /// Whom it was for; empty where nobody was named.
    pub to: Vec<String>,
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    pub type_data: Option<Value>,
    pub site: Option<String>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
}

impl From<Capture> for CapturedView {
    fn from(Capture { number, message }: Capture) -> Self {
        let type_data = message.type_data().ok().flatten();
        Self {
            number,
            notification_id: message.id,
            to: message.targets,
            subject: message.content.subject,
            body: message.content.body,
            body_html: message.content.body_html,
            type_data,
            site: message.site,
            created_at: message.created_at,
        }
    }
}

/// Orders captures newest first.
pub fn newest_first(capture: &Capture) -> String {
    format!("{:020}", u64::MAX - capture.number)
}
