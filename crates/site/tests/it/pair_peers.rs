//! What a machine makes of the other one: of an older one, and of one whose targets are not the same.

use crate::{
    logged::Logged,
    pair_world::{Live, a_pair, notify, world},
};
use domain::{
    SiteId,
    pair::{History, Node, Role},
};
use link::peer::{self, About, PeerOptions};
use secrecy::SecretString;
use std::collections::BTreeMap;
use store::buffer::replication::SCHEMA;
use uuid::Uuid;

async fn differences(live: &Live) -> Vec<String> {
    let agent = live.agent().unwrap();
    agent.site.pair().unwrap().status().await.differences
}

#[tokio::test]
async fn an_older_standby_is_turned_away_with_a_line_in_the_log_and_the_active_machine_goes_on() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let (logged, _guard) = Logged::start();
    let (site, key) = (SiteId::new("north"), SecretString::from(a.machine.key));
    let address = format!("http://{}", a.machine.listen).parse().unwrap();
    let older = About {
        name: "north-b".into(),
        version: "0.0.9".into(),
        schema: SCHEMA - 1,
        targets: BTreeMap::default(),
    };
    let node = Node {
        id: Uuid::new_v4(),
        role: Role::Standby,
        history: History::default(),
        position: 0,
        floor: 0,
        stale: false,
        joined: None,
        vouches: None,
    };
    let refused = peer::connect(&PeerOptions::new(site, key, address), older, node).await;
    let words = "north-b runs Waypost 0.0.9, which does not understand the rows of this one: update the standby first";
    let why = refused.unwrap_err();
    assert!(why.contains(words), "{why}");
    let lines = logged.with("was turned away");
    assert!(lines.iter().any(|line| line.contains(words)), "{lines:?}");
    let ids = notify(&a, 2).await;
    b.holds(ids.len() as u64).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn targets_that_lead_to_the_machine_itself_and_those_that_differ_are_shown_and_reported() {
    let mut world = world();
    world.machines[0].local_targets = vec!["connection history".into()];
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let mut found = vec![];
    testkit::until("all of them to be told", async || {
        found = differences(&a).await;
        found.len() == 3
    })
    .await;
    for words in [
        "connection history leads to this machine itself",
        "system of north-a is configured here and not at the other machine",
        "system of north-b is configured at the other machine and not here",
    ] {
        assert!(
            found.iter().any(|line| line.contains(words)),
            "{words}: {found:?}"
        );
    }
    // The standby hears of the active machine's targets with an answer of its own.
    let mut there = vec![];
    testkit::until("those that differ to be told by the standby", async || {
        there = differences(&b).await;
        there.len() == 2
    })
    .await;
    assert!(
        there.iter().all(|line| !line.contains("leads to this machine")),
        "{there:?}"
    );
    let reported = a.agent().unwrap().site.report().await;
    assert_eq!(reported.pair.unwrap().differences, found);
    a.end().await;
    b.end().await;
}
