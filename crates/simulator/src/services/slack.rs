//! Incoming webhooks of Slack.

use super::{ServiceRequest, is_revoked};
use crate::http::Reply;

const MAX_TEXT_CHARS: usize = 40_000;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    if is_revoked(asked.path) || !asked.path.starts_with("services/") {
        return Reply::text(404, "no_service");
    }
    let text = asked.text("text");
    if asked.json.is_null() {
        return Reply::text(400, "invalid_payload");
    }
    if text.is_empty() && asked.json["blocks"].is_null() {
        return Reply::text(400, "no_text");
    }
    if text.chars().count() > MAX_TEXT_CHARS {
        return Reply::text(400, "msg_too_long");
    }
    Reply::text(200, "ok")
}
