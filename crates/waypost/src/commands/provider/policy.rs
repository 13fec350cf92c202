//! `--retry`, `--limit` and `--on-ambiguous`: how a provider is driven, as it is written on a command line. What a value
//! may be is central's to say; names and types are checked here.

use crate::exit::usage;
use serde_json::{Map, Value};

#[derive(Debug, clap::Args)]
pub struct Policy {
    /// How often and how soon to try: shape (fixed, exponential), interval, factor, cap, jitter, maxAttempts, maxAge (or
    /// none), unknownRetries; like interval=30s. Repeat it for several
    #[arg(long, value_name = "NAME=VALUE")]
    retry: Vec<String>,
    /// How hard it may be driven: concurrency, perSecond (or none); like concurrency=4
    #[arg(long, value_name = "NAME=VALUE")]
    limit: Vec<String>,
    /// When nobody knows whether a message went out: send it again, or park it for a person
    #[arg(long, value_name = "WHAT", value_parser = ["resend", "park"])]
    pub on_ambiguous: Option<String>,
}

enum Takes {
    Text,
    Number,
    /// There may be none; `none` says so, and it goes out as `null`: what is left out is the kind's own.
    TextOrNone,
    NumberOrNone,
}

const RETRY: &[(&str, Takes)] = &[
    ("shape", Takes::Text),
    ("interval", Takes::Text),
    ("factor", Takes::Number),
    ("cap", Takes::Text),
    ("jitter", Takes::Number),
    ("maxAttempts", Takes::Number),
    ("maxAge", Takes::TextOrNone),
    ("unknownRetries", Takes::Number),
];
const LIMITS: &[(&str, Takes)] = &[("concurrency", Takes::Number), ("perSecond", Takes::NumberOrNone)];

impl Policy {
    /// The retry policy that is `current` with what was said here; none when neither says anything.
    pub fn retry(&self, current: Option<Value>) -> anyhow::Result<Option<Value>> {
        over("--retry", RETRY, current, &self.retry)
    }

    /// The limits that are `current` with what was said here.
    pub fn limits(&self, current: Option<Value>) -> anyhow::Result<Option<Value>> {
        over("--limit", LIMITS, current, &self.limit)
    }
}

fn over(
    flag: &str,
    known: &[(&str, Takes)],
    current: Option<Value>,
    pairs: &[String],
) -> anyhow::Result<Option<Value>> {
    if pairs.is_empty() {
        return Ok(current);
    }
    let mut values = match current {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    };
    for pair in pairs {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let Some((_, takes)) = known.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            return Err(usage(format!(
                "{flag} {pair}: write NAME=VALUE with one of {}",
                names.join(", ")
            )));
        };
        match (takes, text) {
            (Takes::TextOrNone | Takes::NumberOrNone, "none") => {
                values.insert(name.into(), Value::Null);
            }
            (Takes::Text | Takes::TextOrNone, text) => {
                values.insert(name.into(), text.into());
            }
            (Takes::Number | Takes::NumberOrNone, text) => {
                let number = serde_json::from_str::<Value>(text).ok().filter(Value::is_number);
                let number =
                    number.ok_or_else(|| usage(format!("{flag} {name} takes a number, not {text:?}")))?;
                values.insert(name.into(), number);
            }
        }
    }
    Ok(Some(Value::Object(values)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy(retry: &[&str], limit: &[&str]) -> Policy {
        let owned = |pairs: &[&str]| pairs.iter().map(|p| (*p).to_owned()).collect();
        Policy {
            retry: owned(retry),
            limit: owned(limit),
            on_ambiguous: None,
        }
    }

    #[test]
    fn what_is_not_said_stays_and_what_may_be_left_out_can_be() {
        let current = json!({"shape": "fixed", "interval": "1m", "maxAttempts": 10, "maxAge": "1d"});
        let said = policy(
            &["maxAttempts=3", "maxAge=none", "interval=30s"],
            &["perSecond=0.5"],
        );
        assert_eq!(
            said.retry(Some(current)).unwrap(),
            Some(json!({"shape": "fixed", "interval": "30s", "maxAttempts": 3, "maxAge": null}))
        );
        assert_eq!(said.limits(None).unwrap(), Some(json!({"perSecond": 0.5})));
        let silent = policy(&[], &[]);
        assert_eq!(silent.retry(None).unwrap(), None);
        assert_eq!(
            silent.limits(Some(json!({"a": 1}))).unwrap(),
            Some(json!({"a": 1}))
        );
    }

    #[test]
    fn a_name_or_a_number_that_is_none_is_refused_by_name() {
        let refused = |retry: &[&str]| policy(retry, &[]).retry(None).unwrap_err().to_string();
        assert!(refused(&["maxTries=3"]).contains("maxAttempts"));
        assert!(refused(&["maxAttempts"]).contains("takes a number"));
        assert!(refused(&["factor=two"]).contains("factor"));
        assert!(refused(&["maxAttempts=none"]).contains("takes a number"));
    }
}
