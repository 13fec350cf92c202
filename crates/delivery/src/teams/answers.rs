//! What a flow's answers mean. The flow belongs to one channel, so what is wrong with it is wrong with the setting: it was
//! deleted or switched off, or its owner has left.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};

/// How a connector tells an error inside a 200.
const HIDDEN_ERROR: &str = "returned HTTP error ";

/// For whoever saves such an address, and for whoever looks at a lane that is held.
pub(super) const OLD_ADDRESS: &str =
    "flows on logic.azure.com ended on 30 November 2025: take the address of the flow anew";

pub(super) fn understand(answer: &Answer, has_old_address: bool) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let text = answer.text();
    let hidden = text
        .split_once(HIDDEN_ERROR)
        .and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let meaning = match (status, hidden) {
        (200 | 202, None) => return Ok(answer.taken()),
        (429, _) | (_, Some(429)) => Meaning::rate_limited(Scope::Lane).waiting(60),
        (_, Some(500..=599)) => Meaning::down(),
        (_, Some(_)) => Meaning::invalid(),
        (401 | 403 | 404 | 410, _) => Meaning::config(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    let mut failure = answer.failure(meaning, hidden.map(|code| format!("HTTP_{code}").into()));
    if has_old_address && failure.hold.is_some() {
        failure.detail.push_str(&format!(" ({OLD_ADDRESS})"));
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_is_gone_from_where_flows_ended_says_so() {
        for (status, old, told) in [(404, true, true), (404, false, false), (429, true, false)] {
            let failure = understand(&Answer::of(status, "gone"), old).unwrap_err();
            assert_eq!(
                failure.detail.contains("30 November 2025"),
                told,
                "{status} {old}"
            );
        }
    }
}
