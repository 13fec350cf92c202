//! A Workflows webhook of Microsoft Teams.

use super::{ServiceRequest, is_revoked};
use crate::http::Reply;
use serde_json::json;

const MAX_BYTES: usize = 28_000;

pub(super) fn answer(asked: &ServiceRequest<'_>) -> Reply {
    let query = asked.request.query.as_deref().unwrap_or_default();
    if !asked.path.contains("/triggers/manual/paths/invoke") || is_revoked(asked.path) || is_revoked(query) {
        let error = json!({"code": "WorkflowNotFound", "message": "The workflow could not be found."});
        return Reply::json(404, &json!({"error": error}));
    }
    if asked.request.body.len() > MAX_BYTES {
        return Reply::text(413, "");
    }
    let card = &asked.json["attachments"][0]["content"];
    if card["type"] != "AdaptiveCard" || card["body"].as_array().is_none_or(Vec::is_empty) {
        let error = json!({"code": "InvalidRequestContent", "message": "The request content is not valid."});
        return Reply::json(400, &json!({"error": error}));
    }
    Reply::text(202, "")
}
