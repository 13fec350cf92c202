//! Group commit: many senders share one, and each is answered only when its own message is on disk.

use crate::harness::*;
use domain::site::Category;
use futures_util::FutureExt;
use std::sync::Arc;
use store::{
    Buffer,
    buffer::{Options, Start},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_senders_at_once_are_all_in_the_files_when_they_are_answered() {
    let place = Place::new();
    let buffer = Arc::new(place.open());
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let buffer = buffer.clone();
        senders.spawn(async move {
            let mut ids = vec![];
            for _ in 0..10 {
                let message = a_message(Category::Notification, "ops");
                ids.push(message.id);
                put(&buffer, message).await;
            }
            ids
        });
    }
    let mut ids = vec![];
    while let Some(done) = senders.join_next().await {
        ids.extend(done.unwrap());
    }
    // As a crash would leave them: the log first, nothing is written any more.
    let image = place.folder.path().join("image.db");
    for suffix in ["-wal", ""] {
        let with = |path: &std::path::Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            name
        };
        std::fs::copy(with(&place.file()), with(&image)).unwrap();
    }
    let after = Buffer::open(&Options::at(image), place.clock.clone()).unwrap();
    assert_eq!(after.depth().waiting(), 1_000);
    for id in ids {
        assert!(get(&after, id).await.is_some());
    }
}

#[tokio::test]
async fn the_gauge_counts_what_was_committed_even_if_nobody_waited_for_the_answer() {
    let place = Place::new();
    let buffer = Arc::new(place.open());
    for _ in 0..50 {
        let sender = {
            let buffer = buffer.clone();
            tokio::spawn(async move {
                buffer
                    .enqueue(a_message(Category::Notification, "ops"), Start::Queued)
                    .await
            })
        };
        tokio::task::yield_now().await;
        sender.abort();
        let _ = sender.await;
    }
    // Whatever was given to the writer is done before this.
    put(&buffer, a_message(Category::Notification, "ops")).await;
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn an_inline_buffer_answers_without_a_thread() {
    let mut place = Place::new();
    place.options.inline = true;
    let buffer = place.open();
    for n in 1..=20u64 {
        let message = a_message(Category::Notification, "ops");
        let sent = buffer.enqueue(message, Start::Queued).now_or_never();
        sent.expect("it does not wait").unwrap();
        let counted = buffer.recount().now_or_never();
        assert_eq!(counted.expect("it does not wait").unwrap().waiting(), n);
    }
    drop(buffer);
    assert_eq!(place.open().depth().waiting(), 20);
}
