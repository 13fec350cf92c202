//! The REST API of a Home Assistant.

use super::{ServiceRequest, is_unknown};
use crate::http::Reply;
use serde_json::json;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    if !asked.has_credentials("authorization", "Bearer ") {
        return Reply::text(401, "401: Unauthorized");
    }
    let Some(service) = asked.path.strip_prefix("api/services/") else {
        return Reply::text(404, "404: Not Found");
    };
    let persistent = service == "persistent_notification/create";
    if !(persistent || service.starts_with("notify/"))
        || is_unknown(service)
        || asked.text("message").is_empty()
    {
        return Reply::text(400, "400: Bad Request");
    }
    // Only this domain knows the field; the others refuse what they do not know.
    if !persistent && !asked.json["notification_id"].is_null() {
        return Reply::text(400, "400: Bad Request");
    }
    Reply::json(200, &json!([]))
}
