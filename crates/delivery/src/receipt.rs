//! What a far end tells later about a message it took: the seam by which receipts come in.
//!
//! Leaves to others: who may call (the secret in the path), storing, and which notification a receipt belongs to.
//! Always true: what a kind returns here was signed, where its service signs; an unsigned one is refused.

use hyper::{HeaderMap, Method};

/// A request that came in for a provider, as it was sent: signatures are over the raw bytes.
#[derive(Debug, Clone, Copy)]
pub struct Callback<'a> {
    pub method: &'a Method,
    /// The address that the far end called, as it knows it; some services sign it.
    pub url: &'a str,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// What a callback comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallbackContent {
    /// News of messages; none is fine too, for calls that tell nothing about one.
    Receipts(Vec<Receipt>),
    /// The far end wants to be answered with this, to see that the address is ours.
    Answer(String),
}

/// News of one message to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The far end's own id of the message.
    pub provider_message_id: Option<String>,
    /// What we gave the far end to repeat: the notification, its generation and the recipient.
    pub reference: Option<String>,
    pub recipient: Option<String>,
    pub state: ReceiptState,
    /// The far end's code, where it failed.
    pub provider_code: Option<String>,
    pub detail: Option<String>,
}

/// In this order: a later one in the list is better news and is not taken back by an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReceiptState {
    Accepted,
    Failed,
    Delivered,
    Read,
}

/// Why a callback was not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallbackRefused {
    #[error("this kind of provider tells nothing later")]
    NoReceipts,
    #[error("the signature is missing or wrong")]
    Signature,
    #[error("not a receipt of this service: {0}")]
    Unreadable(String),
}
