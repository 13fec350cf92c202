//! What waits past its time.

use crate::harness::*;
use domain::{AuditKind, AuditStatus, Clock, HoldReason, NotificationId, Status};
use store::query::KpiAsk;

async fn send_until(t: &TestStore, lane: domain::LaneId, wait: std::time::Duration) -> NotificationId {
    let expiring = saying(mail(), |c| c.expires_at = Some(t.clock.now() + wait));
    t.accept(lane, expiring).await
}

async fn told(t: &TestStore) -> bool {
    t.store.lanes_waiting().await.unwrap().chores.expired
}

async fn park_expired(t: &TestStore, limit: u32) -> Vec<NotificationId> {
    let parked = t.store.park_expired(limit).await.unwrap();
    parked.into_iter().map(|(_, id)| id).collect()
}

pub async fn a_row_in_a_held_lane_is_parked_when_its_time_has_come(t: &TestStore) {
    let lane = t.lane("mail").await;
    let expiring = send_until(t, lane, MINUTE).await;
    let other = t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap();
    t.clock.advance(MINUTE - SECOND);
    assert!(!told(t).await);
    assert_eq!(park_expired(t, 10).await, []);
    t.clock.advance(SECOND);
    assert!(told(t).await, "a look at the lanes tells");
    assert_eq!(t.store.park_expired(10).await.unwrap(), [(TENANT, expiring)]);
    assert!(!told(t).await);
    let row = t.get(expiring).await;
    assert_eq!(
        (row.status, row.ended_at, row.retry_count),
        (Status::Parked, Some(t.clock.now()), 0)
    );
    assert_eq!(row.last_code.as_deref(), Some("EXPIRED"));
    assert!(row.last_error.unwrap().contains("time had passed"));
    assert_eq!(t.status(other).await, Status::Pending);
    let log = t.store.attempts(TENANT, expiring).await.unwrap().unwrap();
    let last = log.last().unwrap();
    assert_eq!(
        (last.kind, last.status, last.actor.as_str(), last.code.as_deref()),
        (
            AuditKind::NotifyDeliver,
            AuditStatus::Parked,
            "system",
            Some("EXPIRED")
        )
    );
    let ask = KpiAsk {
        stuck_after: DAY,
        delivered_window: DAY,
    };
    let kpis = t.store.kpis(Some(TENANT), ask).await.unwrap();
    assert_eq!((kpis.queue_depth, kpis.parked_count), (1, 1));
}

pub async fn a_row_that_is_being_sent_does_not_expire_meanwhile(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = send_until(t, lane, SECOND).await;
    let claimed = t.claim_one(lane).await;
    t.clock.advance(2 * SECOND);
    assert!(!told(t).await);
    assert_eq!(park_expired(t, 10).await, []);
    t.record(delivered(&claimed)).await;
    assert_eq!(t.status(id).await, Status::Delivered);
}

pub async fn a_row_whose_attempt_was_interrupted_expires_and_says_so(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = send_until(t, lane, SECOND).await;
    t.claim_one(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(LEASE + SECOND);
    assert_eq!(park_expired(t, 10).await, [id]);
    assert!(t.get(id).await.last_error.unwrap().contains("interrupted"));
}

pub async fn the_longest_overdue_go_first_and_no_more_than_asked(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut ids = vec![];
    for seconds in [3, 1, 2] {
        ids.push(send_until(t, lane, SECOND * seconds).await);
    }
    t.clock.advance(MINUTE);
    assert_eq!(park_expired(t, 1).await, [ids[1]]);
    let mut rest = park_expired(t, 10).await;
    rest.sort();
    let mut wanted = vec![ids[0], ids[2]];
    wanted.sort();
    assert_eq!(rest, wanted);
}

pub async fn a_row_sent_round_again_past_its_time_expires_again(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = send_until(t, lane, SECOND).await;
    t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap();
    t.clock.advance(SECOND);
    assert_eq!(park_expired(t, 10).await, [id]);
    t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
    assert_eq!(t.get(id).await.last_error, None);
    assert_eq!(park_expired(t, 10).await, [id]);
}
