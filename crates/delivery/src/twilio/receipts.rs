//! What Twilio tells later: a form per change of a message's status, signed together with the address it was sent to.

use super::{Twilio, answers};
use crate::{
    kit::DeliveryReport,
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptState},
};

const SIGNATURE: &str = "x-twilio-signature";

pub(super) fn read(twilio: &Twilio, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    let token = twilio.signing_token.as_deref();
    let token = token.ok_or(CallbackRefused::NotSetUp("signingToken"))?;
    if !callback.is_signed_sha1_with_url(SIGNATURE, token) {
        return Err(CallbackRefused::Signature);
    }
    let form = callback.form();
    let field = |name: &str| {
        let found = form.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    let state = match field("MessageStatus").or(field("SmsStatus")) {
        Some("queued" | "accepted" | "scheduled" | "sending" | "sent") => ReceiptState::Accepted,
        Some("delivered") => ReceiptState::Delivered,
        Some("read") => ReceiptState::Read,
        Some("failed" | "undelivered" | "canceled") => ReceiptState::Failed,
        Some(_) => return Ok(CallbackContent::Receipts(vec![])),
        None => return Err(CallbackRefused::Unreadable("no MessageStatus".into())),
    };
    let code = field("ErrorCode").map(str::to_owned);
    let meaning = code
        .as_deref()
        .and_then(|code| answers::by_code(code.parse().ok()?));
    let told = DeliveryReport {
        message_id: field("MessageSid").or(field("SmsSid")),
        recipient: field("To"),
        code,
        words: field("ErrorMessage"),
        ..DeliveryReport::default()
    };
    let receipt = Receipt {
        correlation: callback.reference(),
        ..told.receipt(state, meaning)
    };
    Ok(CallbackContent::Receipts(vec![receipt]))
}
