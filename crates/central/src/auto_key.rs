//! The key of a notification whose sender gave none, but said which run of a rule it comes from: a run that is repeated sends
//! nothing twice.
//!
//! Always true: the same request has the same key in every version that says `auto:v1:`. What goes into it never changes;
//! anything else would be `v2`.

use crate::canonical_json::canonical;
use domain::{Content, Target};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// None where no run is named. `content` is as its sender wrote it: before routing has filled in its type.
pub fn auto_key(content: &Content) -> Option<String> {
    let hash = Sha256::digest(canonical(&hashed(content)?));
    let mut key = String::from("auto:v1:");
    for byte in hash {
        let _ = write!(key, "{byte:02x}");
    }
    Some(key)
}

/// What the key is made of. What was not given is left out.
fn hashed(content: &Content) -> Option<Value> {
    let run = content.run_id.as_ref()?;
    let target = match &content.target {
        Target::List(name) => Some(json!({"listName": name})),
        Target::Recipients(to) => Some(json!({"to": to})),
        Target::Provider => None,
    };
    let subject = Some(&content.subject).filter(|subject| !subject.is_empty());
    let texts = given([
        ("subject", subject.map(|text| json!(text))),
        ("body", Some(json!(content.body))),
        ("bodyHtml", content.body_html.as_ref().map(|text| json!(text))),
    ]);
    // Kept as text; what does not parse counts as that text.
    let data = content.type_data.as_deref();
    let data = data.map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    let rule = content.rule_id.as_ref().or(content.rule_name.as_ref());
    Some(given([
        ("rule", rule.map(|rule| json!(rule))),
        ("provider", content.provider.as_ref().map(|id| json!(id.as_str()))),
        ("type", content.channel.map(|channel| json!(channel.as_str()))),
        ("target", target),
        ("texts", Some(texts)),
        ("data", data),
        ("runId", Some(json!(run))),
    ]))
}

fn given<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

#[cfg(test)]
#[path = "auto_key_tests.rs"]
mod tests;
