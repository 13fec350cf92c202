//! An ntfy server.

use super::{ServiceRequest, is_revoked, is_unknown};
use crate::http::Reply;
use serde_json::json;

const MAX_MESSAGE_BYTES: usize = 4096;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let topic = asked.text("topic");
    let message = asked.text("message");
    if !asked.path.is_empty() {
        return refused(404, 40401, "page not found");
    }
    if asked.request.header("authorization").is_some_and(is_revoked) {
        return refused(401, 40101, "unauthorized");
    }
    if asked.json.is_null() || message.len() > MAX_MESSAGE_BYTES {
        return refused(400, 40017, "invalid request: request body must be message JSON");
    }
    if topic.is_empty() || is_unknown(topic) {
        return refused(400, 40009, "invalid request: topic invalid");
    }
    Reply::json(
        200,
        &json!({
            "id": format!("ntfy{:08}", asked.number), "time": 1_767_225_600, "expires": 1_767_268_800,
            "event": "message", "topic": topic, "message": message,
        }),
    )
}

fn refused(status: u16, code: u32, error: &str) -> Reply {
    Reply::json(status, &json!({"code": code, "http": status, "error": error}))
}
