//! Two machines of a site's pair, connected to whichever nodes of central: both are known, and the one of the higher turn is the site.

use crate::harness::*;
use domain::SiteId;
use std::time::Duration;
use store::sites::{PRESENCE_TIMEOUT, SiteSeen};
use uuid::Uuid;

fn north() -> SiteId {
    SiteId::new("north")
}

fn machine(name: &str, central_node: &str, turn: u64) -> SiteSeen {
    SiteSeen {
        tenant: TENANT,
        site: north(),
        session: Uuid::new_v4(),
        central_node: central_node.into(),
        connected_for: Duration::ZERO,
        silent_for: Duration::ZERO,
        agent_node: name.into(),
        agent_version: "0.1.0".into(),
        peer: "10.0.0.7:4711".into(),
        report: None,
        agent_buffer: Uuid::from_u128(5),
        agent_run: Uuid::nil(),
        turn: Some(turn),
    }
}

async fn is_the_site(t: &TestStore) -> Option<String> {
    let site = t.store.site(TENANT, &north()).await.unwrap().unwrap();
    site.session.and(site.agent_node)
}

async fn machines(t: &TestStore) -> Vec<(String, u64)> {
    let found = t.store.site_machines(TENANT, &north()).await.unwrap();
    found.into_iter().map(|m| (m.central_node, m.turn)).collect()
}

async fn sees(t: &TestStore, seen: &[&SiteSeen]) {
    let seen = seen.iter().map(|seen| (*seen).clone()).collect();
    t.store.sites_seen(seen).await.unwrap();
}

pub async fn of_two_machines_the_one_of_the_higher_turn_is_the_site_whichever_came_later(t: &TestStore) {
    let (a, b) = (machine("a", "c1", 4), machine("b", "c2", 5));
    sees(t, &[&b]).await;
    t.clock.advance(SECOND);
    sees(t, &[&a]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("b"), "it came first");
    assert_eq!(machines(t).await, [("c2".into(), 5), ("c1".into(), 4)]);
    // The other begins a turn of its own: that is said over the connection it has, which is the older one by now.
    t.clock.advance(SECOND);
    let again = machine("b", "c2", 5);
    let ahead = SiteSeen {
        turn: Some(6),
        connected_for: SECOND,
        ..a.clone()
    };
    sees(t, &[&again]).await;
    sees(t, &[&ahead]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("a"));
    sees(t, &[&again]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("a"), "and stays it");
    assert_eq!(machines(t).await, [("c1".into(), 6), ("c2".into(), 5)]);
}

pub async fn two_machines_that_one_node_writes_down_at_once_are_told_apart_by_their_turns(t: &TestStore) {
    let (a, b) = (machine("a", "c1", 4), machine("b", "c1", 5));
    sees(t, &[&a, &b]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("b"));
    sees(t, &[&b, &a]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("b"));
}

pub async fn a_machine_that_left_or_is_not_heard_of_any_more_stands_in_nobodys_way(t: &TestStore) {
    let (a, b) = (machine("a", "c1", 4), machine("b", "c2", 5));
    sees(t, &[&b]).await;
    sees(t, &[&a]).await;
    let (site, why) = (north(), "the link broke");
    let left = t.store.site_left(TENANT, &site, b.session, why);
    left.await.unwrap();
    assert_eq!(machines(t).await, [("c1".into(), 4)]);
    sees(t, &[&a]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("a"));
    // The node of central that has the other dies, and cannot say that it left.
    sees(t, &[&b]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("b"));
    t.clock.advance(PRESENCE_TIMEOUT + SECOND);
    sees(t, &[&machine("a", "c1", 4)]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("a"));
    assert_eq!(machines(t).await, [("c1".into(), 4)]);
}

pub async fn a_site_of_one_machine_has_none_of_a_pair(t: &TestStore) {
    let alone = SiteSeen {
        turn: None,
        ..machine("a", "c1", 0)
    };
    sees(t, &[&alone]).await;
    assert_eq!(is_the_site(t).await.as_deref(), Some("a"));
    assert!(machines(t).await.is_empty());
}
