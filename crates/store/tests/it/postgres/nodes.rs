//! Several nodes on one database.

use super::{Schema, link::Link, open};
use crate::harness::{LEASE, TENANT, TestStore, delivered, hold, mail};
use domain::{HoldReason, LaneId, LeaseToken, ManualClock, NotificationId, Status};
use std::{collections::HashSet, sync::Arc, time::Duration};
use store::{
    Error, Maintenance, Outbox, Queries, Signals,
    outbox::{Ingested, LaneWant, NewNotification, Recorded},
    postgres::{PgStore, StoreTime},
    query::{Filter, Page},
    signals::{Change, Signal},
};
use testkit::until;

struct Two {
    one: TestStore,
    other: Arc<PgStore>,
    schema: Schema,
}

async fn two_nodes() -> Two {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let url = schema.url();
    // Both find an empty database.
    let (one, other) = tokio::join!(open(&url, &clock, "one"), open(&url, &clock, "other"));
    Two {
        one: TestStore::new(Arc::new(one), clock, ()),
        other: Arc::new(other),
        schema,
    }
}

async fn heard(signals: &mut tokio::sync::broadcast::Receiver<Signal>) -> Signal {
    let wait = Duration::from_secs(120);
    tokio::time::timeout(wait, signals.recv())
        .await
        .expect("a signal")
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_at_once_migrate_once() {
    let two = two_nodes().await;
    assert_eq!(
        two.one.store.schema_version().await.unwrap(),
        two.other.schema_version().await.unwrap()
    );
    let admin = two.schema.admin().await;
    let rows = admin
        .query("select version from refinery_schema_history", &[])
        .await
        .unwrap();
    let versions: HashSet<i32> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(versions.len(), rows.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_schema_is_left_alone_and_said_so() {
    let two = two_nodes().await;
    let admin = two.schema.admin().await;
    let newer = "insert into refinery_schema_history select 999, 'future', applied_on, checksum
                 from refinery_schema_history limit 1";
    admin.batch_execute(newer).await.unwrap();
    let refused = PgStore::open(&two.schema.url(), StoreTime::Database, "old".into()).await;
    assert!(
        matches!(refused, Err(Error::NewerSchema { found: 999, .. })),
        "{refused:?}"
    );
}

/// Announces until it is heard: the listening session may still be on its way.
async fn listens(there: &mut tokio::sync::broadcast::Receiver<Signal>, one: &dyn Signals) {
    until("the other node to listen", async || {
        one.announce(Signal::Lanes(vec![LaneId(7)]));
        there.try_recv().is_ok()
    })
    .await;
    while there.try_recv().is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_announces_the_others_hear() {
    let two = two_nodes().await;
    let (mut here, mut there) = (two.one.store.subscribe(), two.other.subscribe());
    listens(&mut there, &*two.one.store).await;
    two.one.store.announce(Signal::Lanes(vec![LaneId(9), LaneId(8)]));
    two.one.store.announce(Signal::Directory);
    two.one.store.announce(Signal::Watching);
    let told: Vec<_> = (0..300)
        .map(|_| Change {
            tenant: TENANT,
            id: NotificationId::mint(),
            status: Status::Retrying,
            code: Some("SMTP_451_4.7.1".into()),
        })
        .collect();
    two.one.store.announce(Signal::Changes {
        changes: told.clone(),
        missed: 5,
    });
    let (mut words, mut changed, mut left_out) = (HashSet::new(), vec![], 0);
    while words.len() < 3 || changed.len() < told.len() {
        match heard(&mut there).await {
            // What was announced while nobody listened may still be with them.
            Signal::Lanes(lanes) if lanes.ends_with(&[LaneId(8), LaneId(9)]) => drop(words.insert("lanes")),
            Signal::Directory => drop(words.insert("directory")),
            Signal::Watching => drop(words.insert("watching")),
            Signal::Changes { changes, missed } => {
                changed.extend(changes);
                left_out += missed;
            }
            _ => {}
        }
    }
    assert_eq!((changed, left_out), (told, 5));
    assert!(here.try_recv().is_err(), "a node does not hear itself");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_could_not_be_told_are_counted_once_others_can_be_reached_again() {
    let schema = Schema::fresh();
    let link = Link::to(&schema.server).await;
    let clock = Arc::new(ManualClock::default());
    let one = open(&schema.url_at(&link.url), &clock, "one").await;
    let other = open(&schema.url(), &clock, "other").await;
    let mut there = other.subscribe();
    listens(&mut there, &one).await;
    link.cut();
    let change = || Change {
        tenant: TENANT,
        id: NotificationId::mint(),
        status: Status::Delivered,
        code: None,
    };
    one.announce(Signal::Changes {
        changes: vec![change(), change(), change()],
        missed: 2,
    });
    // Telling is one of those who try.
    until("connections to be tried", async || link.refused() >= 4).await;
    link.mend();
    let mut heard_of = 0;
    while heard_of < 5 {
        if let Signal::Changes { changes, missed } = heard(&mut there).await {
            heard_of += changes.len() as u64 + missed;
        }
    }
    assert_eq!(heard_of, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_its_listening_session_is_told_once_it_is_back() {
    let two = two_nodes().await;
    let mut there = two.other.subscribe();
    let admin = two.schema.admin().await;
    let end_listeners = "select pg_terminate_backend(pid) from pg_stat_activity
                         where query like 'listen waypost_' || current_schema";
    let looked = async {
        loop {
            admin.execute(end_listeners, &[]).await.unwrap();
            let wait = Duration::from_secs(3);
            if let Ok(Ok(Signal::ListensAgain)) = tokio::time::timeout(wait, there.recv()).await {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(120), looked)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_ids_sent_to_both_nodes_are_accepted_once() {
    let two = two_nodes().await;
    let lane = two.one.lane("mail").await;
    let mut batch: Vec<_> = (0..300)
        .map(|_| NewNotification {
            submission: mail(),
            lane,
        })
        .collect();
    let forwards = batch.clone();
    batch.reverse();
    let (a, b) = tokio::join!(two.one.store.ingest(forwards), two.other.ingest(batch));
    let (a, mut b) = (a.unwrap(), b.unwrap());
    b.reverse();
    for (a, b) in a.iter().zip(&b) {
        let accepted = [a, b].into_iter().filter(|x| **x == Ingested::Accepted).count();
        assert_eq!(accepted, 1, "{a:?} {b:?}");
    }
    two.one.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_replace_the_same_rows_leave_one_waiting() {
    let two = two_nodes().await;
    let lane = two.one.lane("mail").await;
    let one_of_many = |i: usize| {
        let mut submission = mail();
        submission.content.supersedes_key = Some("tank-7".into());
        let batch = vec![NewNotification { submission, lane }];
        let (one, other) = (two.one.store.clone(), two.other.clone());
        tokio::spawn(async move {
            let answer = if i.is_multiple_of(2) {
                one.ingest(batch).await
            } else {
                other.ingest(batch).await
            };
            match &*answer.unwrap() {
                [Ingested::Accepted] => vec![],
                [Ingested::Replaced(ids)] => ids.clone(),
                other => panic!("{other:?}"),
            }
        })
    };
    let sending: Vec<_> = (0..40).map(one_of_many).collect();
    let mut replaced = vec![];
    for sent in sending {
        replaced.extend(sent.await.unwrap());
    }
    let each_once: HashSet<_> = replaced.iter().collect();
    assert_eq!((replaced.len(), each_once.len()), (39, 39));
    let filter = Filter {
        status: vec![Status::Pending],
        ..Filter::default()
    };
    let page = Page {
        limit: 50,
        after: None,
    };
    assert_eq!(two.other.list(TENANT, &filter, page).await.unwrap().rows.len(), 1);
    two.one.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_empty_a_lane_without_meeting() {
    let two = two_nodes().await;
    let lane = two.one.lane("mail").await;
    two.one.send_many(lane, 2_000).await;
    let drain = |store: Arc<dyn store::Store>| {
        tokio::spawn(async move {
            let mut done = vec![];
            loop {
                let want = LaneWant { lane, n: 50 };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
                if claims.rows.is_empty() {
                    return done;
                }
                done.extend(claims.rows.iter().map(|row| row.id));
                let answers = store
                    .record(claims.rows.iter().map(delivered).collect())
                    .await
                    .unwrap();
                assert!(answers.iter().all(|answer| *answer == Recorded::Done));
            }
        })
    };
    let (a, b) = (drain(two.one.store.clone()), drain(two.other.clone()));
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    assert_eq!(a.len() + b.len(), 2_000);
    assert_eq!(a.iter().chain(&b).collect::<HashSet<_>>().len(), 2_000);
    two.one.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_is_taken_by_one_node() {
    let two = two_nodes().await;
    let lane = two.one.lane("mail").await;
    two.one.send_many(lane, 10).await;
    two.one
        .store
        .hold_lane(hold(lane, HoldReason::Down))
        .await
        .unwrap();
    two.one.clock.advance(Duration::from_secs(120));
    let (a, b) = tokio::join!(
        two.one.store.claim_probe(lane, LeaseToken::mint(), LEASE),
        two.other.claim_probe(lane, LeaseToken::mint(), LEASE)
    );
    assert_eq!(a.unwrap().rows.len() + b.unwrap().rows.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_databases_clock_decides_and_nodes_agree_on_it() {
    let schema = Schema::fresh();
    let url = schema.url();
    let open = |node: &str| PgStore::open(&url, StoreTime::Database, node.to_owned());
    let (one, other) = (open("one").await.unwrap(), open("other").await.unwrap());
    let before = one.now().await.unwrap();
    let t = TestStore::new(Arc::new(one), Arc::new(ManualClock::default()), ());
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let want = LaneWant { lane, n: 5 };
    let claims = other.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
    assert_eq!(claims.rows.len(), 1);
    let (created, now) = (claims.rows[0].created_at, claims.now.unwrap());
    assert!(before <= created && created <= now, "{before} {created} {now}");
    let waiting = t.store.lanes_waiting().await.unwrap();
    assert_eq!(waiting.lanes[0].next_due, now + LEASE);
}
