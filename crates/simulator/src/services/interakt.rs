//! The message API of Interakt.

use super::ServiceRequest;
use crate::http::Reply;
use serde_json::json;

const MAX_TEXT_CHARS: usize = 4096;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused =
        |status: u16, message: &str| Reply::json(status, &json!({"result": false, "message": message}));
    if asked.path != "v1/public/message/" {
        return Reply::text(404, "");
    }
    if !asked.has_credentials("authorization", "Basic ") {
        return refused(401, "Invalid token");
    }
    let number = asked.text("phoneNumber");
    // A number with these digits is nobody's.
    if !asked.text("countryCode").starts_with('+') || number.is_empty() || number.contains("000000") {
        return refused(400, "Invalid phone number");
    }
    let text = asked.json["data"]["message"].as_str().unwrap_or_default();
    let fits = match asked.text("type") {
        "Text" => !text.is_empty() && text.chars().count() <= MAX_TEXT_CHARS,
        "Template" => {
            asked.json["template"]["name"].is_string() && asked.json["template"]["bodyValues"].is_array()
        }
        _ => false,
    };
    if !fits {
        return refused(400, "Template not found or not approved");
    }
    let id = format!("9a2f0b1c-1d2e-4f30-8a4b-{:012}", asked.number);
    Reply::json(
        201,
        &json!({"result": true, "message": "Message queued for sending", "id": id}),
    )
}
