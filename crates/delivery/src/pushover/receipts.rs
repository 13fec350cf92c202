//! What Pushover tells later: that somebody acknowledged an emergency. It does not sign, so it is asked itself before it is
//! believed.

use super::Pushover;
use crate::{
    http::{Answer, Meaning, default_meaning},
    kit::{Endpoint, below},
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptState},
    settings::Problems,
};
use bytes::Bytes;
use domain::Failure;
use hyper::Request;
use serde::Deserialize;

const RECEIPT_LETTERS: usize = 30;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PushoverReceipt {
    status: u8,
    acknowledged: u8,
    last_delivered_at: u64,
}

pub(super) fn read(callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    let form = callback.form();
    let receipt = form.into_iter().find(|(name, _)| name == "receipt");
    let receipt = receipt.map(|(_, value)| value).unwrap_or_default();
    if receipt.len() != RECEIPT_LETTERS || !receipt.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(CallbackRefused::Unreadable("no receipt".into()));
    }
    Ok(CallbackContent::Receipts(vec![Receipt {
        correlation: callback.reference(),
        provider_message_id: Some(receipt),
        unproven: true,
        ..Receipt::new(ReceiptState::Read)
    }]))
}

pub(super) fn request(pushover: &Pushover, unproven: &Receipt) -> Option<Request<Bytes>> {
    let receipt = unproven.provider_message_id.as_deref()?;
    let mut url = below(&pushover.api, &format!("1/receipts/{receipt}.json"));
    url.query_pairs_mut().append_pair("token", &pushover.token);
    Some(Endpoint::at(&url, "apiUrl", &mut Problems::default())?.get())
}

pub(super) fn understand(unproven: &Receipt, answer: &Answer) -> Result<Option<Receipt>, Failure> {
    let status = answer.status.as_u16();
    let said: PushoverReceipt = answer.json().unwrap_or_default();
    let state = match status {
        200..=299 if said.status == 1 && said.acknowledged == 1 => ReceiptState::Read,
        200..=299 if said.status == 1 && said.last_delivered_at > 0 => ReceiptState::Delivered,
        200..=299 if said.status == 1 => ReceiptState::Accepted,
        // There is no such receipt of this application.
        400 | 404 => return Ok(None),
        _ => {
            let meaning = default_meaning(status).unwrap_or(Meaning::unknown());
            return Err(answer.failure(meaning, None));
        }
    };
    Ok(Some(Receipt {
        state,
        unproven: false,
        ..unproven.clone()
    }))
}
