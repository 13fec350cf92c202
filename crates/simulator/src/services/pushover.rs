//! The message API of Pushover.

use super::{ServiceRequest, is_revoked, is_unknown};
use crate::http::Reply;
use serde_json::{Value, json};

const MAX_MESSAGE_CHARS: usize = 1024;
const MAX_TITLE_CHARS: usize = 250;
/// Receipts are thirty letters and digits.
const RECEIPT_BEGINS: &str = "rL";

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused = |field: &str, why: &str| {
        let mut body = json!({"errors": [why], "status": 0, "request": id(asked.number)});
        body[field] = Value::from("invalid");
        Reply::json(400, &body)
    };
    if let Some(receipt) = asked.path.strip_prefix("1/receipts/") {
        return acknowledged(asked, receipt.trim_end_matches(".json"));
    }
    if asked.path != "1/messages.json" {
        return Reply::text(404, "Not Found");
    }
    let token = asked.form("token").unwrap_or_default();
    if token.len() != 30 || is_revoked(&token) {
        return refused(
            "token",
            "application token is invalid, see https://pushover.net/api",
        );
    }
    if asked
        .form("user")
        .is_none_or(|user| user.len() != 30 || is_unknown(&user))
    {
        return refused(
            "user",
            "user identifier is not a valid user, group, or subscribed user key",
        );
    }
    let message = asked.form("message").unwrap_or_default();
    if message.is_empty() {
        return refused("message", "message cannot be blank");
    }
    let title = asked.form("title").unwrap_or_default();
    if message.chars().count() > MAX_MESSAGE_CHARS || title.chars().count() > MAX_TITLE_CHARS {
        return refused("message", "message is too long");
    }
    let mut taken = json!({"status": 1, "request": id(asked.number)});
    if asked.form("priority").as_deref() == Some("2") {
        taken["receipt"] = format!("{RECEIPT_BEGINS}{:0>28}", asked.number).into();
    }
    Reply::json(200, &taken)
}

/// Whoever was sent an emergency here acknowledges it at once.
fn acknowledged(asked: &ServiceRequest<'_>, receipt: &str) -> Reply {
    if !receipt.starts_with(RECEIPT_BEGINS) {
        return Reply::json(
            404,
            &json!({"receipt": "not found", "status": 0, "request": id(asked.number)}),
        );
    }
    Reply::json(
        200,
        &json!({"status": 1, "acknowledged": 1, "acknowledged_at": 1_767_225_600, "last_delivered_at": 1_767_225_590,
            "expired": 0, "request": id(asked.number)}),
    )
}

fn id(number: u64) -> String {
    format!("647d2300-702c-4b38-8b2f-{number:012}")
}
