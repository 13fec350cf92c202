//! An Apprise API server.

use super::{ServiceRequest, is_revoked};
use crate::http::Reply;
use serde_json::json;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let urls = asked.text("urls");
    match asked.path.strip_prefix("notify/") {
        None => return Reply::text(404, ""),
        Some("") if urls.is_empty() => return Reply::text(204, ""),
        Some(key) if is_revoked(key) => return Reply::text(204, ""),
        Some(_) => {}
    }
    if is_revoked(urls) {
        let error = json!({"error": "One or more notification could not be sent."});
        return Reply::json(424, &error);
    }
    if asked.text("body").is_empty() {
        return Reply::json(400, &json!({"error": "An invalid payload was specified."}));
    }
    Reply::text(200, "Notification(s) sent.")
}
