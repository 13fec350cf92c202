//! The words of a NOTIFY, written and read.

use super::Pending;
use crate::signals::{Change, Signal};
use domain::{LaneId, NotificationId, TenantId};

/// A payload has at most 8000 bytes; more lanes than this are "look again".
const LANES: usize = 350;
/// What one payload of changes may take; the server's limit less the sender and the words before them.
const CHANGES_BYTES: usize = 7_900;
/// A code that is longer, or is no plain word, is not told along.
const LONGEST_CODE: usize = 64;

/// One NOTIFY.
#[derive(Debug)]
pub(super) struct Payload {
    pub text: String,
    /// So many changes it tells of, one by one or as missed.
    pub changes: u64,
}

/// `SENDER lanes 1,2,3`, `SENDER directory`, `SENDER relays`, `SENDER events`, `SENDER again`, `SENDER watching`, and
/// `SENDER changes MISSED TENANT,ID,STATUS,CODE;…`.
pub(super) fn payloads(sender: &str, pending: &Pending) -> Vec<Payload> {
    let lanes = if pending.look_again || pending.lanes.len() > LANES {
        Some("again".to_owned())
    } else if !pending.lanes.is_empty() {
        let lanes: Vec<String> = pending.lanes.iter().map(i64::to_string).collect();
        Some(format!("lanes {}", lanes.join(",")))
    } else {
        None
    };
    let plain = [
        (pending.directory, "directory"),
        (pending.relays, "relays"),
        (pending.events, "events"),
        (pending.watching, "watching"),
    ];
    let plain = plain.into_iter().filter(|(is_said, _)| *is_said);
    let words = lanes.into_iter().chain(plain.map(|(_, word)| word.to_owned()));
    let without_changes = words.map(|words| Payload {
        text: format!("{sender} {words}"),
        changes: 0,
    });
    without_changes
        .chain(payloads_of_changes(sender, pending))
        .collect()
}

fn payloads_of_changes(sender: &str, pending: &Pending) -> Vec<Payload> {
    let mut payloads = vec![];
    let mut missed = pending.missed;
    let (mut text, mut told) = (String::new(), 0);
    let payload = |missed: u64, text: &str, told: u64| Payload {
        text: format!("{sender} changes {missed} {text}"),
        changes: missed + told,
    };
    for change in &pending.changes {
        let one = print_change(change);
        if text.len() + one.len() >= CHANGES_BYTES {
            payloads.push(payload(
                std::mem::take(&mut missed),
                &text,
                std::mem::take(&mut told),
            ));
            text.clear();
        }
        if !text.is_empty() {
            text.push(';');
        }
        text += &one;
        told += 1;
    }
    if told > 0 || missed > 0 {
        payloads.push(payload(missed, &text, told));
    }
    payloads
}

fn print_change(change: &Change) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let code = change.code.as_deref().unwrap_or_default();
    let code = Some(code).filter(|code| code.len() <= LONGEST_CODE && code.chars().all(plain));
    format!(
        "{},{},{},{}",
        change.tenant.0,
        change.id.0.simple(),
        change.status.as_str(),
        code.unwrap_or_default()
    )
}

fn read_change(text: &str) -> Option<Change> {
    let mut parts = text.split(',');
    let change = Change {
        tenant: TenantId(parts.next()?.parse().ok()?),
        id: NotificationId(parts.next()?.parse().ok()?),
        status: parts.next()?.parse().ok()?,
        code: parts.next().filter(|code| !code.is_empty()).map(str::to_owned),
    };
    parts.next().is_none().then_some(change)
}

/// `MISSED TENANT,ID,STATUS,CODE;…`
fn read_changes(text: &str) -> Option<Signal> {
    let (missed, list) = text.split_once(' ')?;
    let changes = list.split(';').filter(|one| !one.is_empty()).map(read_change);
    Some(Signal::Changes {
        changes: changes.collect::<Option<_>>()?,
        missed: missed.parse().ok()?,
    })
}

/// None for our own words; `LookAgain` for words that only a newer node understands.
pub(super) fn read(own: &str, payload: &str) -> Option<Signal> {
    let (sender, what) = payload.split_once(' ').unwrap_or(("", payload));
    if sender == own {
        return None;
    }
    if what == "directory" {
        return Some(Signal::Directory);
    }
    if what == "relays" {
        return Some(Signal::Relays);
    }
    if what == "events" {
        return Some(Signal::Events);
    }
    if what == "watching" {
        return Some(Signal::Watching);
    }
    if let Some(changes) = what.strip_prefix("changes ").and_then(read_changes) {
        return Some(changes);
    }
    let lanes = what.strip_prefix("lanes ").and_then(|list| {
        list.split(',')
            .map(|n| n.parse().map(LaneId).ok())
            .collect::<Option<Vec<_>>>()
    });
    Some(lanes.map_or(Signal::LookAgain, Signal::Lanes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Status;

    #[test]
    fn what_is_told_is_what_is_heard_except_by_oneself() {
        let pending = Pending {
            lanes: [7, 3].into(),
            directory: true,
            relays: true,
            events: true,
            watching: true,
            ..Pending::default()
        };
        let said = payloads("me", &pending);
        let heard: Vec<_> = said.iter().filter_map(|p| read("you", &p.text)).collect();
        assert_eq!(
            heard,
            [
                Signal::Lanes(vec![LaneId(3), LaneId(7)]),
                Signal::Directory,
                Signal::Relays,
                Signal::Events,
                Signal::Watching,
            ]
        );
        assert!(said.iter().all(|p| read("me", &p.text).is_none()));
    }

    fn change(tenant: i32, code: &str) -> Change {
        Change {
            tenant: TenantId(tenant),
            id: NotificationId::mint(),
            status: Status::Retrying,
            code: Some(code.to_owned()).filter(|code| !code.is_empty()),
        }
    }

    #[test]
    fn changes_are_heard_as_they_were_told_however_many_payloads_they_take() {
        let changes: Vec<_> = (0..500)
            .map(|n| {
                change(
                    i32::MAX - n,
                    ["", "SMTP_451", &"X".repeat(LONGEST_CODE)][n as usize % 3],
                )
            })
            .collect();
        let pending = Pending {
            changes: changes.clone(),
            missed: 7,
            ..Pending::default()
        };
        let said = payloads(&"m".repeat(32), &pending);
        assert!(said.len() > 1 && said.iter().all(|p| p.text.len() < 8_000));
        let (mut heard, mut missed_in_all) = (vec![], 0);
        for payload in &said {
            let Some(Signal::Changes { changes, missed }) = read("you", &payload.text) else {
                panic!("{payload:?}");
            };
            assert_eq!(payload.changes, changes.len() as u64 + missed);
            heard.extend(changes);
            missed_in_all += missed;
        }
        assert_eq!((heard, missed_in_all), (changes, 7));
    }

    #[test]
    fn a_code_that_is_no_plain_word_is_not_told_along() {
        for strange in ["A;B", "A,B", "naïve", "X".repeat(LONGEST_CODE + 1).as_str()] {
            let told = change(1, strange);
            let read = read_change(&print_change(&told)).unwrap();
            assert_eq!(read, Change { code: None, ..told });
        }
    }

    #[test]
    fn more_lanes_than_fit_are_look_again() {
        let pending = Pending {
            lanes: (0..1_000).collect(),
            ..Pending::default()
        };
        let said = payloads("me", &pending);
        assert_eq!(read("you", &said[0].text), Some(Signal::LookAgain));
        let fit = Pending {
            lanes: (0..LANES as i64).map(|i| i64::MAX - i).collect(),
            ..Pending::default()
        };
        assert!(payloads(&"m".repeat(32), &fit)[0].text.len() < 8_000);
    }

    #[test]
    fn unknown_words_make_us_look_rather_than_miss_something() {
        assert_eq!(read("you", "me paused 7"), Some(Signal::LookAgain));
        assert_eq!(read("you", ""), Some(Signal::LookAgain));
    }
}
