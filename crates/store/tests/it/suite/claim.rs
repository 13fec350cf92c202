//! Claiming, and giving back.

use crate::harness::*;
use domain::{Clock, LeaseToken, Status, Target};
use std::collections::HashSet;
use store::outbox::{LaneWant, Lease};

pub async fn nothing_waiting_gives_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    assert_eq!(t.claim(lane, 10).await, []);
    assert_eq!(t.store.lanes_waiting().await.unwrap().lanes, []);
}

pub async fn oldest_first_within_a_lane(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut ids = vec![];
    for _ in 0..5 {
        ids.push(t.send(lane).await);
        t.clock.advance(SECOND);
    }
    ids.extend(t.send_many(lane, 3).await);
    let early: Vec<_> = t.claim(lane, 2).await.iter().map(|c| c.id).collect();
    let late: Vec<_> = t.claim(lane, 10).await.iter().map(|c| c.id).collect();
    assert_eq!([early, late].concat(), ids);
}

pub async fn a_lane_gives_no_more_than_asked(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send_many(lane, 10).await;
    assert_eq!(t.claim(lane, 0).await.len(), 0);
    assert_eq!(t.claim(lane, 3).await.len(), 3);
    assert_eq!(t.claim(lane, 100).await.len(), 7);
}

pub async fn several_lanes_in_one_claim_each_give_their_share(t: &TestStore) {
    let (a, b, c) = (t.lane("a").await, t.lane("b").await, t.lane("c").await);
    for lane in [a, b, c] {
        t.send_many(lane, 5).await;
    }
    let wants = [
        LaneWant { lane: a, n: 2 },
        LaneWant { lane: b, n: 9 },
        LaneWant { lane: c, n: 1 },
    ];
    let claims = t
        .store
        .claim_due(&wants, LeaseToken::mint(), LEASE)
        .await
        .unwrap();
    let of = |lane| claims.rows.iter().filter(|r| r.lane == lane).count();
    assert_eq!((of(a), of(b), of(c)), (2, 5, 1));
}

pub async fn a_claim_carries_everything_an_attempt_needs(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    let now = t.clock.now();
    let sent = saying(from_site("plant-2"), |c| {
        c.target = Target::Recipients(vec!["a@example.com".into()]);
        c.type_data = Some("{}".into());
        c.expires_at = Some(now + DAY);
        c.body_html = Some("<p>hello</p>".into());
    });
    t.accept(provider.lane, sent.clone()).await;
    t.clock.advance(SECOND);
    let claimed = t.claim_one(provider.lane).await;
    assert_eq!(
        (claimed.tenant, claimed.id, claimed.lane),
        (TENANT, sent.id, provider.lane)
    );
    assert_eq!(claimed.config_version, provider.version);
    assert_eq!(
        (claimed.generation, claimed.attempts, claimed.unknowns),
        (0, 0, 0)
    );
    assert_eq!(claimed.interruptions, 0);
    assert_eq!((claimed.created_at, claimed.waiting_since), (now, now));
    assert_eq!((*claimed.content, claimed.trace), (sent.content, sent.trace));
    assert_eq!(claimed.site.as_deref(), Some("plant-2"));
    assert_eq!(claimed.known, []);
    let shown = t.get(sent.id).await;
    assert_eq!(shown.last_attempt_at, Some(now + SECOND));
    assert_eq!(shown.next_attempt_at, Some(now + SECOND + LEASE));
}

pub async fn a_claimed_row_is_not_given_out_twice(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.claim_one(lane).await;
    t.clock.advance(LEASE - SECOND);
    assert_eq!(t.claim(lane, 1).await, []);
}

pub async fn two_workers_never_claim_the_same_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let sent: HashSet<_> = t.send_many(lane, 400).await.into_iter().collect();
    let workers = (0..8).map(|_| {
        let store = t.store.clone();
        tokio::spawn(async move {
            let mut mine = vec![];
            loop {
                let want = LaneWant { lane, n: 7 };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
                if claims.rows.is_empty() {
                    return mine;
                }
                mine.extend(claims.rows.into_iter().map(|r| r.id));
            }
        })
    });
    let claimed: Vec<_> = futures_util::future::join_all(workers)
        .await
        .into_iter()
        .flat_map(|mine| mine.unwrap())
        .collect();
    assert_eq!(claimed.len(), 400);
    assert_eq!(claimed.into_iter().collect::<HashSet<_>>(), sent);
}

pub async fn what_is_not_due_is_not_claimed(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    t.record(retry(&claimed, MINUTE)).await;
    t.clock.advance(MINUTE - SECOND);
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(SECOND);
    t.claim_one(lane).await;
}

pub async fn an_expired_lease_is_claimed_again_and_counted(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.claim_one(lane).await;
    for interrupted in 1..=3 {
        t.clock.advance(LEASE);
        let again = t.claim_one(lane).await;
        assert_eq!((again.attempts, again.interruptions), (interrupted, interrupted));
    }
    let shown = t.get(id).await;
    assert_eq!((shown.status, shown.retry_count), (Status::Retrying, 3));
}

pub async fn a_released_row_is_due_at_once_and_uncounted(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    t.store.release(&[claimed.lease]).await.unwrap();
    assert_eq!(t.status(id).await, Status::Pending);
    let again = t.claim_one(lane).await;
    assert_eq!((again.attempts, again.interruptions), (0, 0));
}

pub async fn releasing_after_an_interruption_does_not_count_it_twice(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.claim_one(lane).await;
    t.clock.advance(LEASE);
    let second = t.claim_one(lane).await;
    assert_eq!((second.attempts, second.interruptions), (1, 1));
    t.store.release(&[second.lease]).await.unwrap();
    let third = t.claim_one(lane).await;
    assert_eq!((third.attempts, third.interruptions), (1, 1));
    assert_eq!(t.get(id).await.retry_count, 1);
}

pub async fn releasing_a_lost_lease_changes_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let lost = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.claim_one(lane).await;
    let before = t.get(id).await;
    t.store.release(&[lost.lease]).await.unwrap();
    assert_eq!(t.get(id).await, before);
    assert_eq!(t.claim(lane, 1).await, []);
}

pub async fn a_renewed_lease_lasts(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    for _ in 0..3 {
        t.clock.advance(LEASE - SECOND);
        let held = t.store.renew(&[claimed.lease], LEASE).await.unwrap();
        assert_eq!(held, [claimed.lease]);
    }
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(LEASE);
    assert_eq!(t.claim_one(lane).await.interruptions, 1);
}

pub async fn renewing_answers_only_with_what_is_still_held(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send_many(lane, 3).await;
    let claimed = t.claim(lane, 3).await;
    t.record(delivered(&claimed[0])).await;
    t.store.release(&[claimed[1].lease]).await.unwrap();
    let asked: Vec<Lease> = claimed.iter().map(|c| c.lease).collect();
    assert_eq!(t.store.renew(&asked, LEASE).await.unwrap(), [claimed[2].lease]);
}

pub async fn stale_leases_are_due_at_once_and_count_as_interrupted(t: &TestStore) {
    // Elsewhere than on an embedded store other nodes may hold them; there it does nothing.
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.claim_one(lane).await;
    t.store.void_stale_leases().await.unwrap();
    assert_eq!(
        t.claim(lane, 1).await,
        [],
        "what this process claimed is not stale"
    );
}

pub async fn a_claim_tells_the_directory_version_and_the_time(t: &TestStore) {
    let lane = t.lane("mail").await;
    let version = t.store.directory_version().await.unwrap();
    let want = LaneWant { lane, n: 1 };
    let claims = t
        .store
        .claim_due(&[want], LeaseToken::mint(), LEASE)
        .await
        .unwrap();
    assert_eq!(claims.directory_version, version);
    assert_eq!(claims.now, Some(t.clock.now()));
    assert_eq!(claims.probing, None);
    assert_eq!(t.store.now().await.unwrap(), t.clock.now());
}

pub async fn lanes_waiting_names_the_earliest_due_time_of_each_lane(t: &TestStore) {
    let (a, b) = (t.lane("a").await, t.lane("b").await);
    t.lane("idle").await;
    let now = t.clock.now();
    let later = |by| saying(mail(), |c| c.send_at = Some(now + by));
    t.accept(a, later(HOUR)).await;
    t.accept(a, later(MINUTE)).await;
    t.send(b).await;
    t.claim_one(b).await;
    let waiting = t.store.lanes_waiting().await.unwrap();
    assert_eq!(waiting.now, now);
    assert_eq!(
        waiting.directory_version,
        t.store.directory_version().await.unwrap()
    );
    let mut lanes: Vec<_> = waiting
        .lanes
        .iter()
        .map(|l| (l.lane, l.next_due, l.held))
        .collect();
    lanes.sort();
    assert_eq!(lanes, [(a, now + MINUTE, false), (b, now + LEASE, false)]);
}

pub async fn a_lane_that_does_not_exist_gives_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let wants = [
        LaneWant {
            lane: domain::LaneId(987_654),
            n: 5,
        },
        LaneWant { lane, n: 5 },
    ];
    let claims = t
        .store
        .claim_due(&wants, LeaseToken::mint(), LEASE)
        .await
        .unwrap();
    assert_eq!(claims.rows.len(), 1);
}
