//! What is wrong at the sites, as far as central knows.

use super::doctor::Finding;
use crate::output::{rows::cut, time};
use client::{SitePair, SiteReport, SiteRow, Timestamp};
use std::time::Duration;

/// A connected site reports every five seconds.
const SILENT_AFTER: Duration = Duration::from_secs(60);

pub(super) fn findings(sites: &[SiteRow], now: Timestamp) -> Vec<Finding> {
    sites.iter().flat_map(|site| of_site(site, now)).collect()
}

fn of_site(site: &SiteRow, now: Timestamp) -> Vec<Finding> {
    let mut found: Vec<_> = [conflict(site), absent(site, now)]
        .into_iter()
        .flatten()
        .collect();
    if let Some(report) = &site.report {
        found.extend(told(&site.id, report));
    }
    found
}

fn conflict(site: &SiteRow) -> Option<Finding> {
    let other = site.conflict.as_ref()?;
    let (node, peer) = (
        site.node.as_deref().unwrap_or("?"),
        site.peer.as_deref().unwrap_or("?"),
    );
    Some(Finding::new(
        format!(
            "two agents use the id of site {}: {node} at {peer} has its place, {} at {} was sent away {}",
            site.id,
            other.node,
            other.peer,
            time::short(other.last_seen_at)
        ),
        "Stop one of them, or give the other an id and a key of its own: `waypost sites add`. What it holds stays there.",
    ))
}

fn absent(site: &SiteRow, now: Timestamp) -> Option<Finding> {
    let id = &site.id;
    let since = site.since.map(time::short).unwrap_or_default();
    match site.presence.as_str() {
        "Offline" => Some(Finding::new(
            format!(
                "site {id} is offline {since}: {}",
                site.reason.as_deref().unwrap_or("it does not say why")
            ),
            "What it holds waits there and comes when the link is back. Its own status page (site.listen) says why it \
             cannot reach central.",
        )),
        "NeverSeen" => Some(Finding::new(
            format!("site {id} is known and has never connected"),
            "Its agent needs the key that was shown when it was added (site.key), and central's address (site.central).",
        )),
        _ => {
            let last = site.last_contact_at.filter(|at| now.since(*at) > SILENT_AFTER)?;
            Some(Finding::new(
                format!("site {id} is connected and says nothing {}", time::short(last)),
                "Its agent hangs, or its disk does: look at its log, and start it again.",
            ))
        }
    }
}

fn told(id: &str, report: &SiteReport) -> Vec<Finding> {
    let mut found = vec![];
    if let Some(why) = &report.refusing {
        found.push(Finding::new(
            format!("site {id} takes no messages: {}", cut(why, 120)),
            "Make room on its disk, or raise site.max_buffer_bytes; it goes on by itself.",
        ));
    }
    if let Some(pair) = &report.pair {
        found.extend(of_pair(id, pair));
    }
    for damage in &report.damage {
        found.push(Finding::new(
            format!("site {id} found damage {}: {}", time::short(damage.at), cut(&damage.what, 120)),
            "`waypost site damage` on its machine says what came back; `waypost site acknowledge` there says that somebody \
             has seen it.",
        ));
    }
    if report.parked > 0 {
        found.push(Finding::new(
            format!("{} messages are parked at site {id}", report.parked),
            format!(
                "`waypost parked list --site {id}` shows them with the reason; then `waypost parked retry --all --site {id}`, \
                 or `discard`."
            ),
        ));
    }
    if report.without_handler > 0 {
        found.push(Finding::new(
            format!(
                "{} messages at site {id} wait for a system or connection that is not configured there",
                report.without_handler
            ),
            format!(
                "Configure it again, or give them up: `waypost parked discard --removed NAME --site {id}`; the site's log \
                 and status page name it."
            ),
        ));
    }
    found
}

fn of_pair(id: &str, pair: &SitePair) -> Vec<Finding> {
    let mut found = vec![];
    if let Some(why) = &pair.trouble {
        found.push(Finding::new(
            format!("site {id} runs on one of its two machines; the other cannot be asked: {}", cut(why, 120)),
            "Start the other machine, or look at the network between the two; `waypost site pair` there says more.",
        ));
    }
    if let Some(why) = &pair.held {
        found.push(Finding::new(
            format!("site {id} holds calls and writes back: {}", cut(why, 160)),
            "It goes on when the two machines meet or central gives the lease. Where the other one certainly does not run: \
             `waypost site promote --force` there.",
        ));
    }
    for words in &pair.differences {
        found.push(Finding::new(
            format!("the two machines of site {id} are not alike: {}", cut(words, 160)),
            "Give both the same systems and connections, and addresses that lead to the same place from either: after a takeover \
             the other machine makes what waits.",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::{SiteConflict, SiteDamage};

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn a_site(presence: &str) -> SiteRow {
        SiteRow {
            id: "north".into(),
            registered_at: NOW,
            presence: presence.into(),
            since: Some(NOW),
            reason: Some("the link broke".into()),
            node: Some("n1".into()),
            version: None,
            peer: Some("10.0.0.1:1".into()),
            last_contact_at: Some(NOW),
            report: None,
            conflict: None,
        }
    }

    fn a_report() -> SiteReport {
        SiteReport {
            backlog: vec![],
            parked: 0,
            oldest_waiting_at: None,
            without_handler: 0,
            buffer_bytes: 0,
            refusing: None,
            damage: vec![],
            forgotten_until: None,
            pair: None,
        }
    }

    fn whats(site: SiteRow) -> Vec<String> {
        findings(&[site], NOW).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn a_site_that_is_well_is_not_mentioned() {
        let well = SiteRow {
            report: Some(a_report()),
            ..a_site("Online")
        };
        assert_eq!(whats(well), Vec::<String>::new());
    }

    #[test]
    fn each_thing_that_can_be_wrong_at_a_site_is_named() {
        let troubled = SiteReport {
            parked: 13,
            without_handler: 2,
            pair: Some(SitePair {
                role: "Active".into(),
                turn: 4,
                lease_by: None,
                lease_seconds: None,
                own_rows: None,
                held: Some("nobody gives the lease".into()),
                behind: None,
                behind_seconds: None,
                other: Some("north-b".into()),
                other_role: None,
                last_contact_at: None,
                trouble: Some("connection refused".into()),
                differences: vec![
                    "system mes is configured otherwise at the other machine".into(),
                    "connection history leads to this machine itself, which is another one after a takeover"
                        .into(),
                ],
            }),
            refusing: Some("the disk is full".into()),
            damage: vec![SiteDamage {
                at: NOW,
                what: "the buffer could not be read".into(),
                file: None,
                recovered: 3,
                lost: 1,
            }],
            ..a_report()
        };
        let site = SiteRow {
            report: Some(troubled),
            last_contact_at: Some(NOW - 2 * SILENT_AFTER),
            conflict: Some(SiteConflict {
                node: "n2".into(),
                peer: "10.0.0.2:1".into(),
                version: "0.1.0".into(),
                since: NOW,
                last_seen_at: NOW,
            }),
            ..a_site("Online")
        };
        let found = whats(site).join("\n");
        for part in [
            "n1 at 10.0.0.1:1 has its place, n2 at 10.0.0.2:1 was sent away",
            "says nothing",
            "takes no messages: the disk is full",
            "found damage",
            "the other cannot be asked: connection refused",
            "holds calls and writes back: nobody gives the lease",
            "the two machines of site north are not alike: system mes is configured otherwise",
            "not alike: connection history leads to this machine itself",
            "13 messages are parked at site north",
            "2 messages at site north wait for a system",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
        assert!(whats(a_site("Offline"))[0].contains("offline"));
        assert!(whats(a_site("NeverSeen"))[0].contains("never connected"));
    }
}
