//! What MSG91's answers mean. Errors come inside a 200 as often as not: `type` decides. Codes are those of the older API, which
//! the newer one repeats as its message; texts are told apart by what they contain.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;

/// A repeat of the same message to the same number is dropped for ten seconds; this is past them.
const DUPLICATE_SECONDS: u64 = 15;
const HOUR: u64 = 3600;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Said {
    r#type: String,
    message: String,
    code: Option<serde_json::Value>,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let said: Said = answer.json().unwrap_or_default();
    let status = answer.status.as_u16();
    if answer.status.is_success() && said.r#type == "success" {
        return answer.accepted(Some(said.message));
    }
    if answer.status.is_success() && said.r#type.is_empty() {
        return answer.accepted(None);
    }
    let told = said.code.as_ref().map(ToString::to_string).unwrap_or_default();
    let code = told
        .trim_matches('"')
        .parse()
        .or_else(|_| said.message.trim().parse::<u16>())
        .ok();
    let meaning = match (code, status) {
        (Some(code), _) if by_code(code).is_some() => by_code(code),
        (_, 200..=299) => by_words(&said.message.to_lowercase()),
        (_, 400) => by_words(&said.message.to_lowercase()).or(Some(Meaning::invalid())),
        (_, status) => default_meaning(status),
    };
    let code = code.map(|code| code.to_string().into());
    Err(answer.failure(meaning.unwrap_or(Meaning::unknown()), code))
}

fn by_code(code: u16) -> Option<Meaning> {
    Some(match code {
        101..=107 | 310 => Meaning::invalid(),
        202 => Meaning::recipient(),
        203 | 205 | 505 | 506 => Meaning::config(),
        207 => Meaning::auth(),
        208 | 302 | 303 | 418 => Meaning::forbidden(),
        209 | 210 => Meaning::down().waiting(HOUR),
        301 => Meaning::billing(),
        // A promotional route outside the hours in which it may be used.
        306 | 651 => Meaning::outside_hours().waiting(HOUR),
        311 => Meaning::transient(Scope::Message, "PROVIDER_ERROR").waiting(DUPLICATE_SECONDS),
        // Entity, header or template unknown to the registry, or withdrawn there.
        600..=604 | 610..=612 | 620..=623 => Meaning::config(),
        630..=632 => Meaning::permanent(Scope::Message, "TEMPLATE"),
        _ => return None,
    })
}

fn by_words(message: &str) -> Option<Meaning> {
    let has = |word: &str| message.contains(word);
    Some(match message {
        _ if has("authkey") || has("unauthorized") => Meaning::auth(),
        _ if has("ip ") && (has("whitelist") || has("blacklist")) => Meaning::forbidden(),
        _ if has("balance") => Meaning::billing(),
        _ if has("template") || has("flow") => Meaning::permanent(Scope::Message, "TEMPLATE"),
        _ if has("mobile") => Meaning::recipient(),
        _ => return None,
    })
}
