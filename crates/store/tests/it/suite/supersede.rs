//! A newer notification in the place of one that still waits.

use crate::{harness::*, suite::ingest::duplicate};
use domain::{AuditStatus, Clock, Status, Submission};
use store::outbox::{AttemptRecord, Claimed, Ingested, Recorded};

fn under(key: &str) -> Submission {
    saying(mail(), |c| c.supersedes_key = Some(key.into()))
}

pub async fn a_newer_one_discards_what_waits_under_its_key(t: &TestStore) {
    let lane = t.lane("mail").await;
    let old = t.accept(lane, under("tank-7")).await;
    let other = t.accept(lane, under("tank-8")).await;
    let retried = t.claim(lane, 1).await.remove(0);
    t.record(retry(&retried, HOUR)).await;
    let newer = under("tank-7");
    let new = newer.id;
    assert_eq!(t.ingest_one(lane, newer).await, Ingested::Replaced(vec![old]));
    let discarded = t.get(old).await;
    assert_eq!(discarded.status, Status::Discarded);
    assert_eq!(discarded.last_code.as_deref(), Some("SUPERSEDED"));
    assert_eq!(discarded.retry_count, 1);
    assert_eq!(discarded.ended_at, Some(t.clock.now()));
    assert_eq!(t.status(other).await, Status::Pending);
    assert_eq!(t.status(new).await, Status::Pending);
    let log = t.store.attempts(TENANT, old).await.unwrap().unwrap();
    let last = log.last().unwrap();
    assert_eq!(
        (last.status, last.actor.as_str()),
        (AuditStatus::Discarded, "system")
    );
}

pub async fn a_resend_of_the_newer_one_discards_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    let first = under("tank-7");
    t.accept(lane, first.clone()).await;
    let second = t.accept(lane, under("tank-7")).await;
    assert_eq!(
        t.ingest_one(lane, first).await,
        duplicate(true, Status::Discarded)
    );
    assert_eq!(t.status(second).await, Status::Pending);
}

pub async fn a_row_that_is_being_sent_is_not_superseded(t: &TestStore) {
    let lane = t.lane("mail").await;
    let old = t.accept(lane, under("tank-7")).await;
    let claimed = t.claim_one(lane).await;
    t.accept(lane, under("tank-7")).await;
    assert_eq!(t.status(old).await, Status::Pending);
    t.record(delivered(&claimed)).await;
    assert_eq!(t.status(old).await, Status::Delivered);
}

pub async fn superseding_stays_within_the_tenant(t: &TestStore) {
    let lane = t.lane("mail").await;
    let elsewhere = t.tenant("elsewhere").await;
    let their_lane = t.provider(elsewhere, "mail").await.lane;
    let ours = t.accept(lane, under("tank-7")).await;
    let theirs = Submission {
        tenant: elsewhere,
        ..under("tank-7")
    };
    t.accept(their_lane, theirs).await;
    assert_eq!(t.status(ours).await, Status::Pending);
}

pub async fn the_last_of_a_batch_under_one_key_wins(t: &TestStore) {
    let lane = t.lane("mail").await;
    let batch = vec![under("k"), under("k"), mail(), under("k")];
    let ids: Vec<_> = batch.iter().map(|s| s.id).collect();
    let answers = t.ingest(lane, batch).await;
    assert!(answers.iter().all(Ingested::is_new), "{answers:?}");
    let mut found = vec![];
    for id in ids {
        found.push(t.status(id).await);
    }
    let expected = [
        Status::Discarded,
        Status::Discarded,
        Status::Pending,
        Status::Pending,
    ];
    assert_eq!(found, expected);
}

pub async fn a_row_whose_lease_ran_out_is_superseded(t: &TestStore) {
    let lane = t.lane("mail").await;
    let old = t.accept(lane, under("tank-7")).await;
    let claimed = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.accept(lane, under("tank-7")).await;
    assert_eq!(t.status(old).await, Status::Discarded);
    t.record(delivered(&claimed)).await;
    assert_eq!(
        t.status(old).await,
        Status::Discarded,
        "a late success leaves it discarded"
    );
}

pub async fn what_fails_after_a_newer_one_has_come_is_discarded_and_not_sent_last(t: &TestStore) {
    let lane = t.lane("mail").await;
    let fail: [fn(&Claimed) -> AttemptRecord; 3] = [|row| retry(row, HOUR), wait, |row| postpone(row, HOUR)];
    for fails in fail {
        let old = t.accept(lane, under("tank-7")).await;
        let claimed = t.claim_one(lane).await;
        let new = t.accept(lane, under("tank-7")).await;
        assert_eq!(t.record(fails(&claimed)).await, Recorded::Superseded);
        let row = t.get(old).await;
        assert_eq!(row.status, Status::Discarded);
        assert_eq!(row.last_code.as_deref(), Some("SUPERSEDED"));
        let log = t.store.attempts(TENANT, old).await.unwrap().unwrap();
        let steps: Vec<_> = log.iter().map(|row| row.status).collect();
        assert_eq!(
            steps,
            [
                AuditStatus::Submitted,
                AuditStatus::Attempted,
                AuditStatus::Discarded
            ]
        );
        assert_eq!(t.store.misplaced().await.unwrap(), 0);
        t.record(delivered(&t.claim_one(lane).await)).await;
        assert_eq!(t.status(new).await, Status::Delivered);
    }
}

pub async fn one_that_was_interrupted_after_a_newer_one_had_come_says_so_when_it_is_claimed(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.accept(lane, under("tank-7")).await;
    assert!(!t.claim_one(lane).await.superseded);
    t.accept(lane, under("tank-7")).await;
    t.clock.advance(LEASE);
    let claimed = t.claim(lane, 2).await;
    let told: Vec<_> = claimed.iter().map(|row| row.superseded).collect();
    assert_eq!(told, [true, false]);
}
