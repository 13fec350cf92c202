//! The flow API of MSG91, which puts its errors into a 200.

use super::ServiceRequest;
use crate::http::Reply;
use serde_json::json;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused = |message: &str| Reply::json(200, &json!({"type": "error", "message": message}));
    if asked.path != "api/v5/flow/" {
        return Reply::text(404, "");
    }
    if !asked.has_credentials("authkey", "") {
        return refused("207");
    }
    if asked.text("template_id").is_empty() {
        return refused("template_id missing");
    }
    let mobile = asked.json["recipients"][0]["mobiles"]
        .as_str()
        .unwrap_or_default();
    // A number with these digits is nobody's.
    if mobile.is_empty() || mobile.contains("000000") || !mobile.bytes().all(|b| b.is_ascii_digit()) {
        return refused("202");
    }
    Reply::json(
        200,
        &json!({"type": "success", "message": format!("{:024x}", asked.number)}),
    )
}
