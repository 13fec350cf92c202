//! What Meta's answers mean: its error codes decide, not the status.

use crate::{
    http::{Answer, Meaning, default_meaning, wrong_address},
    opt_out::OptOut,
};
use domain::{Accepted, Failure, Scope, code};
use serde::Deserialize;

const HOUR: u64 = 3600;

/// The recipient wants no more marketing messages of this business.
pub(crate) const OPT_OUTS: &[OptOut] = &[OptOut::such_messages("131050")];

#[derive(Deserialize)]
struct Taken {
    messages: Vec<Sent>,
}

#[derive(Deserialize)]
struct Sent {
    id: String,
}

#[derive(Deserialize)]
struct Refused {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    code: u32,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let code = answer.json::<Refused>().map(|refused| refused.error.code);
    let meaning = match (status, code) {
        (status, Some(code)) => by_code(code).or_else(|| wrong_address(status)),
        (200..=299, None) => {
            let taken: Option<Taken> = answer.json();
            return answer.accepted(
                taken
                    .and_then(|taken| taken.messages.into_iter().next())
                    .map(|sent| sent.id),
            );
        }
        (status, None) => wrong_address(status).or_else(|| default_meaning(status)),
    };
    let code = code.map(|code| code.to_string().into());
    Err(answer.failure(meaning.unwrap_or(Meaning::unknown()), code))
}

/// The codes of the WhatsApp Business Platform.
pub(crate) fn by_code(code: u32) -> Option<Meaning> {
    Some(match code {
        0 | 190 => Meaning::auth(),
        1 => Meaning::unknown().tries(3),
        3 | 10 | 200..=299 | 131_005 | 368 | 131_031 => Meaning::forbidden(),
        33 | 131_037 | 131_045 | 133_010 => Meaning::config(),
        131_042 => Meaning::billing(),
        131_048 => Meaning::quota().waiting(HOUR),
        2 | 131_016 | 133_004 => Meaning::down(),
        131_057 => Meaning::down().waiting(60),
        4 | 80_007 | 80_008 => Meaning::rate_limited(Scope::Lane).waiting(300),
        130_429 => Meaning::rate_limited(Scope::Lane).waiting(5),
        131_056 => Meaning::rate_limited(Scope::Recipient).waiting(6),
        // A cap on marketing alone: what else the same person is to get must not wait a day for it, so nobody is paused.
        131_049 => Meaning::rate_limited(Scope::Message).waiting(24 * HOUR).tries(2),
        131_000 => Meaning::transient(Scope::Message, "PROVIDER_ERROR"),
        131_052 | 131_053 => Meaning::transient(Scope::Message, "VALIDATION").tries(3),
        131_021 | 131_026 | 131_030 | 131_050 | 130_497 => Meaning::recipient(),
        100 | 130_472 | 131_008 | 131_009 | 131_047 | 131_051 => Meaning::invalid(),
        // It may be paused for a day at most; then somebody has to look.
        132_015 => Meaning::template_paused().waiting(HOUR).at_most(86_400),
        132_069 => Meaning::template_paused().waiting(HOUR),
        132_001 | 132_016 => Meaning::permanent(Scope::Template, code::TEMPLATE),
        132_000 | 132_005 | 132_007 | 132_012 | 132_068 => Meaning::permanent(Scope::Message, code::TEMPLATE),
        _ => return None,
    })
}
