//! The body of a request: the same bytes over all attempts, so that receivers can tell a repeat.

use crate::adapter::Message;
use domain::Timestamp;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Event<'a> {
    r#type: &'static str,
    timestamp: Timestamp,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    notification_id: String,
    subject: &'a str,
    body: &'a str,
    type_data: Option<Value>,
    site: Option<&'a str>,
    created_at: Timestamp,
}

pub(super) fn compose(message: &Message) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Event {
        r#type: "notification",
        timestamp: message.created_at,
        data: Data {
            notification_id: message.id.to_string(),
            subject: &message.content.subject,
            body: &message.content.body,
            type_data: message.type_data(),
            site: message.site.as_deref(),
            created_at: message.created_at,
        },
    })
}
