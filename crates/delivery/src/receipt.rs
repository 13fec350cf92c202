//! What a far end tells later about a message it took: the seam by which receipts come in.
//!
//! Leaves to others: who may call (the secret in the path), storing, and which notification a receipt belongs to.
//! Always true: what a kind returns here was signed, where its service signs; where it does not sign, the receipt says that
//! the service has to be asked first ([`crate::Adapter::ask_receipt`]).

pub use domain::{Correlation, Receipt, ReceiptState};
pub use hyper::{HeaderMap, Method};
use serde::Serialize;

/// The most receipts that are taken from one call; services tell of far fewer at a time.
pub const MAX_RECEIPTS_PER_CALL: usize = 1_000;

/// The query parameter by which a correlation comes back where a service repeats nothing but the address it calls.
pub const REFERENCE_PARAMETER: &str = "ref";

/// How a kind's far end gets to know where receipts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReceiptsBy {
    /// It tells nothing later.
    Nothing,
    /// A person enters the address over there.
    ItsSettings,
    /// Each message carries it.
    EachMessage,
}

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

/// Why a callback was not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallbackRefused {
    #[error("this kind of provider tells nothing later")]
    NoReceipts,
    #[error("the signature is missing or wrong")]
    Signature,
    #[error("not a receipt of this service: {0}")]
    Unreadable(String),
    /// What is needed to check who says so is not among the provider's settings.
    #[error("the provider's setting {0} is missing")]
    NotSetUp(&'static str),
}
