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
mod tests {
    use super::*;
    use domain::{Channel, ProviderId};

    fn smallest() -> Content {
        Content {
            body: "b".into(),
            run_id: Some("run-7".into()),
            ..Content::default()
        }
    }

    fn full() -> Content {
        Content {
            channel: Some(Channel::HomeAssistant),
            provider: Some(ProviderId::new("home")),
            target: Target::Recipients(vec!["a@example.com".into(), "b@example.com".into()]),
            subject: "Boiler".into(),
            body: "93 °C".into(),
            body_html: Some("<p>93 °C</p>".into()),
            type_data: Some(r#"{"service": "notify.phone", "at": 1e2, "a": null}"#.into()),
            rule_id: Some("r-1".into()),
            rule_name: Some("Boiler too hot".into()),
            ..smallest()
        }
    }

    #[test]
    fn the_key_of_a_request_never_changes() {
        let list = Content {
            target: Target::List("ops".into()),
            rule_name: Some("Nightly".into()),
            ..smallest()
        };
        for (content, hashed_text, key) in [
            (
                smallest(),
                r#"{"runId":"run-7","texts":{"body":"b"}}"#,
                "auto:v1:14237b3d3d12f9265677983877860f956d736653d7c57e857068047339a3e8ea",
            ),
            (
                list,
                r#"{"rule":"Nightly","runId":"run-7","target":{"listName":"ops"},"texts":{"body":"b"}}"#,
                "auto:v1:ee0ab3a2a66ca010f829eada8cd26519ef9032c22f26563225428e0ed04ae85d",
            ),
            (
                full(),
                r#"{"data":{"a":null,"at":100,"service":"notify.phone"},"provider":"home","rule":"r-1","runId":"run-7","target":{"to":["a@example.com","b@example.com"]},"texts":{"body":"93 °C","bodyHtml":"<p>93 °C</p>","subject":"Boiler"},"type":"HomeAssistant"}"#,
                "auto:v1:8f722b378299241db065a8f1f57901c8734363c7edc61abf9ecf324d48422222",
            ),
        ] {
            assert_eq!(canonical(&hashed(&content).unwrap()), hashed_text);
            assert_eq!(auto_key(&content).unwrap(), key);
        }
    }

    #[test]
    fn another_run_or_any_other_word_is_another_key_and_no_run_has_none() {
        let keys: std::collections::BTreeSet<_> = [
            full(),
            Content {
                run_id: Some("run-8".into()),
                ..full()
            },
            Content {
                provider: None,
                ..full()
            },
            Content {
                channel: None,
                ..full()
            },
            Content {
                subject: "boiler".into(),
                ..full()
            },
            Content {
                body: "94 °C".into(),
                ..full()
            },
            Content {
                target: Target::Provider,
                ..full()
            },
            Content {
                rule_id: None,
                ..full()
            },
            Content {
                type_data: None,
                ..full()
            },
        ]
        .iter()
        .map(|content| auto_key(content).unwrap())
        .collect();
        assert_eq!(keys.len(), 9);
        assert_eq!(
            auto_key(&Content {
                run_id: None,
                ..full()
            }),
            None
        );
        let spaced = Content {
            type_data: Some(r#"{"a":null,"at":100.0,"service":"notify.phone"}"#.into()),
            ..full()
        };
        assert_eq!(
            auto_key(&spaced),
            auto_key(&full()),
            "how the data is written does not matter"
        );
    }
}
