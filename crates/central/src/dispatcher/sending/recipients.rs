//! Recipients of a row while it is sent: whose turn it is, and what is kept about each.

use super::{
    super::attempt::{AttemptResult, Row, Start},
    postponed,
};
use crate::directory::LaneEntry;
use delivery::{Adapter, Message};
use domain::{
    AttemptFacts, Content, Failure, Jitter, Outcome, RecipientReport, RecipientState, Scope, Timestamp,
    code::{AMBIGUOUS, OUTSIDE_HOURS, RATE_LIMITED, TEMPLATE, TIMEOUT},
    settle::{Cause, RecipientUpdate, Targets, settle},
    suppression::SUPPRESSED,
};
use std::time::Duration;

/// What waits for rows that cannot be read.
const UNREADABLE: &str = "UNREADABLE";
/// Until they are tried again: a newer node may read them, or somebody writes them anew.
const UNREADABLE_WAIT: Duration = Duration::from_secs(60);

/// Who is open, by whether it may be asked for now.
pub(super) struct Open {
    pub now: Vec<String>,
    pub later: Option<(Timestamp, Cause)>,
}

/// Leaves out who asked for patience, and who is paused because of others.
pub(super) fn split_by_time(open: Vec<String>, row: &Row, start: &Start) -> Open {
    let mut split = Open {
        now: vec![],
        later: None,
    };
    if start.pauses.is_none() && row.known.iter().all(|r| r.not_before.is_none()) {
        split.now = open;
        return split;
    }
    for address in open {
        let own = row
            .known
            .iter()
            .find(|r| r.address == address && r.generation == row.generation);
        let asked = own.and_then(|r| Some((r.not_before?, Cause::of_result(r))));
        let paused = start
            .pauses
            .as_ref()
            .and_then(|pauses| pauses.until(Scope::Recipient, &address, start.now))
            .map(|until| {
                let words = "the service asked for less to this recipient";
                (until, Cause::new(RATE_LIMITED, words))
            });
        let latest = [asked, paused]
            .into_iter()
            .flatten()
            .max_by_key(|(until, _)| *until);
        match latest.filter(|(until, _)| *until > start.now) {
            None => split.now.push(address),
            Some(later) => {
                if split.later.as_ref().is_none_or(|(first, _)| later.0 < *first) {
                    split.later = Some(later);
                }
            }
        }
    }
    split
}

/// Why the message as a whole must wait, and until when.
pub(super) fn not_now(message: &Message, adapter: &dyn Adapter, start: &Start) -> Option<(Timestamp, Cause)> {
    if let Some(until) = adapter.not_before(message, start.now) {
        let words = "such messages go out at certain hours only";
        return Some((until, Cause::new(OUTSIDE_HOURS, words)));
    }
    let template = start.pauses.as_ref().and_then(|pauses| {
        let name = message.template_name()?;
        pauses.until(Scope::Template, &name, start.now)
    })?;
    let words = "the service does not take this template just now";
    Some((template, Cause::new(TEMPLATE, words)))
}

/// Whom it is for cannot be told. It waits for its time, and not at the head of its lane, where it would be claimed again at
/// once.
pub(super) fn unreadable(content: &Content, now: Timestamp, what: &str) -> AttemptResult {
    let words = format!("{what} cannot be read by this version of waypost");
    postponed(content, now + UNREADABLE_WAIT, Cause::new(UNREADABLE, words))
}

/// Asked not to be written to.
pub(super) fn left_out(address: String, why: String) -> RecipientUpdate {
    RecipientUpdate {
        address,
        state: RecipientState::Suppressed,
        provider_message_id: None,
        cause: Some(Cause::new(SUPPRESSED, why)),
        tried: false,
        wait: None,
    }
}

/// They are about to be asked for: should the process end now, nobody knows about them.
pub(super) fn marks(chunk: &[String]) -> Vec<RecipientUpdate> {
    let words = "the process ended while this was being sent; it may or may not have gone out";
    let mark = |address: &String| RecipientUpdate {
        address: address.clone(),
        state: RecipientState::Ambiguous,
        provider_message_id: None,
        cause: Some(Cause::new(AMBIGUOUS, words)),
        tried: false,
        wait: None,
    };
    chunk.iter().map(mark).collect()
}

/// Their turn did not come after all: they are as they were before they were marked.
pub(super) fn reopened<'a>(row: &Row, unasked: impl IntoIterator<Item = &'a String>) -> Vec<RecipientUpdate> {
    let open = |address: &String| {
        let before = row.known.iter().find(|r| {
            r.address == *address && r.generation == row.generation && r.state == RecipientState::Open
        });
        RecipientUpdate {
            address: address.clone(),
            state: RecipientState::Open,
            provider_message_id: None,
            cause: before.map(Cause::of_result),
            tried: false,
            wait: None,
        }
    };
    unasked.into_iter().map(open).collect()
}

/// Who of a chunk was not asked for: after a failure of the whole far end, or with the time over, nobody else is.
pub(super) fn without_report<'a>(outcome: &Outcome, chunk: &'a [String]) -> Vec<&'a String> {
    match outcome {
        Outcome::Delivered(_) | Outcome::Failed(_) => vec![],
        Outcome::Mixed(reports) => chunk
            .iter()
            .filter(|address| !reports.iter().any(|report| report.address == **address))
            .collect(),
    }
}

/// What became of a chunk.
pub(super) fn updates(
    row: &Row,
    entry: &LaneEntry,
    chunk: &[String],
    outcome: Outcome,
) -> Vec<RecipientUpdate> {
    let facts = AttemptFacts {
        number: row.attempts.saturating_add(1),
        unknowns: row.unknowns,
        age: Duration::ZERO,
        on_ambiguous: entry.on_ambiguous,
        throttles: 0,
    };
    // There are others, so that each result is kept.
    let others = (Duration::ZERO, Cause::new(TIMEOUT, ""));
    let targets = Targets {
        open: chunk,
        later: Some(&others),
        known: &row.known,
        generation: row.generation,
        suppressed: row.left_out.len(),
    };
    settle(&entry.retry, facts, targets, outcome, Jitter::random()).recipients
}

pub(super) fn reports_of(outcome: Outcome, chunk: &[String]) -> Vec<RecipientReport> {
    let all = |result: Result<domain::Accepted, Failure>| {
        let report = |address: &String| RecipientReport {
            address: address.clone(),
            result: result.clone(),
        };
        chunk.iter().map(report).collect()
    };
    match outcome {
        Outcome::Delivered(accepted) => all(Ok(accepted)),
        Outcome::Failed(failure) => all(Err(failure)),
        Outcome::Mixed(reports) => reports,
    }
}
