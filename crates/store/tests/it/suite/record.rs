//! Writing down what attempts came to.

use crate::harness::*;
use domain::{Clock, RecipientState, Status, settle::RecipientUpdate};
use store::{
    operator::Acted,
    outbox::{Cause, Claimed, Ended, Recorded},
};

const LOST: Recorded = Recorded::LostLease { completed: false };

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
        cause: Cause::new("UNKNOWN", "?"),
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
    assert_eq!(row.last_provider_code.as_deref(), Some("5.1.1"));
    assert_eq!(row.last_error.as_deref(), Some("no such user"));
    assert_eq!(row.resolved_targets, ["gone@example.com"]);
}

pub async fn what_may_go_to_nobody_ends_discarded_with_the_reason_and_is_counted_as_such(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let mut record = park(&t.claim_one(lane).await);
    record.attempt = None;
    record.ended = Ended::Discard {
        cause: Cause::new("SUPPRESSED", "unsubscribed"),
    };
    record.recipients = vec![RecipientUpdate {
        address: "ann@example.com".into(),
        state: RecipientState::Suppressed,
        provider_message_id: None,
        cause: Some(Cause::new("SUPPRESSED", "unsubscribed")),
        tried: true,
        wait: None,
    }];
    assert_eq!(t.record(record.clone()).await, Recorded::Done);
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Discarded, 0));
    assert_eq!(row.last_code.as_deref(), Some("SUPPRESSED"));
    assert_eq!(row.last_error.as_deref(), Some("unsubscribed"));
    assert_eq!(row.recipients[0].state, RecipientState::Suppressed);
    assert_eq!(t.record(record).await, Recorded::AlreadyRecorded);
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
    let answers = t.store.record(batch.into()).await.unwrap();
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

pub async fn what_was_delivered_keeps_its_most_recent_failure(t: &TestStore) {
    let lane = t.lane("mail").await;
    let first_try = t.delivered(lane).await;
    assert_eq!(t.get(first_try).await.last_error, None);
    let failed = || ["SMTP_451", "4.7.1", "greylisted"].map(|text| Some(text.to_owned()));
    let retried = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, SECOND)).await;
    t.clock.advance(SECOND);
    t.record(delivered(&t.claim_one(lane).await)).await;
    let row = t.get(retried).await;
    assert_eq!([row.last_code, row.last_provider_code, row.last_error], failed());
    assert_eq!((row.status, row.retry_count), (Status::Delivered, 2));

    // With results of single recipients the record takes another way, and after a lost lease a third.
    let listed = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, SECOND)).await;
    t.clock.advance(SECOND);
    let mut record = delivered(&t.claim_one(lane).await);
    record.after_interruption = true;
    t.record(record).await;
    let row = t.get(listed).await;
    assert_eq!([row.last_code, row.last_provider_code, row.last_error], failed());

    let late = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, SECOND)).await;
    t.clock.advance(SECOND);
    let lost = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.claim_one(lane).await;
    t.record(delivered(&lost)).await;
    let row = t.get(late).await;
    assert_eq!(row.status, Status::Delivered);
    assert_eq!([row.last_code, row.last_provider_code, row.last_error], failed());
}
