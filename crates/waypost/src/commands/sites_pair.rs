//! A site's two machines in the list of `waypost sites`: how they stand in one column, what is wrong with them in the remark.

use crate::output::time::{roughly, short};
use client::SitePair;
use std::time::Duration;

/// Which machine is active and which follows, with its lag, when it was heard of and who gave the lease: also where something is wrong.
pub(super) fn stands(pair: &SitePair, machine: Option<&str>) -> String {
    let own = pair.own_rows.filter(|n| *n > 0).map(|n| format!("{n} only here"));
    let parts = [
        Some(named(&pair.role, machine)),
        pair.other.as_ref().map(|name| other(pair, name)),
        Some(lease(pair)),
        own,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What is not well with the two, worst first.
pub(super) fn trouble(pair: &SitePair) -> Option<String> {
    let held = pair.held.as_ref().map(|why| format!("calls are held: {why}"));
    let alone = pair.trouble.as_ref().map(|why| format!("no standby: {why}"));
    let parts: Vec<_> = [held, alone].into_iter().flatten().collect();
    Some(parts.join("; ")).filter(|words| !words.is_empty())
}

fn named(role: &str, machine: Option<&str>) -> String {
    let role = role.to_lowercase();
    machine.map_or_else(|| role.clone(), |name| format!("{role} {name}"))
}

fn other(pair: &SitePair, name: &str) -> String {
    let role = pair.other_role.as_deref().unwrap_or("other");
    let heard = pair.last_contact_at.map(|at| format!(", heard {}", short(at)));
    named(role, Some(name)) + &lag(pair) + &heard.unwrap_or_default()
}

fn lease(pair: &SitePair) -> String {
    match (&pair.lease_by, pair.lease_seconds) {
        (None, _) => "no lease".into(),
        (Some(by), None) => format!("lease by {by}"),
        (Some(by), Some(left)) => format!("lease by {by} for {left}s"),
    }
}

/// How much the standby lacks, and since when.
fn lag(pair: &SitePair) -> String {
    match (pair.behind, pair.behind_seconds) {
        (None | Some(0), _) => String::new(),
        (Some(n), None) => format!(", {n} behind"),
        (Some(n), Some(seconds)) => format!(", {n} behind for {}", roughly(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, SystemClock};

    fn a_pair() -> SitePair {
        SitePair {
            role: "Active".into(),
            turn: 4,
            lease_by: Some("Standby".into()),
            lease_seconds: Some(12),
            held: None,
            own_rows: Some(3),
            behind: Some(70),
            behind_seconds: Some(9),
            other: Some("north-b".into()),
            other_role: Some("Standby".into()),
            last_contact_at: Some(SystemClock.now() - Duration::from_secs(300)),
            trouble: None,
            differences: vec![],
        }
    }

    const STANDS: &str = "active north-a; standby north-b, 70 behind for 9s, heard 5m ago; lease by Standby for 12s; 3 only here";

    #[test]
    fn a_pair_is_told_with_both_names_its_lag_its_lease_and_when_the_standby_was_heard_of() {
        assert_eq!(stands(&a_pair(), Some("north-a")), STANDS);
        assert_eq!(trouble(&a_pair()), None);
        let whole = SitePair {
            behind: Some(0),
            own_rows: Some(0),
            lease_by: Some("Nobody".into()),
            lease_seconds: None,
            ..a_pair()
        };
        assert_eq!(
            stands(&whole, None),
            "active; standby north-b, heard 5m ago; lease by Nobody"
        );
        let unmet = SitePair {
            other: None,
            lease_by: None,
            ..whole
        };
        assert_eq!(stands(&unmet, Some("north-a")), "active north-a; no lease");
    }

    #[test]
    fn how_a_pair_stands_is_told_also_where_something_is_wrong() {
        let alone = SitePair {
            held: Some("no lease was given".into()),
            trouble: Some("connection refused".into()),
            ..a_pair()
        };
        assert_eq!(stands(&alone, Some("north-a")), STANDS);
        assert_eq!(
            trouble(&alone).unwrap(),
            "calls are held: no lease was given; no standby: connection refused"
        );
    }
}
