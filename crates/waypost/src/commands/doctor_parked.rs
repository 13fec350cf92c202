//! What `waypost doctor` says of parked notifications: how many of which code, and what helps.

use super::doctor::Finding;
use crate::output;
use client::{Client, Filter, NotificationRow};
use std::collections::BTreeMap;

/// Parked notifications looked at, newest first.
const LOOKED_AT: usize = 2_000;

pub(super) async fn findings(client: &Client) -> client::Result<Vec<Finding>> {
    let parked = client.list_first(&Filter::parked(), LOOKED_AT).await?;
    // There may be more than were looked at: what is counted is then a part of it.
    let capped = parked.len() >= LOOKED_AT;
    let groups = by_code(&parked);
    let told = groups.iter().map(|(code, group)| parked_as(*code, group, capped));
    Ok(told.collect())
}

fn by_code(parked: &[NotificationRow]) -> BTreeMap<Option<&str>, Vec<&NotificationRow>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in parked {
        groups.entry(row.error_code.as_deref()).or_default().push(row);
    }
    groups
}

fn parked_as(code: Option<&str>, group: &[&NotificationRow], capped: bool) -> Finding {
    let latest = group
        .first()
        .and_then(|row| row.last_error.as_deref())
        .unwrap_or("");
    let (at_least, among) = match capped {
        true => ("at least ", format!(", counted among the newest {LOOKED_AT}")),
        false => ("", String::new()),
    };
    let what = format!(
        "{at_least}{} parked {}{among}: {}",
        group.len(),
        code.map_or("without a code".to_owned(), |code| format!("as {code}")),
        output::rows::cut(latest, 120)
    );
    Finding::new(what, code.map_or(LOOK_AT_THEM.to_owned(), advice))
}

/// All that can be said of what has no code: no filter asks for them alone.
const LOOK_AT_THEM: &str = "`waypost list --status Parked` shows them, `waypost show` what the far end said.";

/// What helps those that are parked with a code: never a command that brings the same again, or that is refused where
/// `outbox.discard_needs_reason` is on.
fn advice(code: &str) -> String {
    let discard = format!("`waypost discard --filter errorCode={code} --reason WHY`");
    let then = |first: &str| format!("{first} Then `waypost retry --filter errorCode={code}`, or {discard}.");
    match code {
        "NO_PROVIDER" => then("No provider serves this type: `waypost provider add`."),
        "NO_ADAPTER" => then("This version has no adapter for the type."),
        "NO_LIST" => then("The list does not exist: `waypost lists put`."),
        "EMPTY_LIST" => then("Nobody on the list takes this type: `waypost lists add`."),
        "BAD_SETTINGS" => then("The provider's settings will not do: `waypost provider set`."),
        "PARTIAL" => then(
            "Some recipients took it, some refused: `waypost show` names them. A retry goes to those who refused only.",
        ),
        "TEMPLATE" => then(
            "The provider does not take the template as it is: correct it there or in the provider's settings (docs/providers.md).",
        ),
        "VALIDATION" | "UNKNOWN_TYPE" => format!(
            "The provider's kind cannot send what the message says, so a retry would bring the same: correct the sender \
             (docs/providers.md) and let it send anew. Then {discard}."
        ),
        "RECIPIENT" => {
            then("The service does not know the recipient: correct the address where it is given.")
        }
        "EXPIRED" => format!(
            "It was not out by the time its sender set; a retry would expire again. `waypost resend ID --expires-at TIME` sends \
             one after all with a new end, `waypost resend --filter errorCode={code}` all of them without one. Then \
             {discard}."
        ),
        "AMBIGUOUS" => then("It may have been delivered: ask the provider before you send it again."),
        "INTERRUPTED" => then("Central ended during each attempt; its log says why."),
        _ => then(LOOK_AT_THEM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_row() -> NotificationRow {
        serde_json::from_value(serde_json::json!({
            "notificationId": "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d", "type": "Email", "status": "Parked", "retryCount": 0,
            "lastError": "no", "createdAt": "2026-01-01T00:00:00.000Z"
        }))
        .unwrap()
    }

    #[test]
    fn no_command_is_advised_that_would_bring_the_same_again() {
        for hopeless in ["EXPIRED", "VALIDATION", "UNKNOWN_TYPE"] {
            let said = advice(hopeless);
            assert!(!said.contains("waypost retry"), "{hopeless}: {said}");
            assert!(
                said.contains(&format!(
                    "waypost discard --filter errorCode={hopeless} --reason WHY"
                )),
                "{said}"
            );
        }
        assert!(advice("EXPIRED").contains("waypost resend ID --expires-at TIME"));
        assert!(advice("SMTP_550").contains("waypost retry --filter errorCode=SMTP_550"));
    }

    #[test]
    fn no_command_is_advised_for_what_no_filter_asks_for() {
        let row = a_row();
        let found = parked_as(None, &[&row], false);
        assert_eq!(found.what, "1 parked without a code: no");
        assert!(!found.advice.contains("--filter"), "{}", found.advice);
    }

    #[test]
    fn a_count_of_some_of_the_parked_is_not_told_as_all_of_them() {
        let row = a_row();
        assert_eq!(parked_as(Some("X"), &[&row], false).what, "1 parked as X: no");
        assert_eq!(
            parked_as(Some("X"), &[&row], true).what,
            "at least 1 parked as X, counted among the newest 2000: no"
        );
    }
}
