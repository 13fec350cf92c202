//! One row, now and then, to see whether a hold is still needed.

use crate::{
    harness::*,
    suite::lanes::{hold_of, waiting},
};
use domain::{Actor, Clock, HoldReason, LaneId, LeaseToken};
use store::outbox::Claims;

async fn probe(t: &TestStore, lane: LaneId) -> Claims {
    t.store
        .claim_probe(lane, LeaseToken::mint(), LEASE)
        .await
        .unwrap()
}

pub async fn a_probe_is_taken_once(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send_many(lane, 5).await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(MINUTE);
    let claims = probe(t, lane).await;
    assert_eq!(claims.rows.len(), 1);
    assert_eq!(claims.probing.map(|h| h.reason), Some(HoldReason::Auth));
    assert_eq!(probe(t, lane).await.rows, [], "another node finds it taken");
    t.clock.advance(LEASE);
    assert_eq!(probe(t, lane).await.rows.len(), 1, "the prober died");
}

pub async fn a_probe_waits_for_its_time(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    assert_eq!(
        probe(t, lane).await.rows,
        [],
        "a lane that is not held is not probed"
    );
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(MINUTE - SECOND);
    assert_eq!(probe(t, lane).await.rows, []);
    t.clock.advance(SECOND);
    assert_eq!(probe(t, lane).await.rows.len(), 1);
}

pub async fn a_probe_of_an_empty_lane_takes_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(MINUTE);
    assert_eq!(probe(t, lane).await.rows, []);
    t.send(lane).await;
    assert_eq!(
        probe(t, lane).await.rows.len(),
        1,
        "the empty look did not use the probe up"
    );
}

pub async fn a_probe_that_asked_nobody_does_not_count_and_leaves_its_place(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send_many(lane, 2).await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(MINUTE);
    assert_eq!(probe(t, lane).await.rows.len(), 1);
    let at_once = store::outbox::HoldLane {
        probe_after: Some(std::time::Duration::ZERO),
        ..hold(lane, HoldReason::Auth)
    };
    assert!(t.store.hold_lane(at_once).await.unwrap());
    let held = hold_of(t, lane).await.unwrap();
    assert_eq!((held.probes, held.next_probe), (0, Some(t.clock.now())));
    assert_eq!(probe(t, lane).await.rows.len(), 1);
}

pub async fn a_failed_probe_counts_and_moves_the_next(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    let since = t.clock.now();
    for probes in 1..=3 {
        t.clock.advance(MINUTE);
        let claimed = probe(t, lane).await.rows.remove(0);
        t.record(wait(&claimed)).await;
        assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
        let held = hold_of(t, lane).await.unwrap();
        assert_eq!((held.probes, held.since), (probes, since));
        assert_eq!(held.next_probe, Some(t.clock.now() + MINUTE));
        assert_eq!(probe(t, lane).await.rows, []);
    }
}

pub async fn an_operators_hold_is_never_probed(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap();
    t.clock.advance(DAY);
    assert_eq!(probe(t, lane).await.rows, []);
    assert_eq!(waiting(t, lane).await.next_probe, None);
}

pub async fn a_probe_that_fails_for_another_reason_shows_that_one(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Down)).await.unwrap();
    let since = t.clock.now();
    t.clock.advance(MINUTE);
    let claimed = probe(t, lane).await.rows.remove(0);
    t.record(wait(&claimed)).await;
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    let held = hold_of(t, lane).await.unwrap();
    assert_eq!(
        (held.reason, held.probes, held.since),
        (HoldReason::Auth, 1, since)
    );
}

pub async fn a_paused_lane_is_not_probed(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Quota)).await.unwrap();
    t.store.pause_lane(lane, HOUR).await.unwrap();
    t.clock.advance(HOUR - SECOND);
    assert_eq!(probe(t, lane).await.rows, []);
    t.clock.advance(SECOND);
    assert_eq!(probe(t, lane).await.rows.len(), 1);
}

pub async fn a_successful_probe_and_a_resume_open_the_lane(t: &TestStore) {
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 3).await;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    t.clock.advance(MINUTE);
    let claims = probe(t, lane).await;
    assert_eq!(claims.rows[0].id, ids[0], "the oldest");
    t.record(delivered(&claims.rows[0])).await;
    let reason = claims.probing.unwrap().reason;
    assert!(
        t.store
            .resume_lane(lane, Some(reason), &Actor::system())
            .await
            .unwrap()
    );
    assert_eq!(t.claim(lane, 10).await.len(), 2);
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    assert_eq!(
        hold_of(t, lane).await.unwrap().probes,
        0,
        "a new hold counts from nothing"
    );
}
