//! Writing down what attempts came to, in time and too late.

use crate::harness::*;
use domain::{Clock, RecipientState, Status, Target, recipient::open_targets, settle::RecipientUpdate};
use store::{
    maintenance::Retention,
    operator::Acted,
    outbox::{Claimed, Ended, Recorded},
};

const LOST: Recorded = Recorded::LostLease { completed: false };
const COMPLETED: Recorded = Recorded::LostLease { completed: true };

pub async fn delivered_ends_the_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    t.clock.advance(SECOND);
    assert_eq!(t.record(delivered(&claimed)).await, Recorded::Done);
    let row = t.get(id).await;
    let now = t.clock.now();
    assert_eq!((row.status, row.retry_count), (Status::Delivered, 1));
    assert_eq!((row.delivered_at, row.ended_at), (Some(now), Some(now)));
    assert_eq!(row.last_attempt_at, Some(now - SECOND));
    assert_eq!(row.next_attempt_at, None);
    assert_eq!(row.provider_message_id.as_deref(), Some("remote-1"));
    assert_eq!(row.resolved_targets, ["ops@example.com"]);
    assert_eq!((row.last_code, row.last_error), (None, None));
    t.clock.advance(DAY);
    assert_eq!(t.claim(lane, 10).await, []);
}

pub async fn a_retry_waits_its_delay_and_counts(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    for number in 1..=3 {
        let claimed = t.claim_one(lane).await;
        assert_eq!((claimed.attempts, claimed.interruptions), (number - 1, 0));
        assert_eq!(t.record(retry(&claimed, MINUTE)).await, Recorded::Done);
        let row = t.get(id).await;
        assert_eq!((row.status, row.retry_count), (Status::Retrying, number));
        assert_eq!(row.next_attempt_at, Some(t.clock.now() + MINUTE));
        assert_eq!(row.last_code.as_deref(), Some("SMTP_451"));
        assert_eq!(row.last_error.as_deref(), Some("greylisted"));
        t.clock.advance(MINUTE);
    }
}

pub async fn an_unknown_answer_is_counted_as_such(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    let mut record = retry(&claimed, SECOND);
    record.ended = Ended::Retry {
        after: SECOND,
        unknown: true,
        code: "HTTP_299".into(),
        error: "?".into(),
    };
    t.record(record).await;
    t.clock.advance(SECOND);
    let again = t.claim_one(lane).await;
    assert_eq!((again.unknowns, again.attempts), (1, 1));
}

pub async fn a_wait_is_uncounted_due_at_once_and_shows_the_reason(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    assert_eq!(t.record(wait(&claimed)).await, Recorded::Done);
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    assert_eq!(row.last_code.as_deref(), Some("SMTP_535"));
    assert_eq!(row.last_error.as_deref(), Some("password refused"));
    assert_eq!(row.next_attempt_at, Some(t.clock.now()));
    let again = t.claim_one(lane).await;
    assert_eq!((again.attempts, again.interruptions), (0, 0));
}

pub async fn parked_ends_the_row_with_code_and_words(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.parked(lane).await;
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Parked, 1));
    assert_eq!((row.delivered_at, row.ended_at), (None, Some(t.clock.now())));
    assert_eq!(row.last_code.as_deref(), Some("SMTP_550"));
    assert_eq!(row.last_error.as_deref(), Some("no such user"));
    assert_eq!(row.resolved_targets, ["gone@example.com"]);
}

pub async fn nothing_sent_counts_no_attempt(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let mut record = park(&t.claim_one(lane).await);
    record.attempt = None;
    assert_eq!(t.record(record.clone()).await, Recorded::Done);
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Parked, 0));
    assert_eq!(t.record(record).await, Recorded::AlreadyRecorded);
}

pub async fn several_records_in_one_call_are_answered_in_order(t: &TestStore) {
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 5).await;
    let claimed = t.claim(lane, 5).await;
    t.store.release(&[claimed[2].lease]).await.unwrap();
    let batch = vec![
        park(&claimed[0]),
        delivered(&claimed[1]),
        retry(&claimed[2], HOUR),
        wait(&claimed[3]),
        retry(&claimed[4], HOUR),
        park(&claimed[0]),
    ];
    let answers = t.store.record(batch).await.unwrap();
    let done = Recorded::Done;
    assert_eq!(answers, [done, done, LOST, done, done, Recorded::AlreadyRecorded]);
    let mut found = vec![];
    for id in ids {
        found.push(t.status(id).await);
    }
    use Status::{Delivered, Parked, Pending, Retrying};
    assert_eq!(found, [Parked, Delivered, Pending, Pending, Retrying]);
}

pub async fn recording_twice_changes_nothing_the_second_time(t: &TestStore) {
    let lane = t.lane("mail").await;
    type Make = fn(&Claimed) -> store::outbox::AttemptRecord;
    let endings: [Make; 4] = [delivered, park, wait, |c| retry(c, HOUR)];
    for make in endings {
        let id = t.send(lane).await;
        let claimed = t.claim_one(lane).await;
        let record = make(&claimed);
        assert_eq!(t.record(record.clone()).await, Recorded::Done);
        let (row, log) = (t.get(id).await, t.store.attempts(TENANT, id).await.unwrap());
        t.clock.advance(SECOND);
        assert_eq!(t.record(record).await, Recorded::AlreadyRecorded);
        assert_eq!(
            (t.get(id).await, t.store.attempts(TENANT, id).await.unwrap()),
            (row, log)
        );
        // Out of the way of the next one.
        if let Acted::Done = t.store.cancel(TENANT, id, &admin()).await.unwrap() {}
    }
}

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
    assert_eq!((row.last_code, row.last_error), (None, None));
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
        terminal: HOUR,
        audit: 10 * DAY,
        spent_keys: None,
        stats: 10 * DAY,
    };
    assert_eq!(t.store.purge_chunk(&at_once, 10).await.unwrap().notifications, 1);
    // Whatever comes next must not be taken for the row that is gone.
    let next = t.send(first.lane).await;
    assert_eq!(t.record(delivered(&first)).await, LOST);
    assert_eq!(t.status(next).await, Status::Pending);
}

fn said(address: &str, state: RecipientState) -> RecipientUpdate {
    let accepted = state == RecipientState::Accepted;
    RecipientUpdate {
        address: address.into(),
        state,
        provider_message_id: accepted.then(|| format!("id of {address}")),
        code: (!accepted).then(|| "SMTP_450".into()),
        error: (!accepted).then(|| "try again".into()),
    }
}

async fn to_three(t: &TestStore) -> Claimed {
    let lane = t.lane("mail").await;
    let three = ["a", "b", "c"].map(String::from).to_vec();
    let submission = domain::Submission {
        target: Target::Recipients(three),
        ..mail()
    };
    t.accept(lane, submission).await;
    t.claim_one(lane).await
}

fn states(known: &[domain::RecipientResult]) -> Vec<(&str, RecipientState, i32)> {
    known
        .iter()
        .map(|r| (r.address.as_str(), r.state, r.generation))
        .collect()
}

use RecipientState::{Accepted, Failed, Open};

pub async fn recipients_keep_what_each_of_them_said(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = retry(&claimed, SECOND);
    record.recipients = vec![said("a", Accepted), said("b", Open), said("c", Failed)];
    t.record(record).await;
    t.clock.advance(SECOND);
    let again = t.claim_one(claimed.lane).await;
    assert_eq!(
        states(&again.known),
        [("a", Accepted, 0), ("b", Open, 0), ("c", Failed, 0)]
    );
    assert_eq!(again.known[0].provider_message_id.as_deref(), Some("id of a"));
    assert_eq!(again.known[1].code.as_deref(), Some("SMTP_450"));
    assert_eq!(again.known[2].error.as_deref(), Some("try again"));
    assert_eq!(again.known[0].at, t.clock.now() - SECOND);

    let mut record = park(&again);
    record.recipients = vec![said("b", Accepted)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Accepted, 0), ("c", Failed, 0)]
    );
}

pub async fn who_accepted_is_never_downgraded(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = retry(&claimed, SECOND);
    record.recipients = vec![said("a", Accepted), said("b", Open)];
    t.record(record).await;
    t.clock.advance(SECOND);
    let again = t.claim_one(claimed.lane).await;
    let mut record = retry(&again, SECOND);
    record.recipients = vec![said("a", Failed), said("b", Failed)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(states(&row.recipients), [("a", Accepted, 0), ("b", Failed, 0)]);
    assert_eq!(row.recipients[0].provider_message_id.as_deref(), Some("id of a"));
}

pub async fn a_lost_lease_still_adds_who_accepted(t: &TestStore) {
    let first = to_three(t).await;
    t.clock.advance(LEASE);
    let second = t.claim_one(first.lane).await;
    let mut record = retry(&second, SECOND);
    record.recipients = vec![said("a", Failed), said("b", Open), said("c", Accepted)];
    t.record(record).await;
    let mut late = retry(&first, HOUR);
    late.recipients = vec![said("a", Accepted), said("b", Failed), said("c", Failed)];
    assert_eq!(t.record(late).await, LOST);
    let row = t.get(first.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Open, 0), ("c", Accepted, 0)]
    );
}

pub async fn a_requeue_opens_only_who_failed(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = park(&claimed);
    record.recipients = vec![said("a", Accepted), said("b", Failed), said("c", Accepted)];
    t.record(record).await;
    let ask = [(claimed.id, claimed.lane)];
    assert_eq!(
        t.store.requeue(TENANT, &ask, &admin()).await.unwrap(),
        [Acted::Done]
    );
    let again = t.claim_one(claimed.lane).await;
    assert_eq!((again.generation, again.attempts), (1, 0));
    let list = ["a", "b", "c"].map(String::from).to_vec();
    assert_eq!(open_targets(list, &again.known, again.generation), ["b"]);
    let mut record = park(&again);
    record.recipients = vec![said("b", Failed)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Failed, 1), ("c", Accepted, 0)]
    );
}
