//! A purge beside somebody who replays what is old enough to go.

use super::Schema;
use crate::{
    harness::{DAY, HOUR, TENANT, TestStore},
    suite::events::{due, emit, event, publish_now},
};
use domain::{EventStatus, ManualClock, ScheduleStatus};
use std::{sync::Arc, time::Duration};
use store::{
    events::{Event, EventEnd, SettleEvent},
    maintenance::Retention,
};
use tokio::time::timeout;
use tokio_postgres::Client;

const PURGE_TIMEOUT: Duration = Duration::from_secs(20);

const KEEP: Retention = Retention {
    events: DAY,
    terminal: DAY,
    audit: DAY.saturating_mul(365),
    spent_keys: None,
    stats: DAY.saturating_mul(31),
    transcripts: DAY.saturating_mul(365),
};

async fn with_admin() -> (TestStore, Client) {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let store = schema.open(&clock, "one").await;
    (TestStore::new(Arc::new(store), clock, ()), schema.admin().await)
}

async fn old_event(t: &TestStore) -> Event {
    emit(t, vec![event("1")]).await;
    due(t).await.remove(0)
}

/// Begins what a replay does, purges, and then commits the replay. A purge that waited for the replay would go on to delete.
async fn purge_beside(t: &TestStore, admin: &Client, replay: &str) {
    t.clock.advance(DAY + HOUR);
    admin.batch_execute(&format!("begin; {replay}")).await.unwrap();
    let purged = timeout(PURGE_TIMEOUT, t.store.purge_chunk(&KEEP, 10)).await;
    let purged = purged.expect("the purge waits for no replay");
    admin.batch_execute("commit").await.unwrap();
    purged.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_being_replayed_is_not_purged() {
    let (t, by) = with_admin().await;
    let row = old_event(&t).await;
    let settle = SettleEvent {
        seq: row.seq,
        to: EventEnd::Failed,
        error: "Missing data".into(),
    };
    t.store.settle_events(vec![settle]).await.unwrap();
    purge_beside(&t, &by, "update outbox_messages set status = 'Pending'").await;
    let found = t.store.event(TENANT, row.id).await.unwrap();
    assert_eq!(found.map(|event| event.status), Some(EventStatus::Pending));
    assert_eq!(due(&t).await.len(), 1, "and it is worked on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_whose_schedule_is_being_replayed_is_not_purged() {
    let (t, by) = with_admin().await;
    let row = old_event(&t).await;
    let mut work = publish_now(&t, &row, vec![]);
    work.schedule.status = ScheduleStatus::Failed;
    t.store.publish_events(vec![work]).await.unwrap();
    let replay = "update schedules set status = 'Pending', next_look_at = now()";
    purge_beside(&t, &by, replay).await;
    assert!(t.store.event(TENANT, row.id).await.unwrap().is_some());
    let schedule = t.store.schedule(TENANT, row.id).await.unwrap();
    assert_eq!(schedule.map(|s| s.status), Some(ScheduleStatus::Pending));
    // What nobody touches any more goes.
    let ended = "update schedules set status = 'Failed', next_look_at = null";
    by.batch_execute(ended).await.unwrap();
    t.store.purge_chunk(&KEEP, 10).await.unwrap();
    assert!(t.store.schedule(TENANT, row.id).await.unwrap().is_none());
    assert!(t.store.event(TENANT, row.id).await.unwrap().is_none());
}
