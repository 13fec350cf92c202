//! The WhatsApp Cloud API of Meta.

use super::ServiceRequest;
use crate::http::Reply;
use serde_json::json;

const MAX_TEXT_CHARS: usize = 4096;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused = |status: u16, code: u32, details: &str| {
        let message = format!("(#{code}) {details}");
        let error = json!({"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "Az8or2yhqkZfEZ"});
        Reply::json(status, &json!({"error": error}))
    };
    if !asked.path.ends_with("/messages") || !asked.path.starts_with('v') {
        return refused(400, 100, "Unsupported post request");
    }
    if !asked.has_credentials("authorization", "Bearer ") {
        return refused(401, 190, "Error validating access token");
    }
    let to = asked.text("to");
    // A number with these digits is nobody's.
    if to.contains("000000") {
        return refused(400, 131_026, "Message undeliverable");
    }
    let text = asked.json["text"]["body"].as_str().unwrap_or_default();
    let fits = match asked.text("type") {
        "text" => !text.is_empty() && text.chars().count() <= MAX_TEXT_CHARS,
        "template" => asked.json["template"]["name"].is_string(),
        _ => false,
    };
    if !fits || asked.text("messaging_product") != "whatsapp" {
        return refused(400, 131_009, "Parameter value is not valid");
    }
    Reply::json(
        200,
        &json!({
            "messaging_product": "whatsapp",
            "contacts": [{"input": to, "wa_id": to}],
            "messages": [{"id": format!("wamid.{:020}", asked.number), "message_status": "accepted"}],
        }),
    )
}
