//! The API of Pushbullet.

use super::{ServiceRequest, is_unknown};
use crate::http::Reply;
use serde_json::json;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused = |status: u16, code: &str, param: Option<&str>| {
        let error = json!({"code": code, "type": "invalid_request", "message": "no", "cat": "(=^‥^=)", "param": param});
        Reply::json(status, &json!({"error": error, "error_code": code}))
    };
    if asked.path != "v2/pushes" {
        return refused(404, "not_found", None);
    }
    if !asked.has_credentials("access-token", "o.") {
        return refused(401, "invalid_access_token", None);
    }
    for field in ["email", "device_iden", "channel_tag"] {
        if is_unknown(asked.text(field)) {
            return refused(400, "invalid_param", Some(field));
        }
    }
    if !matches!(asked.text("type"), "note" | "link") || asked.text("guid").is_empty() {
        return refused(400, "missing_param", Some("type"));
    }
    let (title, body) = (asked.text("title"), asked.text("body"));
    Reply::json(
        200,
        &json!({"active": true, "iden": format!("ujpah72o0sjAo{:08}", asked.number), "type": asked.text("type"), "title": title, "body": body}),
    )
}
