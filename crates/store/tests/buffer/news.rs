//! Room that news for central takes: as much as it has, and in no message's way.

use crate::harness::*;
use domain::site::Category;
use std::time::Duration;
use store::{
    Buffer,
    buffer::{Attempted, Enqueued, Start, Step},
};

/// All calls that wait are made, and succeed.
async fn deliver(buffer: &Buffer) {
    let begun = buffer
        .claim_due(Category::ExternalSystem, "erp", 1_000)
        .await
        .unwrap();
    let delivered = begun.iter().map(|message| Attempted {
        ticket: message.ticket(),
        step: Step::Delivered,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: Some(200),
    });
    buffer.record(delivered.collect()).await.unwrap();
}

/// The database of this name hears all that waits for it; how many pieces.
async fn hear(buffer: &Buffer, epoch: &str) -> usize {
    let waiting = buffer.telemetry(10_000).await.unwrap();
    let seqs: Vec<_> = waiting.into_iter().map(|(seq, _)| seq).collect();
    let n = seqs.len();
    assert!(buffer.telemetry_heard(&identity(epoch), seqs).await.unwrap());
    n
}

/// What waits, and what is only remembered, as both the gauge and a recount have it.
async fn bytes(buffer: &Buffer) -> (u64, u64) {
    let depth = buffer.depth();
    assert_eq!(depth, buffer.recount().await.unwrap());
    (depth.bytes - depth.remembered_bytes, depth.remembered_bytes)
}

async fn call(buffer: &Buffer) -> Enqueued {
    let call = a_message(Category::ExternalSystem, "erp");
    buffer.enqueue(call, Start::Queued).await.unwrap()
}

#[tokio::test]
async fn news_counts_as_waiting_until_central_has_heard_it_and_then_as_remembered() {
    let place = Place::new();
    let buffer = place.open();
    buffer.met_central(&identity("a")).await.unwrap();
    for _ in 0..10 {
        call(&buffer).await;
    }
    deliver(&buffer).await;
    assert_eq!(buffer.depth().waiting(), 0);
    let (waits, remembered) = bytes(&buffer).await;
    assert!(waits > 20 * 300, "{waits}: two pieces of each call");
    assert_eq!(remembered, 0);
    let seqs: Vec<_> = (1..=20).collect();
    assert_eq!(hear(&buffer, "a").await, 20);
    assert_eq!(bytes(&buffer).await, (0, waits));
    assert!(buffer.telemetry_heard(&identity("a"), seqs).await.unwrap());
    assert_eq!(bytes(&buffer).await, (0, waits), "what is said twice counts once");
    buffer.met_central(&identity("b")).await.unwrap();
    assert_eq!(bytes(&buffer).await, (waits, 0), "another database is told again");
    assert_eq!(buffer.telemetry_drop_beyond(15).await.unwrap(), 5);
    let (fewer, _) = bytes(&buffer).await;
    assert!(fewer < waits && fewer > waits / 2, "{fewer} of {waits}");
    assert_eq!(hear(&buffer, "b").await, 15);
    let before = buffer.depth();
    buffer.close().await;
    drop(buffer);
    let buffer = place.open();
    assert_eq!(buffer.depth(), before, "a start counts the same");
    place.clock.advance(Duration::from_secs(3_600));
    buffer.forget_acked(buffer.now()).await.unwrap();
    assert_eq!(bytes(&buffer).await, (0, 0));
}

#[tokio::test]
async fn news_that_cannot_be_read_is_counted_out_with_its_row() {
    let place = Place::new();
    let buffer = place.open();
    for _ in 0..3 {
        call(&buffer).await;
    }
    buffer.close().await;
    drop(buffer);
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let broken = "update telemetry set body_json = replace(body_json, '{', '[') where seq = 2";
    assert_eq!(conn.execute(broken, []).unwrap(), 1);
    drop(conn);
    let buffer = place.open();
    let (before, _) = bytes(&buffer).await;
    assert_eq!(buffer.telemetry(100).await.unwrap().len(), 2);
    let (after, _) = bytes(&buffer).await;
    assert!(after < before, "{after} of {before}");
}

#[tokio::test]
async fn no_send_is_refused_for_news_that_central_has_heard() {
    const LIMIT: u64 = 50_000;
    let mut place = Place::new();
    place.options.max_bytes = LIMIT;
    let buffer = place.open();
    buffer.met_central(&identity("a")).await.unwrap();
    let mut heard = 0;
    for n in 0..200 {
        place.clock.advance(Duration::from_secs(1));
        let taken = call(&buffer).await;
        assert!(matches!(taken, Enqueued::New(_)), "after {n}: {taken:?}");
        deliver(&buffer).await;
        heard += hear(&buffer, "a").await;
        assert_eq!(buffer.refusing(), None);
        // The news of the last call came after there was room for the call.
        let (_, remembered) = bytes(&buffer).await;
        assert!(remembered < LIMIT + 5_000, "after {n}: {remembered}");
    }
    assert_eq!(heard, 400, "more than there is room for");
    let mut large = a_message(Category::ExternalSystem, "erp");
    large.payload = "x".repeat(LIMIT as usize - 1_000);
    let taken = buffer.enqueue(large, Start::Queued).await.unwrap();
    assert!(
        matches!(taken, Enqueued::New(_)),
        "all of it gives way: {taken:?}"
    );
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn no_send_is_refused_for_news_that_no_central_hears() {
    const LIMIT: u64 = 20_000;
    let mut place = Place::new();
    place.options.max_bytes = LIMIT;
    let buffer = place.open();
    for n in 0..100 {
        let taken = call(&buffer).await;
        assert!(matches!(taken, Enqueued::New(_)), "after {n}: {taken:?}");
        deliver(&buffer).await;
        assert_eq!(buffer.refusing(), None);
        let (all, _) = bytes(&buffer).await;
        // The news of the last call came after there was room for the call.
        assert!(all < LIMIT + 2_000, "after {n}: {all}");
    }
    let kept = buffer.telemetry(10_000).await.unwrap();
    assert!((10..60).contains(&kept.len()), "of 200: {}", kept.len());
    let (last, _) = kept.last().unwrap();
    assert_eq!(*last, 200, "the oldest went");
}

#[tokio::test]
async fn many_sends_of_one_commit_let_go_of_no_more_news_than_they_need() {
    let mut place = Place::new();
    place.options.max_bytes = 100_000;
    let buffer = std::sync::Arc::new(place.open());
    while bytes(&buffer).await.0 < 100_000 {
        for _ in 0..20 {
            call(&buffer).await;
        }
        deliver(&buffer).await;
    }
    let before = buffer.telemetry_waiting().await.unwrap();
    let mut sends = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let buffer = buffer.clone();
        sends.spawn(async move { call(&buffer).await });
    }
    while let Some(taken) = sends.join_next().await {
        let taken = taken.unwrap();
        assert!(matches!(taken, Enqueued::New(_)), "{taken:?}");
    }
    // Each takes about as much as a piece of news, and its own piece came after there was room for it.
    let after = buffer.telemetry_waiting().await.unwrap();
    assert!(after + 100 > before, "{after} of {before}");
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}
