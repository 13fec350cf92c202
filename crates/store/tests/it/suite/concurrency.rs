//! Many at once.

use crate::harness::*;
use domain::{LaneId, LeaseToken, NotificationId, Status};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use store::{
    Store,
    operator::Acted,
    outbox::{Ingested, LaneWant, NewNotification, Recorded},
};

const SENDERS: usize = 8;
const EACH: usize = 60;

async fn send(store: Arc<dyn Store>, lane: LaneId) -> Vec<NotificationId> {
    let mut ids = vec![];
    while ids.len() < EACH {
        let n = ids.len() % 5 + 1;
        let batch: Vec<_> = (0..n)
            .map(|_| NewNotification {
                submission: mail(),
                lane,
            })
            .collect();
        ids.extend(batch.iter().map(|item| item.submission.id));
        let answers = store.ingest(batch).await.unwrap();
        assert!(answers.iter().all(|a| *a == Ingested::Accepted));
    }
    ids
}

/// Claims and records until everything sent has ended; tells how often each row was recorded as ended.
async fn work(store: Arc<dyn Store>, lanes: Vec<LaneId>, left: Arc<AtomicUsize>) -> Vec<NotificationId> {
    let mut ended = vec![];
    while left.load(Ordering::SeqCst) > 0 {
        let wants: Vec<_> = lanes.iter().map(|lane| LaneWant { lane: *lane, n: 5 }).collect();
        let claims = store.claim_due(&wants, LeaseToken::mint(), LEASE).await.unwrap();
        let mut batch = vec![];
        for (i, row) in claims.rows.iter().enumerate() {
            batch.push(match (row.attempts, i % 3) {
                (0, 0) => retry(row, Duration::ZERO),
                (_, 1) => park(row),
                _ => delivered(row),
            });
        }
        let ends: Vec<_> = batch
            .iter()
            .map(|r| !matches!(r.ended, store::outbox::Ended::Retry { .. }))
            .collect();
        let answers = store.record(batch.into()).await.unwrap();
        assert!(
            answers.iter().all(|a| *a == Recorded::Done),
            "no lease is ever lost here"
        );
        for (row, end) in claims.rows.iter().zip(ends) {
            if end {
                ended.push(row.id);
                left.fetch_sub(1, Ordering::SeqCst);
            }
        }
        tokio::task::yield_now().await;
    }
    ended
}

pub async fn ingesting_claiming_and_recording_at_once_loses_nothing(t: &TestStore) {
    let lanes = vec![t.lane("a").await, t.lane("b").await];
    // Senders send in steps of one to five, so a few more than asked for.
    let total = SENDERS * 60usize.next_multiple_of(15);
    let left = Arc::new(AtomicUsize::new(total));
    let workers: Vec<_> = (0..4)
        .map(|_| tokio::spawn(work(t.store.clone(), lanes.clone(), left.clone())))
        .collect();
    let senders: Vec<_> = (0..SENDERS)
        .map(|i| tokio::spawn(send(t.store.clone(), lanes[i % lanes.len()])))
        .collect();
    let mut sent = vec![];
    for sender in senders {
        sent.extend(sender.await.unwrap());
    }
    assert_eq!(sent.len(), total);
    let mut ends: HashMap<NotificationId, usize> = HashMap::new();
    for worker in workers {
        for id in worker.await.unwrap() {
            *ends.entry(id).or_default() += 1;
        }
    }
    for id in &sent {
        assert_eq!(ends.get(id), Some(&1), "each ends once");
        assert!(t.status(*id).await.is_terminal());
    }
}

pub async fn operators_and_workers_race_without_harm(t: &TestStore) {
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 60).await;
    let worker = {
        let store = t.store.clone();
        tokio::spawn(async move {
            for _ in 0..80 {
                let want = LaneWant { lane, n: 3 };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
                let batch: Vec<_> = claims.rows.iter().map(park).collect();
                store.record(batch.into()).await.unwrap();
            }
        })
    };
    let operators = (0..3).map(|n| {
        let (store, ids) = (t.store.clone(), ids.clone());
        tokio::spawn(async move {
            let mut done = HashMap::new();
            for id in ids {
                let acted = match n {
                    0 => store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap()[0],
                    1 => store.discard(TENANT, &[id], &admin()).await.unwrap()[0],
                    _ => store.cancel(TENANT, id, &admin()).await.unwrap(),
                };
                assert_ne!(acted, Acted::NotFound);
                done.insert(id, acted);
            }
            done
        })
    });
    let answers = futures_util::future::join_all(operators).await;
    worker.await.unwrap();
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    for id in ids {
        let discarded = t.status(id).await == Status::Discarded;
        let told = [1, 2].iter().filter(|n| answers[**n][&id] == Acted::Done).count();
        assert_eq!(
            told,
            usize::from(discarded),
            "whoever was told done did it, and only one was"
        );
    }
}
