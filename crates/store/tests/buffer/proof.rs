//! Whether the disk under a buffer takes anything is known, also when it hangs and gives no error.

use crate::harness::*;
use domain::site::Category;
use std::{sync::Arc, time::Duration};
use store::buffer::Start;
use testkit::until;

#[tokio::test]
async fn a_disk_that_hangs_is_seen_while_it_does_whether_or_not_anybody_waits_for_it() {
    let place = Place::new();
    let buffer = Arc::new(place.open());
    put(&buffer, a_message(Category::Notification, "ops")).await;
    until("nothing is being written", async || {
        buffer.writing_for().is_none()
    })
    .await;
    let hung = buffer.hang();
    let sender = {
        let buffer = buffer.clone();
        tokio::spawn(async move {
            let message = a_message(Category::Notification, "ops");
            buffer.enqueue(message, Start::Queued).await
        })
    };
    until("it is seen", async || {
        buffer.writing_for() > Some(Duration::from_millis(20))
    })
    .await;
    sender.abort();
    assert!(sender.await.is_err(), "nobody was answered");
    assert!(buffer.writing_for().is_some());
    assert_eq!(buffer.unproved_for(), None, "somebody tries just now");
    buffer.check().expect("a disk that hangs has not failed");
    drop(hung);
    until("it is over", async || buffer.writing_for().is_none()).await;
    assert!(buffer.unproved_for().is_some());
}

#[tokio::test]
async fn trying_the_disk_is_a_commit_and_no_change_that_a_standby_would_have_to_copy() {
    let place = Place::new();
    let buffer = place.open();
    buffer.join_pair().await.unwrap();
    let (head, commits) = (buffer.head().await.unwrap(), buffer.commits());
    buffer.prove().await.unwrap();
    assert_eq!(buffer.commits(), commits + 1);
    assert_eq!(buffer.head().await.unwrap(), head);
    buffer.step_down().await.unwrap();
    buffer.prove().await.expect("a standby may, too");
}
