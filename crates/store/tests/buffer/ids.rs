//! An id names one message, whatever it is.

use crate::harness::*;
use domain::site::{Category, OperationStatus};
use std::time::Duration;
use store::{
    Buffer,
    buffer::{Attempted, Enqueued, Handed, Known, NewMessage, Start, Step},
};

async fn again(buffer: &Buffer, message: &NewMessage, category: Category) -> Option<Known> {
    let message = NewMessage {
        category,
        ..message.clone()
    };
    match buffer.enqueue(message, Start::Queued).await.unwrap() {
        Enqueued::Known(known) => Some(known),
        Enqueued::New(_) => None,
        other => panic!("{other:?}"),
    }
}

fn another_message(status: OperationStatus) -> Option<Known> {
    Some(Known {
        same_content: false,
        status: Some(status),
        buffered: false,
    })
}

#[tokio::test]
async fn the_id_of_a_call_that_ended_is_no_notifications() {
    let place = Place::new();
    let buffer = place.open();
    let message = a_message(Category::ExternalSystem, "erp");
    put(&buffer, message.clone()).await;
    let waiting = again(&buffer, &message, Category::Notification).await;
    assert!(waiting.is_some(), "while it waits neither");
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 1)
        .await
        .unwrap();
    let delivered = Attempted {
        ticket: claimed[0].ticket(),
        step: Step::Delivered,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    buffer.record(vec![delivered]).await.unwrap();
    assert_eq!(buffer.depth().waiting(), 0);
    assert_eq!(
        again(&buffer, &message, Category::Notification).await,
        another_message(OperationStatus::Delivered)
    );
    let repeat = again(&buffer, &message, Category::ExternalSystem).await;
    assert!(repeat.is_some_and(|known| known.same_content));
}

#[tokio::test]
async fn the_id_of_a_notification_that_left_is_no_calls() {
    let place = Place::new();
    let buffer = place.open();
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    let message = a_message(Category::Notification, "ops");
    let handed = Handed {
        acked: vec![put(&buffer, message.clone()).await.seq],
        refused: vec![],
    };
    assert!(buffer.handed_over(&central, handed).await.unwrap());
    for _ in 0..2 {
        for category in [Category::ExternalSystem, Category::CachedDbWrite] {
            assert_eq!(
                again(&buffer, &message, category).await,
                another_message(OperationStatus::Delivered)
            );
        }
        // Also where only that it left is still known.
        place.clock.advance(Duration::from_secs(3_600));
        buffer.forget_acked(buffer.now()).await.unwrap();
    }
    let resent = again(&buffer, &message, Category::Notification).await;
    assert_eq!(resent, None, "it is taken in again: central may have lost it");
}

#[tokio::test]
async fn a_repeat_of_a_parked_notification_is_told_that_it_is_parked() {
    let place = Place::new();
    let buffer = place.open();
    let message = a_message(Category::Notification, "ops");
    let seq = put(&buffer, message.clone()).await.seq;
    let known = |status| {
        Some(Known {
            same_content: true,
            status,
            buffered: true,
        })
    };
    assert_eq!(
        again(&buffer, &message, Category::Notification).await,
        known(None)
    );
    buffer.park_forward(seq, "REFUSED: no").await.unwrap();
    assert_eq!(
        again(&buffer, &message, Category::Notification).await,
        known(Some(OperationStatus::Parked))
    );
}
