//! Purging goes on beside everything else and forgets nothing that matters.

use crate::world::{TENANT, World, secs};
use central::{ingest::Submitted, purge};
use store::maintenance::Retention;
use testkit::a_notification;

const YEAR: u64 = 365 * 86_400;

fn keep() -> Retention {
    Retention {
        events: secs(1_000_000_000),
        terminal: secs(YEAR),
        audit: secs(YEAR),
        spent_keys: None,
        stats: domain::kpi::STATS_KEPT,
        transcripts: secs(YEAR),
    }
}

#[tokio::test]
async fn purge_runs_in_chunks_with_submits_committed_in_between() {
    let mut world = World::new().await;
    let mut old = vec![];
    for _ in 0..(2 * purge::CHUNK + 10) {
        old.push(a_notification().0);
    }
    world.central.ingest.submit(old).await.unwrap();
    assert_eq!(world.sweep().await.delivered, u64::from(2 * purge::CHUNK + 10));
    world.advance(secs(YEAR + 1));

    let mut chunks = vec![];
    let store = world.central.store.clone();
    let mut committed_between = vec![];
    let mut gone = 0;
    loop {
        let chunk = store.purge_chunk(&keep(), purge::CHUNK).await.unwrap();
        chunks.push(chunk.notifications);
        gone += chunk.notifications;
        committed_between.push(world.send(a_notification()).await);
        if chunk.notifications == 0 {
            break;
        }
    }
    assert!(chunks.iter().all(|n| *n <= u64::from(purge::CHUNK)), "{chunks:?}");
    assert!(chunks.len() >= 3);
    assert_eq!(gone, u64::from(2 * purge::CHUNK + 10));
    for id in committed_between {
        assert!(store.get(TENANT, id).await.unwrap().is_some());
    }
    world.assert_nothing_misplaced().await;
}

#[tokio::test]
async fn what_has_not_ended_is_never_purged_and_a_purged_id_is_still_a_duplicate() {
    let mut world = World::new().await;
    let delivered = a_notification();
    let id = world.send(delivered.clone()).await;
    world.sweep().await;
    let held = domain::ProviderId::new("mail");
    world
        .central
        .providers
        .hold(TENANT, &held, None, &crate::world::somebody())
        .await
        .unwrap();
    let waiting = world.send(a_notification()).await;
    world.advance(secs(10 * YEAR));
    let purged = purge::purge(&*world.central.store, &keep(), |_| {})
        .await
        .unwrap();
    assert_eq!(purged.notifications, 1);
    assert!(world.central.store.get(TENANT, id).await.unwrap().is_none());
    assert!(world.central.store.get(TENANT, waiting).await.unwrap().is_some());

    let again = delivered.0;
    let answers = world.central.ingest.submit(vec![again]).await.unwrap();
    assert_eq!(answers, [Submitted::Duplicate { id, status: None }]);
}
