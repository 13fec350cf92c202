//! Receipts: kept, found, and what follows from each for a notification and its recipients.

use crate::harness::*;
use domain::{
    AuditKind, AuditStatus, Channel, Content, Correlation, HoldReason, LaneId, NotificationId, ProviderId,
    Receipt,
    ReceiptState::{self, Accepted, Delivered, Failed, Read},
    RecipientState, Status, Target,
    code::AMBIGUOUS,
    settle::RecipientUpdate,
};
use std::collections::HashSet;
use store::{
    failover::RowMove,
    maintenance::Retention,
    outbox::{AttemptRecord, Cause, Claimed, Ended, SentTo},
    query::{Filter, Page},
    receipts::{
        Done, DoneAs, Proof, ProviderCallback, ReceiptRules, ReceiptsFrom, ReceiptsWaiting, ToldHold,
    },
};

pub const ANN: &str = "+919876543210";
const BOB: &str = "+14155552671";

/// A message to these numbers.
async fn sms(t: &TestStore, lane: LaneId, to: &[&str]) -> NotificationId {
    let content = Content {
        channel: Some(Channel::Sms),
        target: Target::Recipients(to.iter().map(|to| (*to).to_owned()).collect()),
        subject: "Tank 7 is full".into(),
        ..Content::default()
    };
    let submission = saying(mail(), |c| *c = content);
    t.accept(lane, submission).await
}

/// One that was delivered to Ann alone.
pub async fn to_ann(t: &TestStore, lane: LaneId) -> NotificationId {
    let id = sms(t, lane, &[ANN]).await;
    let claimed = t.claim_one(lane).await;
    t.record(with_id(delivered(&claimed), &claimed, "sid-1", ANN))
        .await;
    id
}

fn with_id(mut record: AttemptRecord, claimed: &Claimed, message_id: &str, address: &str) -> AttemptRecord {
    record.messages.push(SentTo {
        lane: claimed.lane,
        message_id: message_id.into(),
        address: address.into(),
        generation: claimed.generation,
    });
    record.resolved_targets = vec![address.into()];
    record
}

fn update(address: &str, state: RecipientState) -> RecipientUpdate {
    RecipientUpdate {
        address: address.into(),
        state,
        provider_message_id: None,
        cause: None,
        tried: true,
        wait: None,
    }
}

pub fn about(id: NotificationId, generation: i32, recipient: &str, state: ReceiptState) -> Receipt {
    let failed = state == Failed;
    Receipt {
        correlation: Some(Correlation {
            id,
            generation,
            recipient: Some(recipient.into()),
        }),
        code: failed.then(|| "RECIPIENT".into()),
        provider_code: failed.then(|| "30005".into()),
        detail: failed.then(|| "unknown handset".into()),
        ..Receipt::new(state)
    }
}

fn by_id(message_id: &str, number: &str, state: ReceiptState) -> Receipt {
    Receipt {
        provider_message_id: Some(message_id.into()),
        recipient: Some(number.into()),
        ..Receipt::new(state)
    }
}

pub async fn keep(t: &TestStore, lane: LaneId, receipts: Vec<Receipt>) {
    let from = ReceiptsFrom { tenant: TENANT, lane };
    t.store.keep_receipts(from, receipts).await.unwrap();
}

async fn work(t: &TestStore) -> Vec<Done> {
    t.store
        .work_on_receipts(1_000, &ReceiptRules::default())
        .await
        .unwrap()
        .done
}

async fn told(t: &TestStore, lane: LaneId, receipts: Vec<Receipt>) -> Vec<Done> {
    keep(t, lane, receipts).await;
    work(t).await
}

async fn receipt_of(t: &TestStore, id: NotificationId) -> Option<String> {
    t.get(id).await.receipt
}

async fn log(t: &TestStore, id: NotificationId) -> Vec<(AuditKind, AuditStatus)> {
    let rows = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    rows.iter().map(|row| (row.kind, row.status)).collect()
}

async fn nothing_waits(t: &TestStore) {
    assert_eq!(
        t.store.receipts_waiting(10).await.unwrap(),
        ReceiptsWaiting::default()
    );
}

fn as_what(done: &[Done]) -> Vec<DoneAs> {
    done.iter().map(|done| done.what).collect()
}

pub async fn better_news_is_shown_and_worse_is_not(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    for (state, shown) in [
        (Accepted, "accepted"),
        (Read, "read"),
        (Delivered, "read"),
        (Failed, "read"),
    ] {
        told(t, lane, vec![about(id, 0, ANN, state)]).await;
        assert_eq!(receipt_of(t, id).await.as_deref(), Some(shown));
        assert_eq!(t.status(id).await, Status::Delivered);
    }
    nothing_waits(t).await;
    let only_read = Filter {
        by: domain::TextFilters {
            receipt: Some("read".into()),
            ..Default::default()
        },
        ..Filter::default()
    };
    let page = Page {
        limit: 10,
        after: None,
    };
    let listed = t.store.list(TENANT, &only_read, page).await.unwrap();
    assert_eq!(listed.rows.len(), 1);
}

/// Providers call from many connections at once; those calls may share a commit.
pub async fn receipts_that_come_at_once_are_all_kept_each_with_the_lane_it_came_for(t: &TestStore) {
    let lanes = [t.lane("sms").await, t.lane("other").await];
    let mut calls = vec![];
    for n in 0..40_u32 {
        let lane = lanes[n as usize % 2];
        let id = to_ann(t, lane).await;
        // Some tell of several things in one call.
        let states = if n % 3 == 0 {
            vec![Accepted, Read]
        } else {
            vec![Delivered]
        };
        let receipts: Vec<_> = states.iter().map(|state| about(id, 0, ANN, *state)).collect();
        calls.push((lane, id, receipts));
    }
    let all: usize = calls.iter().map(|(_, _, receipts)| receipts.len()).sum();
    let kept = calls
        .iter()
        .map(|(lane, _, receipts)| keep(t, *lane, receipts.clone()));
    futures_util::future::join_all(kept).await;
    let waiting = t.store.receipts_waiting(1_000).await.unwrap();
    assert_eq!(waiting.fresh, all as u64);
    let done = work(t).await;
    assert_eq!(done.len(), all);
    for (lane, id, receipts) in &calls {
        let own: Vec<_> = done.iter().filter(|one| one.notification == Some(*id)).collect();
        assert_eq!(own.len(), receipts.len());
        assert!(own.iter().all(|one| one.lane == *lane));
        let best = if receipts.len() == 2 { "read" } else { "delivered" };
        assert_eq!(receipt_of(t, *id).await.as_deref(), Some(best));
    }
    nothing_waits(t).await;
}

pub async fn many_in_one_go_come_to_the_best_of_them(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    let all = [Delivered, Accepted, Read, Delivered, Failed, Read];
    let done = told(t, lane, all.map(|state| about(id, 0, ANN, state)).to_vec()).await;
    assert_eq!(done.len(), all.len());
    assert_eq!(receipt_of(t, id).await.as_deref(), Some("read"));
    assert_eq!(t.status(id).await, Status::Delivered);
    nothing_waits(t).await;
}

pub async fn a_failure_parks_what_was_delivered_and_a_later_delivery_completes_it(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    let done = told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
    assert_eq!(
        (done[0].what, done[0].status),
        (DoneAs::Applied, Some(Status::Parked))
    );
    let row = t.get(id).await;
    assert_eq!(row.status, Status::Parked);
    assert_eq!(row.last_code.as_deref(), Some("RECIPIENT"), "nobody has it");
    assert!(row.last_error.unwrap().contains("unknown handset (30005)"));
    assert_eq!(row.resolved_targets, Vec::<String>::new());
    assert_eq!(
        log(t, id).await,
        [
            (AuditKind::NotifySend, AuditStatus::Submitted),
            (AuditKind::NotifyDeliver, AuditStatus::Attempted),
            (AuditKind::NotifyDeliver, AuditStatus::Delivered),
            (AuditKind::NotifyDeliver, AuditStatus::Parked),
        ]
    );
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 1).await, [], "nothing is sent again by itself");
    // Worse news than the failure changes nothing, better does.
    assert_eq!(
        as_what(&told(t, lane, vec![about(id, 0, ANN, Accepted)]).await),
        [DoneAs::Known]
    );
    assert_eq!(t.status(id).await, Status::Parked);
    told(t, lane, vec![about(id, 0, ANN, Delivered)]).await;
    let row = t.get(id).await;
    assert_eq!(
        (row.status, row.receipt.as_deref()),
        (Status::Delivered, Some("delivered"))
    );
    assert_eq!(row.resolved_targets, [ANN]);
}

pub async fn of_several_recipients_one_failure_parks_as_partial_and_each_has_its_own_receipt(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN, BOB]).await;
    let claimed = t.claim_one(lane).await;
    let mut record = delivered(&claimed);
    record.recipients = vec![
        update(ANN, RecipientState::Accepted),
        update(BOB, RecipientState::Accepted),
    ];
    t.record(record).await;
    told(t, lane, vec![about(id, 0, ANN, Read)]).await;
    assert_eq!(
        receipt_of(t, id).await.as_deref(),
        Some("accepted"),
        "Bob is not as far"
    );
    told(t, lane, vec![about(id, 0, BOB, Failed)]).await;
    let row = t.get(id).await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Parked, Some("PARTIAL"))
    );
    assert_eq!(
        (row.receipt.as_deref(), row.resolved_targets.as_slice()),
        (Some("failed"), [ANN.to_owned()].as_slice())
    );
    let states: Vec<_> = row
        .recipients
        .iter()
        .map(|r| (r.address.as_str(), r.state, r.receipt))
        .collect();
    assert_eq!(
        states,
        [
            (BOB, RecipientState::Failed, Some(Failed)),
            (ANN, RecipientState::Accepted, Some(Read)),
        ]
    );
    told(t, lane, vec![about(id, 0, BOB, Delivered)]).await;
    let row = t.get(id).await;
    assert_eq!(
        (row.status, row.receipt.as_deref()),
        (Status::Delivered, Some("delivered"))
    );
}

pub async fn proof_of_acceptance_completes_what_waits_and_what_is_parked(t: &TestStore) {
    let lane = t.lane("sms").await;
    for state in [Accepted, Delivered, Read] {
        let waits = sms(t, lane, &[ANN]).await;
        let claimed = t.claim_one(lane).await;
        t.record(retry(&claimed, HOUR)).await;
        let parked = sms(t, lane, &[ANN]).await;
        let claimed = t.claim_one(lane).await;
        t.record(park(&claimed)).await;
        for id in [waits, parked] {
            told(t, lane, vec![about(id, 0, ANN, state)]).await;
            let row = t.get(id).await;
            assert_eq!(
                (row.status, row.receipt.as_deref()),
                (Status::Delivered, Some(state.as_str()))
            );
            assert_eq!(row.resolved_targets, [ANN]);
            assert_eq!(
                log(t, id).await.last(),
                Some(&(AuditKind::NotifyDeliver, AuditStatus::Delivered))
            );
        }
    }
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 9).await, []);
}

pub async fn what_is_in_doubt_is_completed_by_its_own_reference_and_by_no_number_alone(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN]).await;
    let claimed = t.claim_one(lane).await;
    let mut in_doubt = park(&claimed);
    in_doubt.ended = Ended::Park {
        cause: Cause::new(AMBIGUOUS, "no answer"),
    };
    t.record(in_doubt).await;
    // The id of the request is what was lost with the answer: nobody can say that this is about ours.
    assert_eq!(told(t, lane, vec![by_id("sid-9", ANN, Delivered)]).await, []);
    assert_eq!(t.get(id).await.status, Status::Parked);
    told(t, lane, vec![about(id, 0, ANN, Accepted)]).await;
    assert_eq!(t.get(id).await.status, Status::Delivered);
}

pub async fn proof_for_one_of_two_leaves_the_other_to_be_sent(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN, BOB]).await;
    let claimed = t.claim_one(lane).await;
    t.record(retry(&claimed, SECOND)).await;
    told(t, lane, vec![about(id, 0, ANN, Delivered)]).await;
    assert_eq!(t.status(id).await, Status::Retrying);
    t.clock.advance(MINUTE);
    let again = t.claim_one(lane).await;
    let known: Vec<_> = again
        .known
        .iter()
        .map(|r| (r.address.as_str(), r.state))
        .collect();
    assert_eq!(known, [(ANN, RecipientState::Accepted)]);
}

pub async fn what_comes_before_the_sends_own_answer_waits_for_it_and_is_not_sent_twice(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN]).await;
    let claimed = t.claim_one(lane).await;
    assert_eq!(told(t, lane, vec![about(id, 0, ANN, Delivered)]).await, []);
    assert_eq!(t.status(id).await, Status::Pending, "its sender still has it");
    t.record(with_id(delivered(&claimed), &claimed, "sid-1", ANN))
        .await;
    t.clock.advance(MINUTE);
    work(t).await;
    assert_eq!(receipt_of(t, id).await.as_deref(), Some("delivered"));
    nothing_waits(t).await;
    // The same, and the process dies before it records anything.
    let id = sms(t, lane, &[ANN]).await;
    t.claim_one(lane).await;
    told(t, lane, vec![about(id, 0, ANN, Delivered)]).await;
    t.clock.advance(LEASE + SECOND);
    let again = t.claim_one(lane).await;
    assert_eq!(again.known.len(), 1, "whoever claims it next knows");
    assert_eq!(again.known[0].state, RecipientState::Accepted);
}

pub async fn a_failure_before_the_sends_own_answer_waits_for_the_record(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN]).await;
    let claimed = t.claim_one(lane).await;
    assert_eq!(told(t, lane, vec![about(id, 0, ANN, Failed)]).await, []);
    assert_eq!(t.get(id).await.recipients, []);
    t.record(delivered(&claimed)).await;
    assert_eq!(t.status(id).await, Status::Delivered);
    t.clock.advance(MINUTE);
    work(t).await;
    assert_eq!(t.status(id).await, Status::Parked);
}

pub async fn a_failure_of_an_attempt_in_doubt_takes_back_what_was_sent_again_until_that_has_arrived(
    t: &TestStore,
) {
    // A lane that sends again what is in doubt: both attempts gave the far end the same reference.
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN]).await;
    let in_doubt = t.claim_one(lane).await;
    t.record(retry(&in_doubt, SECOND)).await;
    told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
    assert_eq!(t.status(id).await, Status::Retrying, "it is sent again anyway");
    t.clock.advance(MINUTE);
    let again = t.claim_one(lane).await;
    t.record(with_id(delivered(&again), &again, "sid-2", ANN)).await;
    told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
    assert_eq!(t.status(id).await, Status::Parked, "somebody looks at it");
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 1).await, [], "nothing is sent because of a receipt");
    told(t, lane, vec![about(id, 0, ANN, Delivered)]).await;
    assert_eq!(t.status(id).await, Status::Delivered, "one of the two arrived");
    told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
    assert_eq!(
        t.status(id).await,
        Status::Delivered,
        "whatever is told of the other"
    );
}

pub async fn after_a_requeue_an_old_delivery_counts_as_accepted_and_an_old_failure_is_only_told(
    t: &TestStore,
) {
    let lane = t.lane("sms").await;
    let ids = [sms(t, lane, &[ANN]).await, sms(t, lane, &[ANN]).await];
    for _ in 0..2 {
        let claimed = t.claim_one(lane).await;
        t.record(park(&claimed)).await;
    }
    for id in ids {
        t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
    }
    told(t, lane, vec![about(ids[0], 0, ANN, Read)]).await;
    let row = t.get(ids[0]).await;
    assert_eq!(
        (row.status, row.receipt.as_deref()),
        (Status::Delivered, Some("accepted"))
    );
    told(t, lane, vec![about(ids[1], 0, ANN, Failed)]).await;
    assert_eq!(t.status(ids[1]).await, Status::Pending);
    assert_eq!(
        log(t, ids[1]).await.last(),
        Some(&(AuditKind::NotifyReceipt, AuditStatus::Done))
    );
    // What is sent in the new generation has nothing of the old one's.
    let claimed = t.claim_one(lane).await;
    assert_eq!((claimed.id, claimed.generation), (ids[1], 1));
    t.record(delivered(&claimed)).await;
    told(t, lane, vec![about(ids[1], 1, ANN, Delivered)]).await;
    assert_eq!(receipt_of(t, ids[1]).await.as_deref(), Some("delivered"));
}

pub async fn an_old_acceptance_completes_nothing_that_was_sent_again(t: &TestStore) {
    let lane = t.lane("sms").await;
    let alone = to_ann(t, lane).await;
    let both = sms(t, lane, &[ANN, BOB]).await;
    let claimed = t.claim_one(lane).await;
    let mut record = delivered(&claimed);
    record.recipients = [ANN, BOB].map(|to| update(to, RecipientState::Accepted)).into();
    t.record(record).await;
    for id in [alone, both] {
        told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
        t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
        // The service repeats itself, or what it said first comes last.
        told(t, lane, vec![about(id, 0, ANN, Accepted)]).await;
        assert_eq!(t.status(id).await, Status::Pending);
        let claimed = t.claim_one(lane).await;
        assert_eq!((claimed.id, claimed.generation), (id, 1), "it is sent again");
        let mut record = park(&claimed);
        if id == both {
            record.recipients = vec![update(ANN, RecipientState::Failed)];
        }
        t.record(record).await;
        told(t, lane, vec![about(id, 0, ANN, Accepted)]).await;
        assert_eq!(t.status(id).await, Status::Parked, "nobody has it");
    }
    nothing_waits(t).await;
}

pub async fn a_requeue_that_wins_makes_the_receipt_one_of_an_earlier_generation(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    told(t, lane, vec![about(id, 0, ANN, Failed)]).await;
    keep(
        t,
        lane,
        vec![about(id, 0, ANN, Failed), about(id, 0, ANN, Delivered)],
    )
    .await;
    t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
    work(t).await;
    let row = t.get(id).await;
    assert_eq!((row.status, row.generation), (Status::Delivered, 1));
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 1).await, [], "who has it is not sent to again");
}

pub async fn what_was_discarded_stays_so(t: &TestStore) {
    let lane = t.lane("sms").await;
    for (state, shown) in [(Read, "read"), (Failed, "failed")] {
        let id = sms(t, lane, &[ANN]).await;
        let claimed = t.claim_one(lane).await;
        t.record(park(&claimed)).await;
        t.store.discard(TENANT, &[id], &admin()).await.unwrap();
        told(t, lane, vec![about(id, 0, ANN, state)]).await;
        let row = t.get(id).await;
        assert_eq!(
            (row.status, row.receipt.as_deref()),
            (Status::Discarded, Some(shown))
        );
    }
}

pub async fn a_receipt_for_what_was_purged_is_counted_and_gone(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    t.clock.advance(DAY);
    let keep = Retention {
        events: 365 * DAY,
        terminal: HOUR,
        audit: DAY,
        spent_keys: None,
        stats: DAY,
        transcripts: DAY,
    };
    assert_eq!(t.store.purge_chunk(&keep, 10).await.unwrap().notifications, 1);
    let done = told(t, lane, vec![about(id, 0, ANN, Read)]).await;
    assert_eq!(as_what(&done), [DoneAs::Purged]);
    // Its own id of the message is gone with it.
    assert_eq!(told(t, lane, vec![by_id("sid-1", ANN, Read)]).await, []);
}

pub async fn by_its_own_id_a_message_is_found_only_with_the_number_it_went_to(t: &TestStore) {
    let lane = t.lane("sms").await;
    let other = t.lane("other").await;
    let id = to_ann(t, lane).await;
    assert_eq!(told(t, lane, vec![by_id("sid-1", "14155552671", Read)]).await, []);
    assert_eq!(
        told(t, other, vec![by_id("sid-1", "919876543210", Read)]).await,
        []
    );
    assert_eq!(receipt_of(t, id).await, None);
    let done = told(t, lane, vec![by_id("sid-1", "919876543210", Read)]).await;
    assert_eq!((done[0].what, done[0].notification), (DoneAs::Applied, Some(id)));
    assert_eq!(receipt_of(t, id).await.as_deref(), Some("read"));
}

pub async fn one_that_fits_nothing_yet_is_matched_when_the_record_comes(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = sms(t, lane, &[ANN]).await;
    let claimed = t.claim_one(lane).await;
    let early = by_id("sid-7", "919876543210", Delivered);
    assert_eq!(told(t, lane, vec![early]).await, []);
    assert_eq!(t.store.receipts_waiting(10).await.unwrap().later, 1);
    assert_eq!(
        t.store
            .work_on_receipts(10, &ReceiptRules::default())
            .await
            .unwrap()
            .looked_at,
        0,
        "not at once"
    );
    t.record(with_id(delivered(&claimed), &claimed, "sid-7", ANN))
        .await;
    work(t).await;
    assert_eq!(receipt_of(t, id).await.as_deref(), Some("delivered"));
    nothing_waits(t).await;
}

pub async fn what_fits_nothing_is_no_longer_kept_of_a_lane_with_much_of_it_and_is_of_others(t: &TestStore) {
    let (busy, other) = (t.lane("busy").await, t.lane("other").await);
    let unknown = |n: u32| by_id(&format!("theirs-{n}"), ANN, Delivered);
    assert_eq!(told(t, busy, (0..3).map(unknown).collect()).await, []);
    assert_eq!(told(t, other, vec![unknown(3)]).await, []);
    let crowded = t.store.lanes_with_orphans(3).await.unwrap();
    assert_eq!(crowded, HashSet::from([busy]));
    keep(t, busy, vec![unknown(4)]).await;
    keep(t, other, vec![unknown(5)]).await;
    let rules = ReceiptRules {
        crowded: crowded.into(),
        ..ReceiptRules::default()
    };
    let done = t.store.work_on_receipts(10, &rules).await.unwrap().done;
    let of: Vec<_> = done.iter().map(|done| (done.lane, done.what)).collect();
    assert_eq!(of, [(busy, DoneAs::Orphaned)]);
    assert_eq!(t.store.receipts_waiting(10).await.unwrap().later, 5);
}

pub async fn one_that_never_fits_is_kept_for_a_day(t: &TestStore) {
    let lane = t.lane("sms").await;
    keep(t, lane, vec![by_id("nobody", ANN, Read)]).await;
    for _ in 0..23 {
        t.clock.advance(HOUR);
        assert_eq!(work(t).await, []);
    }
    t.clock.advance(HOUR * 2);
    assert_eq!(as_what(&work(t).await), [DoneAs::Orphaned]);
    nothing_waits(t).await;
}

pub async fn one_that_nobody_signed_counts_once_it_is_proven(t: &TestStore) {
    let lane = t.lane("push").await;
    let id = to_ann(t, lane).await;
    let unproven = |state| Receipt {
        unproven: true,
        ..about(id, 0, ANN, state)
    };
    assert_eq!(told(t, lane, vec![unproven(Read), unproven(Read)]).await, []);
    assert_eq!(receipt_of(t, id).await, None);
    let asked = t.store.unproven_receipts(10).await.unwrap();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|one| one.lane == lane && one.receipt.unproven));
    t.store.prove_receipt(asked[0].id, Proof::Unknown).await.unwrap();
    t.store.prove_receipt(asked[1].id, Proof::Later).await.unwrap();
    assert_eq!(t.store.unproven_receipts(10).await.unwrap(), [], "not at once");
    t.clock.advance(MINUTE);
    let asked = t.store.unproven_receipts(10).await.unwrap();
    t.store
        .prove_receipt(asked[0].id, Proof::Proven(Delivered))
        .await
        .unwrap();
    work(t).await;
    assert_eq!(receipt_of(t, id).await.as_deref(), Some("delivered"));
    nothing_waits(t).await;
}

pub async fn a_failure_of_the_lane_is_told_once(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    let unpaid = Receipt {
        hold: Some(HoldReason::Billing),
        ..about(id, 0, ANN, Failed)
    };
    let done = told(t, lane, vec![unpaid.clone(), unpaid]).await;
    let holds: Vec<_> = done.iter().map(|done| done.hold.clone()).collect();
    let expected = ToldHold {
        lane,
        config_version: 1,
        reason: HoldReason::Billing,
        detail: Some("unknown handset".to_owned()),
    };
    assert_eq!(holds, [Some(expected), None]);
}

fn unpaid(id: NotificationId, recipient: &str) -> Receipt {
    Receipt {
        hold: Some(HoldReason::Billing),
        ..about(id, 0, recipient, Failed)
    }
}

async fn holds(t: &TestStore, called: LaneId, receipt: Receipt) -> Vec<LaneId> {
    let done = told(t, called, vec![receipt]).await;
    done.into_iter()
        .filter_map(|done| Some(done.hold?.lane))
        .collect()
}

pub async fn a_failure_of_the_lane_is_of_the_one_that_sent_the_message_whoever_was_called(t: &TestStore) {
    let (first, second) = (t.lane("first").await, t.lane("second").await);
    let id = to_ann(t, first).await;
    assert_eq!(holds(t, second, unpaid(id, ANN)).await, [first]);
    t.store.resume_lane(first, None, &admin()).await.unwrap();
    // Ann has it from the first, Bob, after it had gone on, from the second.
    let both = sms(t, first, &[ANN, BOB]).await;
    let claimed = t.claim_one(first).await;
    let mut record = wait(&claimed);
    record.attempt.as_mut().unwrap().target = "first".into();
    record.recipients = vec![
        update(ANN, RecipientState::Accepted),
        update(BOB, RecipientState::Open),
    ];
    t.record(record).await;
    let channel = Channel::Email;
    t.store
        .put_failover(TENANT, channel, true, &admin())
        .await
        .unwrap();
    t.store.hold_lane(hold(first, HoldReason::Auth)).await.unwrap();
    let row = t.store.movable_rows(first, None).await.unwrap().rows.remove(0);
    let moved = RowMove {
        seq: row.place.seq,
        generation: row.generation,
        to: second,
    };
    assert_eq!(t.store.move_rows(first, vec![moved]).await.unwrap().len(), 1);
    let claimed = t.claim_one(second).await;
    let mut record = delivered(&claimed);
    record.attempt.as_mut().unwrap().target = "second".into();
    record.recipients = vec![update(BOB, RecipientState::Accepted)];
    t.record(record).await;
    assert_eq!(holds(t, first, unpaid(both, BOB)).await, [second]);
    assert_eq!(holds(t, second, unpaid(both, ANN)).await, [first]);
}

pub async fn a_failure_of_the_lane_is_none_of_settings_that_are_newer_than_the_message(t: &TestStore) {
    let provider = t.provider(TENANT, "sms").await;
    let lane = provider.lane;
    let id = to_ann(t, lane).await;
    t.clock.advance(SECOND);
    t.store
        .put_provider(&provider.provider, Some(provider.version), &admin())
        .await
        .unwrap();
    assert_eq!(holds(t, lane, unpaid(id, ANN)).await, []);
    assert_eq!(
        t.status(id).await,
        Status::Parked,
        "the message failed all the same"
    );
    let id = to_ann(t, lane).await;
    assert_eq!(holds(t, lane, unpaid(id, ANN)).await, [lane]);
}

pub async fn another_tenants_receipt_finds_nothing(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    let tenant = t.tenant("other").await;
    let from = ReceiptsFrom { tenant, lane };
    t.store
        .keep_receipts(from, vec![about(id, 0, ANN, Read)])
        .await
        .unwrap();
    assert_eq!(as_what(&work(t).await), [DoneAs::Purged]);
    assert_eq!(receipt_of(t, id).await, None);
}

pub async fn a_provider_is_found_by_the_hash_of_its_secret_and_by_no_earlier_one(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = ProviderId::new("sms");
    let with = |byte: u8, sealed: Option<&str>| ProviderCallback {
        hash: [byte; 32],
        sealed: sealed.map(str::to_owned),
    };
    let before = t.store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(before.callback, None);
    let hold = store::outbox::HoldLane {
        lane,
        config_version: None,
        reason: HoldReason::Auth,
        detail: None,
        code: None,
        probe_after: None,
        actor: admin(),
    };
    t.store.hold_lane(hold).await.unwrap();
    for (secret, sealed) in [(1, Some("sealed")), (2, None)] {
        let put = t
            .store
            .put_callback(TENANT, &id, with(secret, sealed), Some(&admin()))
            .await;
        assert!(put.unwrap());
        let found = t
            .store
            .provider_by_callback(&[secret; 32])
            .await
            .unwrap()
            .unwrap();
        assert_eq!((found.provider.id.as_str(), found.lane), ("sms", lane));
        assert_eq!(found.callback, Some(with(secret, sealed)));
        assert!(found.hold.is_some(), "nothing the hold is about has changed");
    }
    assert_eq!(t.store.provider_by_callback(&[1; 32]).await.unwrap(), None);
    let after = t.store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(after.version, before.version + 2);
    // Sealing the same secret anew changes nothing for anybody.
    t.store
        .put_callback(TENANT, &id, with(2, Some("again")), None)
        .await
        .unwrap();
    let resealed = t.store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(
        (resealed.version, resealed.callback),
        (after.version, Some(with(2, Some("again"))))
    );
    let none = ProviderId::new("none");
    let put = t
        .store
        .put_callback(TENANT, &none, with(3, None), Some(&admin()))
        .await;
    assert!(!put.unwrap());
    t.store.delete_provider(TENANT, &id, &admin()).await.unwrap();
    assert_eq!(t.store.provider_by_callback(&[2; 32]).await.unwrap(), None);
}

pub async fn an_interrupted_attempt_to_a_list_is_completed_only_by_all_of_its_members(t: &TestStore) {
    let lane = t.lane("mail").await;
    let member = |address: &str| domain::Recipient {
        name: None,
        address: address.into(),
        channel: None,
        enabled: true,
    };
    let list = store::directory::List {
        name: "ops".into(),
        recipients: vec![member("a@x"), member("b@x")],
    };
    t.store.put_list(TENANT, &list, &admin()).await.unwrap();
    let id = t.parked(lane).await;
    told(t, lane, vec![about(id, 0, "a@x", Delivered)]).await;
    assert_eq!(t.status(id).await, Status::Parked);
    told(t, lane, vec![about(id, 0, "b@x", Read)]).await;
    let row = t.get(id).await;
    assert_eq!(
        (row.status, row.receipt.as_deref()),
        (Status::Delivered, Some("delivered"))
    );
}

pub async fn whoever_wins_between_a_receipt_and_an_operator_the_row_has_one_story(t: &TestStore) {
    let lane = t.lane("sms").await;
    let mut ids = vec![];
    for _ in 0..20 {
        let id = sms(t, lane, &[ANN]).await;
        let claimed = t.claim_one(lane).await;
        t.record(park(&claimed)).await;
        ids.push(id);
    }
    let proofs = ids.iter().map(|id| about(*id, 0, ANN, Delivered)).collect();
    keep(t, lane, proofs).await;
    let actor = admin();
    let (requeued, discarded) = ids.split_at(10);
    let requeues: Vec<_> = requeued.iter().map(|id| (*id, lane)).collect();
    let act = async {
        for (requeue, discard) in requeues.chunks(2).zip(discarded.chunks(2)) {
            t.store.requeue(TENANT, requeue, &actor).await.unwrap();
            t.store.discard(TENANT, discard, &actor).await.unwrap();
        }
    };
    let working = async {
        while t.store.receipts_waiting(1).await.unwrap() != ReceiptsWaiting::default() {
            t.store
                .work_on_receipts(3, &ReceiptRules::default())
                .await
                .unwrap();
        }
    };
    tokio::join!(act, working);
    for id in requeued {
        assert_eq!(t.status(*id).await, Status::Delivered, "whoever came first");
    }
    for id in discarded {
        assert!(matches!(
            t.status(*id).await,
            Status::Delivered | Status::Discarded
        ));
    }
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 100).await, []);
}
