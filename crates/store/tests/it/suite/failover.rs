//! Rows go on to the next lane of their channel only where nobody can have them already, and each lane has them once.

use crate::harness::*;
use domain::{
    AuditKind, Channel, Clock, HoldReason, LaneId, NotificationId, ProviderId, RecipientState, Status,
    Target, settle::RecipientUpdate,
};
use store::{
    failover::{EXAMINED_ROWS, MOVED_ROWS, MovableRow, RowMove},
    outbox::Cause,
};

/// Two lanes of one channel, the first of them failing.
async fn failing(t: &TestStore) -> (LaneId, LaneId) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    t.store.hold_lane(hold(first, HoldReason::Auth)).await.unwrap();
    (first, second)
}

async fn switch(t: &TestStore, on: bool) {
    let switched = t.store.put_failover(TENANT, Channel::Email, on, &admin()).await;
    assert!(switched.unwrap());
}

async fn movable(t: &TestStore, lane: LaneId) -> Vec<MovableRow> {
    t.store.movable_rows(lane, None).await.unwrap().rows
}

fn moving(row: &MovableRow, to: LaneId) -> RowMove {
    RowMove {
        seq: row.place.seq,
        generation: row.generation,
        to,
    }
}

async fn move_all(t: &TestStore, from: LaneId, to: LaneId) -> Vec<NotificationId> {
    let moves = movable(t, from).await.iter().map(|row| moving(row, to)).collect();
    let mut moved = t.store.move_rows(from, moves).await.unwrap();
    moved.sort_by_key(|row| row.id);
    moved.iter().map(|row| row.id).collect()
}

async fn held_and_free(t: &TestStore, lane: LaneId, reason: HoldReason) {
    t.store.resume_lane(lane, None, &admin()).await.unwrap();
    t.store.hold_lane(hold(lane, reason)).await.unwrap();
}

pub async fn a_channel_fails_over_only_where_a_tenant_asked_for_it(t: &TestStore) {
    let other = t.tenant("other").await;
    assert_eq!(t.store.failover_channels(TENANT).await.unwrap(), []);
    let before = t.store.directory_version().await.unwrap();
    switch(t, true).await;
    assert!(t.store.directory_version().await.unwrap() > before);
    assert_eq!(t.store.failover_channels(TENANT).await.unwrap(), [Channel::Email]);
    assert_eq!(t.store.failover_channels(other).await.unwrap(), []);
    let again = t.store.put_failover(TENANT, Channel::Email, true, &admin()).await;
    assert!(!again.unwrap(), "nothing changed");
    switch(t, false).await;
    assert_eq!(t.store.failover_channels(TENANT).await.unwrap(), []);
}

pub async fn only_lanes_in_trouble_of_their_own_are_failing(t: &TestStore) {
    let lane = t.lane("first").await;
    t.send(lane).await;
    let failing = async || t.store.failing_lanes().await.unwrap();
    let chore = async || t.store.lanes_waiting().await.unwrap().chores.failover;
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    assert!(failing().await.is_empty(), "nobody asked for it");
    assert!(!chore().await);
    switch(t, true).await;
    for reason in HoldReason::ALL.into_iter().filter(|r| *r != HoldReason::Disabled) {
        held_and_free(t, lane, reason).await;
        let found = failing().await;
        assert_eq!(found.len(), usize::from(reason.is_probed()), "{reason}");
        assert_eq!(chore().await, reason.is_probed(), "{reason}");
        if let Some(found) = found.first() {
            assert_eq!((found.lane, found.tenant, found.reason), (lane, TENANT, reason));
            assert_eq!(
                (found.channel, &found.provider),
                (Channel::Email, &ProviderId::new("first"))
            );
            assert!(found.has_rows && !found.probe_due);
        }
    }
    held_and_free(t, lane, HoldReason::Down).await;
    t.clock.advance(MINUTE);
    assert!(failing().await[0].probe_due);
    t.store.resume_lane(lane, None, &admin()).await.unwrap();
    assert!(failing().await.is_empty() && !chore().await);
}

pub async fn what_waits_goes_on_uncounted_with_a_fresh_budget_and_is_audited(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    let id = t.send(first).await;
    let claimed = t.claim_one(first).await;
    t.record(retry(&claimed, HOUR)).await;
    t.store.hold_lane(hold(first, HoldReason::Quota)).await.unwrap();
    assert_eq!(t.status(id).await, Status::Retrying);
    assert_eq!(move_all(t, first, second).await, [id]);
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    let entry = log.iter().find(|e| e.kind == AuditKind::NotifyMove).unwrap();
    assert_eq!(entry.target.as_deref(), Some("second"));
    assert_eq!(entry.code.as_deref(), Some("quota"));
    assert!(entry.detail.as_deref().unwrap().contains("first"));
    // Due at once, although the first would have waited an hour.
    let claimed = t.claim_one(second).await;
    assert_eq!((claimed.id, claimed.attempts, claimed.unknowns), (id, 0, 0));
    t.record(delivered(&claimed)).await;
    assert_eq!(t.status(id).await, Status::Delivered);
}

pub async fn each_lane_has_a_row_at_most_once_in_a_generation(t: &TestStore) {
    let (first, second) = failing(t).await;
    let id = t.send(first).await;
    assert_eq!(move_all(t, first, second).await, [id]);
    t.store.hold_lane(hold(second, HoldReason::Down)).await.unwrap();
    assert_eq!(movable(t, second).await[0].left, [first]);
    assert!(
        move_all(t, second, first).await.is_empty(),
        "it has left that lane"
    );
    let third = t.lane("third").await;
    assert_eq!(move_all(t, second, third).await, [id]);
    t.store.hold_lane(hold(third, HoldReason::Down)).await.unwrap();
    assert_eq!(movable(t, third).await[0].left, [first, second]);
    // A person's retry is a new generation, and everybody's turn again.
    t.store.resume_lane(third, None, &admin()).await.unwrap();
    let claimed = t.claim_one(third).await;
    t.record(park(&claimed)).await;
    t.store.requeue(TENANT, &[(id, second)], &admin()).await.unwrap();
    assert_eq!(movable(t, second).await[0].left, []);
    assert_eq!(move_all(t, second, first).await, [id]);
}

pub async fn what_is_being_sent_or_was_interrupted_stays(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    t.send_many(first, 3).await;
    let claimed = t.claim(first, 3).await;
    t.store.hold_lane(hold(first, HoldReason::Down)).await.unwrap();
    let named: Vec<_> = claimed
        .iter()
        .map(|row| RowMove {
            seq: row.lease.seq,
            generation: row.generation,
            to: second,
        })
        .collect();
    let moved = async || t.store.move_rows(first, named.clone()).await.unwrap().len();
    assert_eq!(moved().await, 0, "all are being sent");
    t.clock.advance(LEASE + SECOND);
    assert_eq!(
        moved().await,
        0,
        "their attempts were cut off and may have gone out"
    );
    t.store.release(&[claimed[0].lease]).await.unwrap();
    assert_eq!(moved().await, 1, "this one was certainly not sent");
    // The probe takes one that was cut off; whatever comes of it, the first attempt may have gone out.
    t.store.try_lane(first, &admin()).await.unwrap();
    let probe = t
        .store
        .claim_probe(first, domain::LeaseToken::mint(), LEASE)
        .await
        .unwrap();
    assert_eq!(probe.rows[0].interruptions, 1);
    t.record(wait(&probe.rows[0])).await;
    assert_eq!(moved().await, 0);
    held_and_free(t, first, HoldReason::Down).await;
    t.store.resume_lane(first, None, &admin()).await.unwrap();
    let again = t.claim_one(first).await;
    t.record(retry(&again, SECOND)).await;
    t.store.hold_lane(hold(first, HoldReason::Down)).await.unwrap();
    assert_eq!(
        moved().await,
        0,
        "also after an attempt that is known to have failed"
    );
    assert!(movable(t, first).await.is_empty());
}

pub async fn what_somebody_may_have_stays_with_its_provider(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    let mut to_two = mail();
    to_two.content.target = Target::Recipients(vec!["ann@example.com".into(), "bob@example.com".into()]);
    t.accept(first, to_two).await;
    t.send(first).await;
    t.send(first).await;
    let claimed = t.claim(first, 3).await;
    let mut half = retry(&claimed[0], SECOND);
    half.recipients = vec![recipient("ann@example.com", RecipientState::Ambiguous)];
    t.record(half).await;
    let mut unanswered = retry(&claimed[1], SECOND);
    unanswered.in_doubt = true;
    t.record(unanswered).await;
    let mut unanswered = wait(&claimed[2]);
    unanswered.in_doubt = true;
    t.record(unanswered).await;
    t.store.hold_lane(hold(first, HoldReason::Down)).await.unwrap();
    assert!(movable(t, first).await.is_empty());
    let moves = claimed.iter().map(|row| RowMove {
        seq: row.lease.seq,
        generation: row.generation,
        to: second,
    });
    assert!(
        t.store
            .move_rows(first, moves.collect())
            .await
            .unwrap()
            .is_empty()
    );
}

fn recipient(address: &str, state: RecipientState) -> RecipientUpdate {
    RecipientUpdate {
        address: address.into(),
        state,
        provider_message_id: None,
        cause: (state != RecipientState::Accepted).then(|| Cause::new("TIMEOUT", "no answer")),
        tried: true,
        wait: (state == RecipientState::Open).then_some(HOUR),
    }
}

pub async fn who_has_it_already_is_not_asked_again_and_the_others_have_their_tries(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    let mut to_two = mail();
    to_two.content.target = Target::Recipients(vec!["ann@example.com".into(), "bob@example.com".into()]);
    let id = t.accept(first, to_two).await;
    let claimed = t.claim_one(first).await;
    let mut half = retry(&claimed, SECOND);
    half.recipients = vec![
        recipient("ann@example.com", RecipientState::Accepted),
        recipient("bob@example.com", RecipientState::Open),
    ];
    t.record(half).await;
    t.store.hold_lane(hold(first, HoldReason::Down)).await.unwrap();
    assert_eq!(move_all(t, first, second).await, [id]);
    let known = t.claim_one(second).await.known;
    let of = |address: &str| known.iter().find(|r| r.address == address).unwrap().clone();
    assert_eq!(of("ann@example.com").state, RecipientState::Accepted);
    let bob = of("bob@example.com");
    assert_eq!(
        (bob.state, bob.tries, bob.not_before),
        (RecipientState::Open, 0, None)
    );
}

pub async fn a_lane_that_is_no_longer_in_trouble_keeps_its_rows(t: &TestStore) {
    let (first, second) = failing(t).await;
    t.send(first).await;
    let moves: Vec<_> = movable(t, first)
        .await
        .iter()
        .map(|row| moving(row, second))
        .collect();
    t.store.resume_lane(first, None, &admin()).await.unwrap();
    assert!(t.store.move_rows(first, moves.clone()).await.unwrap().is_empty());
    t.store
        .hold_lane(hold(first, HoldReason::Operator))
        .await
        .unwrap();
    assert!(t.store.move_rows(first, moves.clone()).await.unwrap().is_empty());
    held_and_free(t, first, HoldReason::Config).await;
    assert_eq!(t.store.move_rows(first, moves.clone()).await.unwrap().len(), 1);
    assert!(
        t.store.move_rows(first, moves).await.unwrap().is_empty(),
        "it is gone from there"
    );
}

pub async fn what_names_its_provider_or_is_for_later_stays(t: &TestStore) {
    let (first, _) = failing(t).await;
    t.accept(
        first,
        saying(mail(), |c| c.provider = Some(ProviderId::new("first"))),
    )
    .await;
    let later = t.clock.now() + HOUR;
    let timed = saying(mail(), |c| c.send_at = Some(later));
    t.accept(first, timed).await;
    assert!(movable(t, first).await.is_empty());
    t.clock.advance(HOUR);
    assert_eq!(movable(t, first).await.len(), 1);
}

pub async fn what_waits_for_its_hours_stays_until_then(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    switch(t, true).await;
    let id = t.send(first).await;
    let before = movable(t, first).await;
    t.record(postpone(&t.claim_one(first).await, HOUR)).await;
    t.store.hold_lane(hold(first, HoldReason::Billing)).await.unwrap();
    assert!(movable(t, first).await.is_empty());
    let looked_before = before.iter().map(|row| moving(row, second)).collect();
    assert_eq!(t.store.move_rows(first, looked_before).await.unwrap(), []);
    assert_eq!(t.get(id).await.next_attempt_at, Some(t.clock.now() + HOUR));
    t.clock.advance(HOUR);
    assert_eq!(move_all(t, first, second).await, [id]);
}

pub async fn a_long_queue_is_looked_through_in_bounded_steps(t: &TestStore) {
    let (first, _) = failing(t).await;
    let named: Vec<_> = (0..EXAMINED_ROWS)
        .map(|_| saying(mail(), |c| c.provider = Some(ProviderId::new("first"))))
        .collect();
    t.ingest(first, named).await;
    t.clock.advance(SECOND);
    t.send_many(first, MOVED_ROWS as usize + 6).await;
    t.clock.advance(SECOND);
    let (mut after, mut sizes) = (None, vec![]);
    loop {
        let found = t.store.movable_rows(first, after).await.unwrap();
        sizes.push(found.rows.len());
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [0, MOVED_ROWS as usize, 6]);
}

pub async fn an_emptied_lane_borrows_a_row_for_its_probe(t: &TestStore) {
    let (first, second) = failing(t).await;
    assert!(!t.store.lend_probe_row(first).await.unwrap(), "there is none");
    t.send(second).await;
    assert!(
        !t.store.lend_probe_row(first).await.unwrap(),
        "that one was never here"
    );
    let id = t.send(first).await;
    assert_eq!(move_all(t, first, second).await, [id]);
    t.clock.advance(MINUTE);
    assert!(t.store.lend_probe_row(first).await.unwrap());
    assert!(!t.store.lend_probe_row(first).await.unwrap(), "only one");
    let probe = t
        .store
        .claim_probe(first, domain::LeaseToken::mint(), LEASE)
        .await
        .unwrap();
    assert_eq!(probe.rows[0].id, id);
    t.record(wait(&probe.rows[0])).await;
    assert_eq!(
        move_all(t, first, second).await,
        [id],
        "back to where it came from"
    );
    assert_eq!(t.claim(second, 9).await.len(), 2);
    assert!(
        !t.store.lend_probe_row(first).await.unwrap(),
        "what is being sent is not lent"
    );
}
