//! Connections that break at the worst moment, and a database that refuses one thing among many.

use super::{Schema, link::Link, open};
use crate::{
    harness::{LEASE, TENANT, TestStore, delivered, mail, park, retry},
    suite::events::{due, emit, event},
};
use domain::{LaneId, LeaseToken, ManualClock, OnAmbiguous, Status};
use std::{sync::Arc, time::Duration};
use store::{
    Error,
    events::{EventEnd, SettleEvent},
    outbox::{AttemptRecord, Claimed, Ingested, LaneWant, NewNotification, Recorded},
};

struct Linked {
    t: TestStore,
    link: Link,
    schema: Schema,
}

async fn over_a_link() -> Linked {
    let schema = Schema::fresh();
    let link = Link::to(&schema.server).await;
    let clock = Arc::new(ManualClock::default());
    let store = open(&schema.url_at(&link.url), &clock, "one").await;
    Linked {
        t: TestStore::new(Arc::new(store), clock, ()),
        link,
        schema,
    }
}

async fn with_admin() -> (TestStore, tokio_postgres::Client) {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let store = schema.open(&clock, "one").await;
    (TestStore::new(Arc::new(store), clock, ()), schema.admin().await)
}

/// What sending the same again may say. A first try whose commit is not known (`maybe_before`) may have reached the server
/// before the connection broke, and then the second is rightly a duplicate of it.
fn stored_now_or_before(answer: &Ingested, maybe_before: bool) -> bool {
    match answer {
        Ingested::Accepted => true,
        Ingested::Duplicate { same_content, .. } => maybe_before && *same_content,
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ingest_whose_answer_was_lost_is_accepted_not_a_duplicate() {
    let l = over_a_link().await;
    let lane = l.t.lane("mail").await;
    // Both writers are connected and have prepared their statement.
    for _ in 0..4 {
        l.t.send(lane).await;
    }
    let submission = mail();
    l.link.lose_an_answer(0);
    assert_eq!(l.t.ingest_one(lane, submission.clone()).await, Ingested::Accepted);
    assert!(matches!(
        l.t.ingest_one(lane, submission).await,
        Ingested::Duplicate {
            same_content: true,
            ..
        }
    ));
    let admin = l.schema.admin().await;
    let rows: i64 = admin
        .query_one("select count(*) from notifications", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(rows, 5);
    l.t.check().await;
}

/// What three attempts are answered when the link loses an answer on the way; each of them is on record once, whichever it was.
async fn recorded_without_an_answer(
    l: &Linked,
    lane: LaneId,
    passed: usize,
    status: Status,
    logged: usize,
) -> Vec<Recorded> {
    let ids = l.t.send_many(lane, 3).await;
    let claimed = l.t.claim(lane, 3).await;
    l.link.lose_an_answer(passed);
    let records = claimed.iter().map(|claimed| match status {
        Status::Delivered => delivered(claimed),
        _ => again(claimed),
    });
    let answers = l.t.store.record(records.collect()).await.unwrap();
    for id in ids {
        let row = l.t.get(id).await;
        assert_eq!((row.status, row.retry_count), (status, 1));
        let attempts = l.t.store.attempts(TENANT, id).await.unwrap().unwrap();
        assert_eq!(attempts.len(), logged, "{attempts:#?}");
    }
    answers
}

fn again(claimed: &Claimed) -> AttemptRecord {
    retry(claimed, Duration::from_secs(3600))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_whose_answer_was_lost_is_written_once() {
    let l = over_a_link().await;
    let lane = l.t.lane("mail").await;
    l.t.delivered(lane).await;
    let warm = l.t.send(lane).await;
    let claimed = l.t.claim_one(lane).await;
    assert_eq!(claimed.id, warm);
    l.t.record(again(&claimed)).await;
    // What ends its row is one statement, and the answer to it is the answer to the commit.
    let ends = [(0, Recorded::AlreadyRecorded)];
    // Begin, outcome, audit, commit: whichever answer is lost.
    let retries = [
        (0, Recorded::Done),
        (1, Recorded::Done),
        (2, Recorded::Done),
        (3, Recorded::AlreadyRecorded),
    ];
    let of_ends = ends.map(|(passed, expected)| (passed, expected, Status::Delivered, 3));
    let of_retries = retries.map(|(passed, expected)| (passed, expected, Status::Retrying, 2));
    for (passed, expected, status, logged) in of_ends.into_iter().chain(of_retries) {
        // A session that is new prepares its statements first, so that another answer is the one that is lost: it knows them afterwards.
        let mut rounds = 0;
        loop {
            let answers = recorded_without_an_answer(&l, lane, passed, status, logged).await;
            if answers == [expected; 3] {
                break;
            }
            assert_eq!(answers, [Recorded::Done; 3], "{status} after {passed}");
            rounds += 1;
            assert!(rounds < 10, "{status} after {passed}: never {expected:?}");
        }
    }
    l.t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_events_failure_whose_answer_was_lost_is_counted_once() {
    let l = over_a_link().await;
    emit(&l.t, vec![event("1")]).await;
    let seq = due(&l.t).await.remove(0).seq;
    let admin = l.schema.admin().await;
    let attempts = async || -> i32 {
        let counted = admin.query_one("select attempts from outbox_messages", &[]).await;
        counted.unwrap().get(0)
    };
    // Begin, event, schedules, commit, and what a session does that is new: whichever answer is lost.
    for passed in (0..12).cycle().take(120) {
        let before = attempts().await;
        l.link.lose_an_answer(passed);
        let settle = SettleEvent {
            seq,
            to: EventEnd::Retry(Duration::ZERO),
            error: "not published".into(),
        };
        let answer = l.t.store.settle_events(vec![settle]).await;
        let counted = attempts().await - before;
        match &answer {
            Ok(()) => assert_eq!(counted, 1, "after {passed}"),
            // The commit is done, and its answer is what was lost.
            Err(_) if counted == 1 => return,
            Err(_) => assert_eq!(counted, 0, "after {passed}: {answer:?}"),
        }
    }
    panic!("no answer to a commit was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_whose_answer_was_lost_is_given_back_uncounted() {
    let l = over_a_link().await;
    let lane = l.t.lane("mail").await;
    l.t.send_many(lane, 3).await;
    let warm = l.t.claim(lane, 1).await;
    assert_eq!(warm.len(), 1);
    l.link.lose_an_answer(0);
    let want = LaneWant { lane, n: 10 };
    let lost = l.t.store.claim_due(&[want], LeaseToken::mint(), LEASE).await;
    assert!(matches!(lost, Err(Error::Unavailable(_))), "{lost:?}");
    let rows = testkit::eventually("the rows to be given back", async || {
        let rows = l.t.claim(lane, 10).await;
        (!rows.is_empty()).then_some(rows)
    })
    .await;
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row.interruptions == 0 && row.attempts == 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_server_calls_fail_soon_and_work_again_when_it_is_back() {
    let l = over_a_link().await;
    let lane = l.t.lane("mail").await;
    l.t.send(lane).await;
    l.link.cut();
    // Not how fast it must be: a call that waits for the server itself would never end.
    let soon = Duration::from_secs(120);
    let batch = vec![NewNotification {
        submission: mail(),
        lane,
    }];
    let refused = tokio::time::timeout(soon, l.t.store.ingest(batch.clone()))
        .await
        .unwrap();
    assert!(refused.as_ref().is_err_and(Error::may_pass), "{refused:?}");
    let stored_before = matches!(refused, Err(Error::UnknownCommit(_)));
    let refused = tokio::time::timeout(soon, l.t.store.ping()).await.unwrap();
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    l.link.mend();
    let again = l.t.store.ingest(batch).await.unwrap();
    assert!(
        stored_now_or_before(&again[0], stored_before),
        "{again:?} after {refused:?}"
    );
    assert_eq!(l.t.claim(lane, 10).await.len(), 2);
    l.t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_while_sessions_keep_being_killed() {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let store = Arc::new(schema.open(&clock, "one").await);
    let t = TestStore::new(store.clone(), clock, ());
    let lane = t.lane("mail").await;
    let admin = schema.admin().await;
    let name = schema.name.clone();
    let killer = tokio::spawn(async move {
        let kill = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
        for _ in 0..15 {
            admin.query(kill, &[&name]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    });
    let senders: Vec<_> = (0..8)
        .map(|_| {
            let store = t.store.clone();
            tokio::spawn(async move {
                for _ in 0..40 {
                    let new = NewNotification {
                        submission: mail(),
                        lane,
                    };
                    let mut maybe_before = false;
                    loop {
                        match store.ingest(vec![new.clone()]).await {
                            Ok(answer) => {
                                assert!(stored_now_or_before(&answer[0], maybe_before), "{answer:?}");
                                break;
                            }
                            // `Unavailable` is said before anything was sent: no connection was to be had.
                            Err(error) if error.may_pass() => {
                                maybe_before |= matches!(error, Error::UnknownCommit(_));
                                tokio::time::sleep(Duration::from_millis(5)).await;
                            }
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    killer.await.unwrap();
    let admin = schema.admin().await;
    let rows: i64 = admin
        .query_one("select count(*) from due", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(rows, 320);
    t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_is_written_even_if_its_audit_row_cannot_be() {
    let (t, admin) = with_admin().await;
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 3).await;
    let claimed = t.claim(lane, 3).await;
    admin
        .batch_execute("alter table audit_log rename to elsewhere")
        .await
        .unwrap();
    let answers = t.store.record(claimed.iter().map(park).collect()).await.unwrap();
    assert_eq!(answers, [Recorded::Done; 3]);
    admin
        .batch_execute("alter table elsewhere rename to audit_log")
        .await
        .unwrap();
    for id in ids {
        assert_eq!(t.status(id).await, Status::Parked);
    }
    t.delivered(lane).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_audit_row_that_is_refused_costs_only_itself() {
    let (t, admin) = with_admin().await;
    let lane = t.lane("mail").await;
    t.send_many(lane, 50).await;
    let claimed = t.claim(lane, 50).await;
    let check = "alter table audit_log add check (detail is distinct from 'poison')";
    admin.batch_execute(check).await.unwrap();
    let mut records: Vec<_> = claimed.iter().map(park).collect();
    records[17].attempt.as_mut().unwrap().detail = Some("poison".into());
    let answers = t.store.record(records.into()).await.unwrap();
    assert_eq!(answers, [Recorded::Done; 50]);
    let rows: i64 = admin
        .query_one("select count(*) from audit_log where kind = 'NotifyDeliver'", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(rows, 49);
    assert_eq!(t.status(claimed[17].id).await, Status::Parked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_that_is_refused_is_written_without_its_words() {
    let (t, admin) = with_admin().await;
    let lane = t.lane("mail").await;
    t.send_many(lane, 50).await;
    let claimed = t.claim(lane, 50).await;
    let check = "alter table outcome add check (error is distinct from 'poison')";
    admin.batch_execute(check).await.unwrap();
    let mut records: Vec<_> = claimed.iter().map(delivered).collect();
    records[3] = park(&claimed[3]);
    if let store::outbox::Ended::Park { cause } = &mut records[3].ended {
        cause.error = "poison".into();
    }
    assert_eq!(
        t.store.record(records.into()).await.unwrap(),
        [Recorded::Done; 50]
    );
    let row = t.get(claimed[3].id).await;
    assert_eq!(row.status, Status::Parked);
    assert_eq!(row.last_code.as_deref(), Some("SMTP_550"));
    assert!(row.last_error.unwrap().contains("refused by the database"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nul_in_a_far_ends_words_is_shown_as_a_replacement() {
    let (t, _) = with_admin().await;
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    let mut record = retry(&claimed, Duration::from_secs(60));
    if let store::outbox::Ended::Retry { cause, .. } = &mut record.ended {
        cause.error = "bin\0ary".into();
    }
    assert_eq!(t.record(record).await, Recorded::Done);
    assert_eq!(t.get(id).await.last_error.as_deref(), Some("bin\u{fffd}ary"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_cannot_be_read_is_parked_alone() {
    let (t, admin) = with_admin().await;
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 3).await;
    let bad = "update notifications set channel = 'Pigeon' where id = $1";
    admin.execute(bad, &[&ids[1].0]).await.unwrap();
    let claimed: Vec<_> = t.claim(lane, 3).await.iter().map(|row| row.id).collect();
    assert_eq!(claimed, [ids[0], ids[2]]);
    let row = admin
        .query_one(
            "select o.status, o.code from outcome o join notifications n using (seq) where n.id = $1",
            &[&ids[1].0],
        )
        .await
        .unwrap();
    assert_eq!(
        (row.get::<_, &str>(0), row.get::<_, &str>(1)),
        ("Parked", "CORRUPT")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_that_is_not_there_is_refused_alone() {
    let (t, _) = with_admin().await;
    let lane = t.lane("mail").await;
    let item = |lane| NewNotification {
        submission: mail(),
        lane,
    };
    let answers = t
        .store
        .ingest(vec![item(lane), item(domain::LaneId(999)), item(lane)])
        .await
        .unwrap();
    assert_eq!(answers[0], Ingested::Accepted);
    assert!(
        matches!(&answers[1], Ingested::Refused(why) if why.contains("999")),
        "{answers:?}"
    );
    assert_eq!(answers[2], Ingested::Accepted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_claims_where_a_message_costs_money_wait_for_the_disk() {
    let (t, admin) = with_admin().await;
    let cheap = t.lane("mail").await;
    let mut sms = crate::harness::new_provider(TENANT, "sms");
    sms.on_ambiguous = OnAmbiguous::Park;
    let costly = t
        .store
        .put_provider(&sms, None, &crate::harness::admin())
        .await
        .unwrap()
        .lane;
    for lane in [cheap, costly] {
        t.send_many(lane, 2).await;
        t.claim(lane, 1).await;
    }
    // What the claim statement itself says it did.
    let claim = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/postgres/outbox/sql/claim_due.sql"
    ))
    .unwrap();
    admin.batch_execute("set synchronous_commit = off").await.unwrap();
    // In the year 2100 everything is due.
    let now = std::time::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    for (lane, durable) in [(cheap, 0i64), (costly, 1)] {
        let row = admin
            .query_one(
                &claim,
                &[
                    &now,
                    &vec![lane.0],
                    &vec![1i32],
                    &1i64,
                    &1000f64,
                    &vec![None::<std::time::SystemTime>],
                ],
            )
            .await
            .unwrap();
        assert_eq!(row.get::<_, i64>("durable"), durable);
    }
    let after: String = admin
        .query_one("show synchronous_commit", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(after, "off", "it lasts for one transaction");
}
