//! What Twilio's answers mean, by its error codes.

use crate::{
    http::{Answer, Meaning, default_meaning, wrong_address},
    opt_out::OptOut,
};
use domain::{Accepted, Failure, Scope, code};
use serde::Deserialize;

const DAY: u64 = 86_400;

/// The recipient answered STOP.
pub(super) const OPT_OUTS: &[OptOut] = &[OptOut::everything("21610")];

#[derive(Deserialize)]
struct Queued {
    sid: String,
}

#[derive(Deserialize, Default)]
struct Refused {
    code: Option<u32>,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let code = answer.json::<Refused>().unwrap_or_default().code;
    let meaning = match (status, code.unwrap_or_default()) {
        (200..=299, _) => return answer.accepted(answer.json().map(|queued: Queued| queued.sid)),
        (_, code) if code != 0 => by_code(code).or_else(|| default_meaning(status)),
        _ => wrong_address(status).or_else(|| default_meaning(status)),
    };
    let code = code.map(|code| code.to_string().into());
    Err(answer.failure(meaning.unwrap_or(Meaning::unknown()), code))
}

pub(super) fn by_code(code: u32) -> Option<Meaning> {
    Some(match code {
        20003 => Meaning::auth(),
        20404 | 21606 | 21603 | 30034 => Meaning::config(),
        // The account is suspended.
        30002 => Meaning::forbidden(),
        // A country that is not switched on for the account. It says nothing about the others: held, the lane would be probed
        // with this same message for ever.
        21408 => Meaning::permanent(Scope::Recipient, code::FORBIDDEN),
        20429 | 30022 | 63018 => Meaning::rate_limited(Scope::Lane),
        21611 | 30001 => Meaning::rate_limited(Scope::Lane).waiting(600),
        63038 => Meaning::quota().waiting(DAY),
        21211 | 21214 | 21608 | 21610 | 21612 | 21614 | 30004 | 30005 | 30006 => Meaning::recipient(),
        30003 => Meaning::transient(Scope::Recipient, "RECIPIENT").waiting(3600),
        30007 | 63016 | 21617 | 21619 => Meaning::invalid(),
        30036 => Meaning::permanent(Scope::Message, "EXPIRED"),
        30008 => Meaning::unknown(),
        _ => return None,
    })
}
