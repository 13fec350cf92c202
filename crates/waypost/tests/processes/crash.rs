//! A node killed with SIGKILL at random moments loses nothing it acknowledged and repeats no more than what it
//! was sending.

use crate::{
    far_end,
    load::{Load, one_try},
    node::{Node, Setup},
    size,
};
use client::Client;
use domain::{Status, SystemClock, TenantId};
use simulator::HttpReceiver;
use std::{collections::HashSet, sync::Arc, time::Duration};
use store::{
    Store,
    query::{Filter, Page},
    sqlite::SqliteStore,
};
use testkit::until;

/// Ids that wait in the store although the far end has taken them: what was in flight at the kill.
pub async fn sent_but_not_recorded(store: &dyn Store, far_end: &HttpReceiver) -> u64 {
    let filter = Filter {
        status: vec![Status::Pending, Status::Retrying],
        ..Filter::default()
    };
    let (mut n, mut after) = (0, None);
    loop {
        let page = store
            .list(TenantId::DEFAULT, &filter, Page { limit: 1000, after })
            .await
            .unwrap();
        let taken =
            |row: &&store::query::Notification| far_end.deliveries_of(&row.submission.id.to_string()) > 0;
        n += page.rows.iter().filter(taken).count() as u64;
        after = page.next;
        if after.is_none() {
            return n;
        }
    }
}

/// Looks in a row without anything new. After this process stood still, one alone may come before anybody has read what was sent.
const QUIET_LOOKS: u32 = 5;

/// Waits until the far end hears nothing more from a killed process.
pub async fn quiet(far_end: &HttpReceiver) {
    let (mut before, mut quiet) = (far_end.counts().requests, 0);
    while quiet < QUIET_LOOKS {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = far_end.counts().requests;
        quiet = if now == before { quiet + 1 } else { 0 };
        before = now;
    }
}

pub async fn drained(client: &Client) {
    until("nothing to be waiting any more", async || {
        let Ok(kpis) = client.kpis().await else {
            return false;
        };
        assert_eq!(kpis.parked_count, 0);
        kpis.queue_depth == 0
    })
    .await;
}

/// Everything acknowledged was taken; nothing came twice beyond `in_flight`.
pub fn check(load: &Load, far_end: &HttpReceiver, in_flight: u64) {
    let acknowledged = load.acknowledged.lock().unwrap().clone();
    let unique: HashSet<_> = acknowledged.iter().collect();
    assert_eq!(unique.len(), acknowledged.len());
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| far_end.deliveries_of(&id.to_string()) == 0)
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged were never delivered",
        lost.len(),
        acknowledged.len()
    );
    let repeats = far_end.counts().repeats;
    println!(
        "{} acknowledged, {repeats} repeated, {in_flight} in flight at the kills",
        acknowledged.len()
    );
    assert!(
        repeats <= in_flight,
        "{repeats} came twice, but only {in_flight} were in flight at the kills"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_loses_nothing_acknowledged_and_repeats_only_what_was_in_flight_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let far_end = far_end::receiver().await;
    let mut node = Node::start(&setup).await;
    far_end::provider(&node.client, &far_end, 16).await;
    let (kills, per_kill) = (size::pick(3, 50), size::pick(1000, 2000));
    let load = Load::new((kills + 1) * per_kill, one_try(&node.client));
    let mut senders = load.start(16);
    let mut in_flight = 0;
    for kill in 0..kills {
        load.acknowledged(kill * per_kill + rand::random_range(1..per_kill))
            .await;
        node.kill();
        quiet(&far_end).await;
        let path = folder.path().join("waypost.db");
        let store = SqliteStore::open_beside(&path, Arc::new(SystemClock)).unwrap();
        in_flight += sent_but_not_recorded(&store, &far_end).await;
        assert_eq!(store::Maintenance::misplaced(&store).await.unwrap(), 0);
        store::Maintenance::close(&store).await;
        drop(store);
        node = Node::start(&setup).await;
        load.send_to(&one_try(&node.client));
    }
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    drained(&node.client).await;
    check(&load, &far_end, in_flight);
    assert_eq!(node.stop().await, 0, "an orderly stop ends with 0");
    let store = SqliteStore::open_beside(&folder.path().join("waypost.db"), Arc::new(SystemClock)).unwrap();
    assert_eq!(store::Maintenance::misplaced(&store).await.unwrap(), 0);
}
