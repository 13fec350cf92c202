//! The messages API of Twilio.

use super::{ServiceRequest, is_revoked, is_unknown};
use crate::http::Reply;
use serde_json::json;

const MAX_BODY_CHARS: usize = 1600;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let refused = |status: u16, code: u32, message: &str| {
        let more = format!("https://www.twilio.com/docs/errors/{code}");
        Reply::json(
            status,
            &json!({"code": code, "message": message, "more_info": more, "status": status}),
        )
    };
    let account = asked
        .path
        .strip_prefix("2010-04-01/Accounts/")
        .and_then(|path| path.strip_suffix("/Messages.json"));
    let Some(account) = account else {
        return refused(404, 20404, "The requested resource was not found");
    };
    if is_revoked(account) || !asked.has_credentials("authorization", "Basic ") {
        return refused(401, 20003, "Authenticate");
    }
    let to = asked.form("To").unwrap_or_default();
    // A number with these digits is nobody's.
    if !to.starts_with('+') || to.contains("000000") || is_unknown(&to) {
        return refused(400, 21211, "Invalid 'To' Phone Number");
    }
    let body = asked.form("Body").unwrap_or_default();
    if body.is_empty() || body.chars().count() > MAX_BODY_CHARS {
        return refused(
            400,
            21617,
            "The concatenated message body exceeds the 1600 character limit",
        );
    }
    Reply::json(
        201,
        &json!({"sid": format!("SM{:032x}", asked.number), "status": "queued", "to": to, "body": body}),
    )
}
