//! What a buffered message carries, as JSON text. Read back by whoever delivers it, perhaps by a later version.

mod notification;

pub use notification::NotificationPayload;

use delivery::call::Call;
use domain::TraceContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use store::buffer::Origin;

/// What a message is parked as whose payload is not what was accepted. Its bytes stay in the buffer.
pub const CORRUPT_PAYLOAD: &str = "CORRUPT_PAYLOAD";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallPayload {
    pub method: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Text is sent as it is, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WritePayload {
    pub statement: String,
    #[serde(default)]
    pub params: Vec<Value>,
    /// The unique constraint by which an earlier attempt is recognised; its violation means that the row is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_by: Option<String>,
}

impl CallPayload {
    pub fn call(&self) -> Call {
        let (body, content_type) = match &self.body {
            None | Some(Value::Null) => (None, None),
            Some(Value::String(text)) => (Some(text.clone()), Some("text/plain; charset=utf-8")),
            Some(json) => (Some(json.to_string()), Some("application/json")),
        };
        Call {
            method: self.method.clone(),
            path: self.path.clone(),
            headers: self.headers.clone(),
            body,
            content_type,
        }
    }

    /// For people; a query may hold secrets and is left out.
    pub fn summary(&self) -> String {
        let path = self.path.split(['?', '#']).next().unwrap_or("");
        cut(&format!(
            "{} /{}",
            self.method.to_uppercase(),
            path.trim_start_matches('/')
        ))
    }
}

impl WritePayload {
    /// The statement without its values, on one line.
    pub fn summary(&self) -> String {
        cut(&self.statement.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn cut(text: &str) -> String {
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
