//! The Bot API of Telegram.

use super::{ServiceRequest, is_revoked, is_unknown};
use crate::http::Reply;
use serde_json::{Value, json};

const MAX_TEXT_UTF16: usize = 4096;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let Some((token, "sendMessage")) = asked.path.strip_prefix("bot").and_then(|p| p.split_once('/')) else {
        return refused(404, "Not Found");
    };
    if is_revoked(token) {
        return refused(401, "Unauthorized");
    }
    let text = asked.text("text");
    let chat = match &asked.json["chat_id"] {
        Value::Null => return refused(400, "Bad Request: chat_id is empty"),
        Value::String(name) if is_unknown(name) => return refused(400, "Bad Request: chat not found"),
        chat => chat,
    };
    if text.is_empty() {
        return refused(400, "Bad Request: message text is empty");
    }
    if text.encode_utf16().count() > MAX_TEXT_UTF16 {
        return refused(400, "Bad Request: message is too long");
    }
    let sent =
        json!({"message_id": asked.number + 1, "date": 1_767_225_600, "chat": {"id": chat}, "text": text});
    Reply::json(200, &json!({"ok": true, "result": sent}))
}

fn refused(status: u16, description: &str) -> Reply {
    Reply::json(
        status,
        &json!({"ok": false, "error_code": status, "description": description}),
    )
}
