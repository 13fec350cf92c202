//! What Meta tells later: statuses of messages, signed with the app's secret, and the question whether the address is ours.

use super::{Meta, answers};
use crate::{
    kit::{DeliveryReport, is_same_secret},
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptState},
};
use hyper::Method;
use serde::Deserialize;

const SIGNATURE: &str = "x-hub-signature-256";
/// It is a number of ten digits or so.
const MAX_CHALLENGE_BYTES: usize = 200;

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    entry: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    value: Value,
}

/// Messages of people come in the same calls; nothing is read of them.
#[derive(Deserialize, Default)]
struct Value {
    #[serde(default)]
    statuses: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    id: String,
    status: String,
    #[serde(default)]
    biz_opaque_callback_data: Option<String>,
    #[serde(default)]
    errors: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    code: u32,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

pub(super) fn read(meta: &Meta, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    if callback.method == Method::GET {
        return verify(meta, callback);
    }
    let secret = meta.app_secret.as_deref();
    let secret = secret.ok_or(CallbackRefused::NotSetUp("appSecret"))?;
    if !callback.is_signed_sha256(&[SIGNATURE], secret) {
        return Err(CallbackRefused::Signature);
    }
    let call: Call = callback.json()?;
    let changes = call.entry.into_iter().flat_map(|entry| entry.changes);
    let statuses = changes.flat_map(|change| change.value.statuses);
    Ok(CallbackContent::Receipts(statuses.filter_map(receipt).collect()))
}

fn verify(meta: &Meta, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    let known = meta.verify_token.as_deref();
    let known = known.ok_or(CallbackRefused::NotSetUp("verifyToken"))?;
    let asked = |name| callback.parameter(name).unwrap_or_default();
    if asked("hub.mode") != "subscribe" || !is_same_secret(known, &asked("hub.verify_token")) {
        return Err(CallbackRefused::Signature);
    }
    let challenge = asked("hub.challenge");
    let fits = (1..=MAX_CHALLENGE_BYTES).contains(&challenge.len());
    if !fits
        || !challenge
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    {
        return Err(CallbackRefused::Unreadable("hub.challenge".into()));
    }
    Ok(CallbackContent::Answer(challenge))
}

fn receipt(status: Status) -> Option<Receipt> {
    let state = match status.status.as_str() {
        "sent" => ReceiptState::Accepted,
        "delivered" => ReceiptState::Delivered,
        "read" | "played" => ReceiptState::Read,
        "failed" => ReceiptState::Failed,
        // One that its sender deleted, or that is new here, tells nothing of a delivery.
        _ => return None,
    };
    let reason = status.errors.first();
    let told = DeliveryReport {
        reference: status.biz_opaque_callback_data.as_deref(),
        message_id: Some(&status.id),
        // Numbers may be missing here, and may be written otherwise than we wrote them.
        recipient: None,
        code: reason.map(|reason| reason.code.to_string()),
        words: reason.and_then(|reason| reason.message.as_deref().or(reason.title.as_deref())),
    };
    Some(told.receipt(state, reason.and_then(|reason| answers::by_code(reason.code))))
}
