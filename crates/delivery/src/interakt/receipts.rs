//! What Interakt tells later, signed with the webhook's secret.

use super::Interakt;
use crate::{
    kit::DeliveryReport,
    meta,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptState},
};
use serde::Deserialize;
use serde_json::Value;

/// Some accounts are sent the one, some the other.
const SIGNATURES: [&str; 2] = ["interakt-signature", "x-interakt-signature"];

#[derive(Deserialize)]
struct Call {
    r#type: String,
    #[serde(default)]
    data: Data,
}

#[derive(Deserialize, Default)]
struct Data {
    #[serde(default)]
    message: Message,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    id: Option<String>,
    meta_data: Value,
    channel_failure_reason: Option<String>,
    /// Meta's own code; as a number or as text.
    channel_error_code: Value,
}

pub(super) fn read(interakt: &Interakt, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    let secret = interakt.webhook_secret.as_deref();
    let secret = secret.ok_or(CallbackRefused::NotSetUp("webhookSecret"))?;
    if !callback.is_signed_sha256(&SIGNATURES, secret) {
        return Err(CallbackRefused::Signature);
    }
    let Call {
        r#type,
        data: Data { message },
    } = callback.json()?;
    let state = match r#type.as_str() {
        "message_api_sent" => ReceiptState::Accepted,
        "message_api_delivered" => ReceiptState::Delivered,
        // Who pressed a button has read it.
        "message_api_read" | "message_api_clicked" => ReceiptState::Read,
        "message_api_failed" => ReceiptState::Failed,
        // Campaigns, messages of customers, news of the account, its own trial of the address.
        _ => return Ok(CallbackContent::Receipts(vec![])),
    };
    let code = match &message.channel_error_code {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let meaning = code.as_deref().and_then(|code| meta::by_code(code.parse().ok()?));
    let told = DeliveryReport {
        reference: message.meta_data["source_data"]["callback_data"].as_str(),
        message_id: message.id.as_deref(),
        recipient: None,
        code,
        words: message.channel_failure_reason.as_deref(),
    };
    Ok(CallbackContent::Receipts(vec![told.receipt(state, meaning)]))
}
