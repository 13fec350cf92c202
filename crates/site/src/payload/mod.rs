//! What a buffered message carries, as JSON text. Read back by whoever delivers it, perhaps by a later version. What
//! calls and writes carry stands with them in [`categories`](crate::categories).

mod notification;

pub use notification::NotificationPayload;

use domain::TraceContext;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::buffer::Origin;

/// What a message is parked as whose payload is not what was accepted. Its bytes stay in the buffer.
pub const CORRUPT_PAYLOAD: &str = "CORRUPT_PAYLOAD";

/// A summary, as long as one may be.
pub(crate) fn cut(text: &str) -> String {
    delivery::redact::cut(text, 200).to_owned()
}

/// A message's payload, or why it cannot be read.
pub fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, String> {
    serde_json::from_str(payload).map_err(|e| format!("the buffered payload {}", store::json_fault(&e)))
}

pub fn text(payload: &impl Serialize) -> String {
    serde_json::to_string(payload).unwrap_or_default()
}

/// The payload with its place in a trace, which has no part in its content.
pub fn with_trace(payload: String, trace: TraceContext) -> String {
    match payload.strip_suffix('}') {
        Some(open) if !open.ends_with('{') => format!("{open},\"trace\":\"{trace}\"}}"),
        _ => payload,
    }
}

/// Same target, content and origin: same number.
pub fn content_hash(target: &str, payload: &str, origin: &Origin) -> i64 {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(target);
    part(payload);
    part(origin.instance.as_deref().unwrap_or(""));
    let mut first = [0u8; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    i64::from_be_bytes(first)
}
