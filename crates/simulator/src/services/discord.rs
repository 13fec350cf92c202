//! Webhooks of Discord.

use super::{ServiceRequest, is_revoked};
use crate::http::Reply;
use serde_json::json;

const MAX_CONTENT_CHARS: usize = 2000;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let Some(webhook) = asked.path.strip_prefix("api/v10/webhooks/") else {
        return Reply::json(404, &json!({"message": "404: Not Found", "code": 0}));
    };
    if is_revoked(webhook) {
        return Reply::json(404, &json!({"message": "Unknown Webhook", "code": 10_015}));
    }
    let content = asked.text("content");
    let empty = content.is_empty() && asked.json["embeds"].is_null();
    if empty || content.chars().count() > MAX_CONTENT_CHARS {
        let errors = json!({"content": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH"}]}});
        return Reply::json(
            400,
            &json!({"message": "Invalid Form Body", "code": 50_035, "errors": errors}),
        );
    }
    match asked
        .request
        .query
        .as_deref()
        .is_some_and(|q| q.contains("wait=true"))
    {
        true => Reply::json(
            200,
            &json!({"id": format!("{}", 1_300_000_000_000_000_000_u64 + asked.number), "type": 0, "content": content, "channel_id": "1"}),
        ),
        false => Reply::text(204, ""),
    }
}
