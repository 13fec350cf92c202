//! Results whose lease was lost: they never overwrite, and nothing they learned is thrown away.

use crate::harness::*;
use domain::{Clock, Status};
use store::{
    maintenance::Retention,
    outbox::{Claimed, Recorded},
};

const LOST: Recorded = Recorded::LostLease { completed: false };

const COMPLETED: Recorded = Recorded::LostLease { completed: true };

/// A row whose first claim was lost to a second one.
async fn lost(t: &TestStore) -> (Claimed, Claimed) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let first = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    let second = t.claim_one(lane).await;
    assert_eq!(first.id, second.id);
    (first, second)
}

pub async fn a_lost_lease_never_overwrites_a_retry(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(retry(&second, HOUR)).await;
    let before = t.get(first.id).await;
    assert_eq!(t.record(retry(&first, SECOND)).await, LOST);
    assert_eq!(t.get(first.id).await, before);
}

pub async fn a_lost_lease_never_overwrites_a_parked_row_with_a_retry(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(park(&second)).await;
    let before = t.get(first.id).await;
    for late in [retry(&first, SECOND), wait(&first), park(&first)] {
        assert!(matches!(t.record(late).await, LOST | Recorded::AlreadyRecorded));
        assert_eq!(t.get(first.id).await, before);
    }
}

pub async fn a_late_success_completes_a_row_that_waits(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(retry(&second, HOUR)).await;
    assert_eq!(t.record(delivered(&first)).await, COMPLETED);
    let row = t.get(first.id).await;
    assert_eq!(row.status, Status::Delivered);
    assert_eq!(row.provider_message_id.as_deref(), Some("remote-1"));
    t.clock.advance(DAY);
    assert_eq!(t.claim(first.lane, 1).await, []);
}

pub async fn a_late_success_completes_a_row_another_node_is_sending(t: &TestStore) {
    let (first, second) = lost(t).await;
    assert_eq!(t.record(delivered(&first)).await, COMPLETED);
    assert_eq!(t.status(first.id).await, Status::Delivered);
    assert_eq!(t.record(retry(&second, SECOND)).await, LOST);
    assert_eq!(t.status(first.id).await, Status::Delivered);
}

pub async fn a_late_success_completes_a_parked_row(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(park(&second)).await;
    t.clock.advance(SECOND);
    assert_eq!(t.record(delivered(&first)).await, COMPLETED);
    let row = t.get(first.id).await;
    assert_eq!(row.status, Status::Delivered);
    assert_eq!(row.delivered_at, Some(t.clock.now()));
    assert_eq!(
        row.last_code.as_deref(),
        Some("SMTP_550"),
        "its most recent failure"
    );
}

pub async fn a_late_success_leaves_a_discarded_row_discarded(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(park(&second)).await;
    t.store.discard(TENANT, &[first.id], &admin()).await.unwrap();
    let before = t.get(first.id).await;
    let log = t.store.attempts(TENANT, first.id).await.unwrap().unwrap().len();
    assert_eq!(t.record(delivered(&first)).await, LOST);
    assert_eq!(t.get(first.id).await, before);
    let after = t.store.attempts(TENANT, first.id).await.unwrap().unwrap().len();
    assert_eq!(after, log + 1, "that it went out all the same is on record");
}

pub async fn a_late_success_of_a_delivered_row_changes_nothing(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(delivered(&second)).await;
    let before = t.get(first.id).await;
    t.clock.advance(SECOND);
    assert_eq!(t.record(delivered(&first)).await, LOST);
    assert_eq!(t.get(first.id).await, before);
}

pub async fn a_late_result_is_on_record_once(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(retry(&second, HOUR)).await;
    assert_eq!(t.record(retry(&first, SECOND)).await, LOST);
    let log = t.store.attempts(TENANT, first.id).await.unwrap();
    assert_eq!(t.record(retry(&first, SECOND)).await, Recorded::AlreadyRecorded);
    assert_eq!(t.store.attempts(TENANT, first.id).await.unwrap(), log);
}

pub async fn a_late_result_of_a_purged_row_is_harmless(t: &TestStore) {
    let (first, second) = lost(t).await;
    t.record(delivered(&second)).await;
    t.clock.advance(DAY);
    let at_once = Retention {
        events: 365 * DAY,
        terminal: HOUR,
        audit: 10 * DAY,
        spent_keys: None,
        stats: 10 * DAY,
        transcripts: DAY,
    };
    assert_eq!(t.store.purge_chunk(&at_once, 10).await.unwrap().notifications, 1);
    // Whatever comes next must not be taken for the row that is gone.
    let next = t.send(first.lane).await;
    assert_eq!(t.record(delivered(&first)).await, LOST);
    assert_eq!(t.status(next).await, Status::Pending);
}
