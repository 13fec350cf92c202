//! What MSG91's answers mean. Errors come inside a 200 as often as not: `type` decides. Codes are those of the older API, which
//! the newer one repeats as its message; texts are told apart by what they contain.

use super::Msg91;
use crate::{
    http::{Answer, Meaning, default_meaning, wrong_address},
    kit::Sending,
};
use domain::{Accepted, Failure, Scope, code};
use serde::Deserialize;

const HOUR: u64 = 3600;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Msg91Answer {
    r#type: String,
    message: String,
    code: Option<serde_json::Value>,
}

pub(super) fn understand(msg91: &Msg91, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
    let said: Msg91Answer = answer.json().unwrap_or_default();
    let status = answer.status.as_u16();
    if answer.status.is_success() && said.r#type == "success" {
        return answer.accepted(Some(said.message));
    }
    if answer.status.is_success() && said.r#type.is_empty() {
        return answer.accepted(None);
    }
    let told = said.code.as_ref().map(ToString::to_string).unwrap_or_default();
    let own = told
        .trim_matches('"')
        .parse()
        .or_else(|_| said.message.trim().parse::<u16>())
        .ok();
    let meaning = match (own, status) {
        (Some(code), _) if by_code(code).is_some() => by_code(code),
        (_, 200..=299) => by_words(&said.message.to_lowercase()),
        (_, 400) => by_words(&said.message.to_lowercase()).or(Some(Meaning::invalid())),
        (None, status) if said.r#type.is_empty() => wrong_address(status).or_else(|| default_meaning(status)),
        (_, status) => default_meaning(status),
    };
    let mut meaning = meaning.unwrap_or(Meaning::unknown());
    if meaning.code() == code::OUTSIDE_HOURS {
        meaning = meaning.waiting(until_open(msg91, sending));
    }
    let mut failure = answer.failure(meaning, own.map(|code| code.to_string().into()));
    if own.is_some_and(|code| REGISTER_CODES.contains(&code)) {
        failure.detail.push_str(&registered(msg91, sending));
    }
    Err(failure)
}

/// What the register says, as opposed to MSG91.
const REGISTER_CODES: std::ops::RangeInclusive<u16> = 600..=632;

/// Seconds until advertising may go out; an hour where it may now by our settings, and not by the service's.
fn until_open(msg91: &Msg91, sending: &Sending<'_>) -> u64 {
    let Some(opens) = msg91.promotional.begin_after(sending.now) else {
        return HOUR;
    };
    let left = opens.since(sending.now);
    left.as_secs().saturating_add(u64::from(left.subsec_nanos() > 0))
}

/// Which entry of the register is meant, for whoever has to look it up there.
fn registered(msg91: &Msg91, sending: &Sending<'_>) -> String {
    let name = sending.message.template_name().unwrap_or_default();
    let Ok(template) = msg91.templates.find(&name) else {
        return String::new();
    };
    let ids = [("DLT template", template.dlt), ("entity", template.entity)];
    let ids = ids
        .into_iter()
        .filter_map(|(what, id)| Some(format!("{what} {}", id?)));
    let words = ids.collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        words
    } else {
        format!(" ({words})")
    }
}

pub(super) fn by_code(code: u16) -> Option<Meaning> {
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
        // The same text went to the same number within ten seconds; the service has dropped this one, and whether they are
        // one message is for people to say. No retry of ours comes as soon as that.
        311 => Meaning::invalid(),
        // Entity, header or template unknown to the registry, or withdrawn there.
        600..=604 | 610..=612 | 620..=623 => Meaning::config(),
        630..=632 => Meaning::permanent(Scope::Template, code::TEMPLATE),
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
