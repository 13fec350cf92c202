//! What a person may do.

use crate::harness::*;
use domain::{Actor, AuditKind, AuditStatus, Clock, LaneId, NotificationId, Status};
use store::{
    Error,
    operator::Acted,
    outbox::{NewNotification, Recorded},
};

pub async fn a_parked_row_goes_round_again_as_new(t: &TestStore) {
    let (lane, other) = (t.lane("mail").await, t.lane("other").await);
    let id = t.parked(lane).await;
    t.clock.advance(HOUR);
    let ann = Actor::new("key:ann");
    assert_eq!(
        t.store.requeue(TENANT, &[(id, other)], &ann).await.unwrap(),
        [Acted::Done]
    );
    let row = t.get(id).await;
    let now = t.clock.now();
    assert_eq!(
        (row.status, row.retry_count, row.generation),
        (Status::Pending, 0, 1)
    );
    assert_eq!((row.waiting_since, row.next_attempt_at), (now, Some(now)));
    assert_eq!((row.ended_at, row.provider.as_deref()), (None, Some("other")));
    let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    let last = log.last().unwrap();
    assert_eq!(
        (last.kind, last.status),
        (AuditKind::NotifyRequeue, AuditStatus::Pending)
    );
    assert_eq!((last.actor.as_str(), last.at), ("key:ann", now));
    assert_eq!(t.claim(lane, 1).await, []);
    let again = t.claim_one(other).await;
    assert_eq!((again.attempts, again.unknowns, again.interruptions), (0, 0, 0));
    assert_eq!((again.generation, again.waiting_since), (1, now));
    assert_eq!(t.record(delivered(&again)).await, Recorded::Done);
    assert_eq!(t.status(id).await, Status::Delivered);
}

pub async fn only_parked_rows_are_requeued(t: &TestStore) {
    let lane = t.lane("mail").await;
    let delivered = t.delivered(lane).await;
    let discarded = t.parked(lane).await;
    t.store.discard(TENANT, &[discarded], &admin()).await.unwrap();
    let pending = t.send(lane).await;
    let unknown = NotificationId::mint();
    let ask = [
        (delivered, lane),
        (discarded, lane),
        (pending, lane),
        (unknown, lane),
    ];
    let answers = t.store.requeue(TENANT, &ask, &admin()).await.unwrap();
    let expected = [
        Acted::WrongState(Status::Delivered),
        Acted::WrongState(Status::Discarded),
        Acted::WrongState(Status::Pending),
        Acted::NotFound,
    ];
    assert_eq!(answers, expected);
}

pub async fn only_parked_rows_are_discarded(t: &TestStore) {
    let lane = t.lane("mail").await;
    let delivered = t.delivered(lane).await;
    let parked = t.parked(lane).await;
    let retrying = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, HOUR)).await;
    t.clock.advance(SECOND);
    let ids = [delivered, parked, retrying, NotificationId::mint()];
    let answers = t.store.discard(TENANT, &ids, &admin()).await.unwrap();
    let expected = [
        Acted::WrongState(Status::Delivered),
        Acted::Done,
        Acted::WrongState(Status::Retrying),
        Acted::NotFound,
    ];
    assert_eq!(answers, expected);
    let row = t.get(parked).await;
    assert_eq!(
        (row.status, row.ended_at),
        (Status::Discarded, Some(t.clock.now()))
    );
    assert_eq!(row.last_code.as_deref(), Some("SMTP_550"));
    let log = t.store.attempts(TENANT, parked).await.unwrap().unwrap();
    let last = log.last().unwrap();
    assert_eq!(
        (last.status, last.actor.as_str()),
        (AuditStatus::Discarded, "key:admin")
    );
}

pub async fn who_loses_a_race_is_told(t: &TestStore) {
    let lane = t.lane("mail").await;
    for _ in 0..10 {
        let id = t.parked(lane).await;
        let ask = [(id, lane)];
        let actor = admin();
        let ids = [id];
        let (requeued, discarded) = tokio::join!(
            t.store.requeue(TENANT, &ask, &actor),
            t.store.discard(TENANT, &ids, &actor)
        );
        match (requeued.unwrap()[0], discarded.unwrap()[0]) {
            (Acted::Done, Acted::WrongState(Status::Pending)) => {
                assert_eq!(t.status(id).await, Status::Pending);
                t.store.cancel(TENANT, id, &actor).await.unwrap();
            }
            (Acted::WrongState(Status::Discarded), Acted::Done) => {
                assert_eq!(t.status(id).await, Status::Discarded);
            }
            both => panic!("{both:?}"),
        }
    }
}

pub async fn a_waiting_row_can_be_cancelled(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let ann = Actor::new("key:ann");
    assert_eq!(t.store.cancel(TENANT, id, &ann).await.unwrap(), Acted::Done);
    let row = t.get(id).await;
    assert_eq!(
        (row.status, row.ended_at),
        (Status::Discarded, Some(t.clock.now()))
    );
    assert_eq!(row.last_code.as_deref(), Some("CANCELLED"));
    assert_eq!(t.claim(lane, 1).await, []);
    let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    let last = log.last().unwrap();
    assert_eq!(
        (last.status, last.actor.as_str()),
        (AuditStatus::Discarded, "key:ann")
    );
}

pub async fn a_row_that_ended_cannot_be_cancelled(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (delivered, parked) = (t.delivered(lane).await, t.parked(lane).await);
    for (id, status) in [(delivered, Status::Delivered), (parked, Status::Parked)] {
        let answer = t.store.cancel(TENANT, id, &admin()).await.unwrap();
        assert_eq!(answer, Acted::WrongState(status));
    }
    let unknown = t.store.cancel(TENANT, NotificationId::mint(), &admin()).await;
    assert_eq!(unknown.unwrap(), Acted::NotFound);
}

pub async fn cancelling_what_is_being_sent_stays_cancelled(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    assert_eq!(t.store.cancel(TENANT, id, &admin()).await.unwrap(), Acted::Done);
    let late = t.record(delivered(&claimed)).await;
    assert_eq!(late, Recorded::LostLease { completed: false });
    assert_eq!(t.status(id).await, Status::Discarded);
    let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    assert!(
        log.iter().any(|row| row.status == AuditStatus::Attempted),
        "that it went out is on record"
    );
}

pub async fn one_answer_per_id_in_order(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (a, b) = (t.parked(lane).await, t.parked(lane).await);
    let ids = [b, NotificationId::mint(), a, b];
    let answers = t.store.discard(TENANT, &ids, &admin()).await.unwrap();
    let again = Acted::WrongState(Status::Discarded);
    assert_eq!(answers, [Acted::Done, Acted::NotFound, Acted::Done, again]);
}

pub async fn another_tenants_rows_are_not_found(t: &TestStore) {
    let lane = t.lane("mail").await;
    let elsewhere = t.tenant("elsewhere").await;
    let (parked, waiting) = (t.parked(lane).await, t.send(lane).await);
    let (store, actor) = (&t.store, admin());
    assert_eq!(
        store.requeue(elsewhere, &[(parked, lane)], &actor).await.unwrap(),
        [Acted::NotFound]
    );
    assert_eq!(
        store.discard(elsewhere, &[parked], &actor).await.unwrap(),
        [Acted::NotFound]
    );
    assert_eq!(
        store.cancel(elsewhere, waiting, &actor).await.unwrap(),
        Acted::NotFound
    );
    assert_eq!(t.status(parked).await, Status::Parked);
    assert_eq!(t.status(waiting).await, Status::Pending);
}

pub async fn a_late_success_of_an_earlier_generation_completes_the_requeued_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let slow = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.record(park(&t.claim_one(lane).await)).await;
    t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
    assert_eq!(
        t.record(delivered(&slow)).await,
        Recorded::LostLease { completed: true }
    );
    assert_eq!(t.status(id).await, Status::Delivered, "it is not sent once more");
    assert_eq!(t.claim(lane, 1).await, []);
}

/// The same content under an id of its own.
async fn repeat_of(t: &TestStore, id: NotificationId, lane: LaneId) -> NewNotification {
    let mut submission = t.get(id).await.submission;
    submission.id = NotificationId::mint();
    submission.resend_of = Some(id);
    NewNotification { submission, lane }
}

pub async fn whatever_has_ended_is_sent_again_and_says_who_asked(t: &TestStore) {
    let lane = t.lane("mail").await;
    let ann = Actor::new("key:ann");
    let discarded = t.parked(lane).await;
    t.store.discard(TENANT, &[discarded], &admin()).await.unwrap();
    let ended = [t.delivered(lane).await, t.parked(lane).await, discarded];
    for id in ended {
        t.clock.advance(SECOND);
        let before = t.get(id).await;
        let repeat = repeat_of(t, id, lane).await;
        let new = repeat.submission.id;
        let acted = t.store.resend(TENANT, id, repeat, &ann).await.unwrap();
        assert_eq!(acted, Acted::Done);
        assert_eq!(t.get(id).await, before, "what was repeated stays as it is");
        let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
        let last = log.last().unwrap();
        assert_eq!(
            (last.kind, last.status, last.actor.as_str()),
            (AuditKind::NotifyResend, AuditStatus::Submitted, "key:ann")
        );
        assert_eq!(last.detail, Some(format!("as {new}")));
        let found = t.get(new).await;
        assert_eq!(
            (found.status, found.submission.resend_of),
            (Status::Pending, Some(id))
        );
        let claimed = t.claim_one(lane).await;
        assert_eq!(claimed.id, new);
        t.record(delivered(&claimed)).await;
    }
}

pub async fn a_repeat_that_is_not_taken_leaves_no_trace(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.delivered(lane).await;
    let known = t.send(lane).await;
    let rows = t.store.attempts(TENANT, id).await.unwrap().unwrap().len();

    let mut taken = repeat_of(t, id, lane).await;
    taken.submission.id = known;
    let answer = t.store.resend(TENANT, id, taken, &admin()).await;
    assert!(matches!(answer, Err(Error::Conflict(_))), "{answer:?}");
    let mut long = repeat_of(t, id, lane).await;
    long.submission.content.subject = "x".repeat(1_001);
    let answer = t.store.resend(TENANT, id, long, &admin()).await;
    assert!(matches!(answer, Err(Error::Refused(_))), "{answer:?}");
    assert_eq!(t.store.attempts(TENANT, id).await.unwrap().unwrap().len(), rows);

    let repeat = repeat_of(t, id, lane).await;
    let new = repeat.submission.id;
    let waiting = t.store.resend(TENANT, known, repeat.clone(), &admin()).await;
    assert_eq!(waiting.unwrap(), Acted::WrongState(Status::Pending));
    let nobody = t
        .store
        .resend(TENANT, NotificationId::mint(), repeat.clone(), &admin())
        .await;
    assert_eq!(nobody.unwrap(), Acted::NotFound);
    let other = t.tenant("other").await;
    let strange = t.store.resend(other, id, repeat, &admin()).await;
    assert_eq!(strange.unwrap(), Acted::NotFound);
    assert_eq!(t.store.get(TENANT, new).await.unwrap(), None);
}

pub async fn a_reason_stands_in_the_log_of_what_was_given_up(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (parked, waiting) = (t.parked(lane).await, t.send(lane).await);
    let why = Some("the pump is gone");
    let acted = t.store.discard_noted(TENANT, &[parked], &admin(), why).await;
    assert_eq!(acted.unwrap(), [Acted::Done]);
    let unknown = NotificationId::mint();
    let acted = t
        .store
        .cancel_noted(TENANT, &[waiting, unknown, parked], &admin(), why)
        .await;
    let expected = [Acted::Done, Acted::NotFound, Acted::WrongState(Status::Discarded)];
    assert_eq!(acted.unwrap(), expected);
    for id in [parked, waiting] {
        let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
        let last = log.last().unwrap();
        assert_eq!(
            (last.status, last.detail.as_deref()),
            (AuditStatus::Discarded, why)
        );
    }
}

pub async fn a_waiting_row_is_due_at_once_when_somebody_asks(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    t.record(retry(&claimed, HOUR)).await;
    assert_eq!(t.claim(lane, 1).await, []);
    let acted = t.store.try_now(TENANT, id, &admin()).await.unwrap();
    assert_eq!(acted, (Acted::Done, Some(lane)));
    let log = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    assert_eq!(log.last().unwrap().kind, AuditKind::NotifyTry);
    let again = t.claim_one(lane).await;
    assert_eq!((again.id, again.attempts), (id, 1), "counted as usual");
    // Under way: nothing to do, and nothing is written down.
    let acted = t.store.try_now(TENANT, id, &admin()).await.unwrap();
    assert_eq!(acted, (Acted::Done, Some(lane)));
    assert_eq!(
        t.store.attempts(TENANT, id).await.unwrap().unwrap().len(),
        log.len()
    );
    t.record(delivered(&again)).await;
    let (acted, _) = t.store.try_now(TENANT, id, &admin()).await.unwrap();
    assert_eq!(acted, Acted::WrongState(Status::Delivered));
    let (acted, _) = t
        .store
        .try_now(TENANT, NotificationId::mint(), &admin())
        .await
        .unwrap();
    assert_eq!(acted, Acted::NotFound);
}
