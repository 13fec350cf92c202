//! A newer notification in the place of one that still waits.

use crate::{harness::*, suite::ingest::duplicate};
use domain::{AuditStatus, Clock, Status, Submission};
use store::outbox::Ingested;

fn under(key: &str) -> Submission {
    saying(mail(), |c| c.supersedes_key = Some(key.into()))
}

pub async fn a_newer_one_discards_what_waits_under_its_key(t: &TestStore) {
    let lane = t.lane("mail").await;
    let old = t.accept(lane, under("tank-7")).await;
    let other = t.accept(lane, under("tank-8")).await;
    let retried = t.claim(lane, 1).await.remove(0);
    t.record(retry(&retried, HOUR)).await;
    let new = t.accept(lane, under("tank-7")).await;
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
    assert!(
        t.ingest(lane, batch)
            .await
            .iter()
            .all(|a| *a == Ingested::Accepted)
    );
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
