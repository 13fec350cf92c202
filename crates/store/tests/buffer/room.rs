//! No room: refused in words, nothing half-written, and over by itself.

use crate::harness::*;
use domain::site::Category;
use std::time::Duration;
use store::buffer::{Enqueued, Start, Step};

#[tokio::test]
async fn a_limit_refuses_in_words_and_takes_messages_again_when_some_have_gone() {
    let mut place = Place::new();
    place.options.max_bytes = 100_000;
    let buffer = place.open();
    let message = || {
        let mut message = a_message(Category::ExternalSystem, "erp");
        message.payload = "x".repeat(10_000);
        message
    };
    let mut taken = 0;
    let why = loop {
        let message = message();
        match buffer.enqueue(message, Start::Queued).await.unwrap() {
            Enqueued::New(_) => taken += 1,
            Enqueued::NoRoom(why) => break why,
            other => panic!("{other:?}"),
        }
    };
    assert!(taken > 5);
    assert!(
        why.contains("100000") && why.contains("site.max_buffer_bytes"),
        "{why}"
    );
    assert!(buffer.refusing().is_some());
    assert_eq!(buffer.recount().await.unwrap().waiting(), taken);
    assert_eq!(
        buffer.events(None, 1_000).await.unwrap().len() as u64,
        taken,
        "nothing of the refused one"
    );
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 3)
        .await
        .unwrap();
    let attempted = claimed.iter().map(|message| store::buffer::Attempted {
        ticket: message.ticket(),
        step: Step::Delivered,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    });
    buffer.record(attempted.collect()).await.unwrap();
    assert_eq!(buffer.refusing(), None);
    put(&buffer, message()).await;
}

#[tokio::test]
async fn a_full_disk_refuses_and_is_over_by_itself() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    buffer.limit_pages(Some(60)).await.unwrap();
    let mut taken = 1;
    let large = || {
        let mut message = a_message(Category::Notification, "ops");
        message.payload = "x".repeat(20_000);
        message
    };
    let why = loop {
        match buffer.enqueue(large(), Start::Queued).await.unwrap() {
            Enqueued::New(_) => taken += 1,
            Enqueued::NoRoom(why) => break why,
            other => panic!("{other:?}"),
        }
        assert!(taken < 100, "60 pages hold less");
    };
    assert!(why.contains("no room on the disk"), "{why}");
    assert!(buffer.refusing().is_some());
    buffer.check().expect("a full disk is no broken one");
    assert_eq!(buffer.recount().await.unwrap(), buffer.depth());
    assert_eq!(buffer.depth().waiting(), taken);
    buffer.limit_pages(None).await.unwrap();
    buffer.look_for_room().await.unwrap();
    assert_eq!(buffer.refusing(), None);
    let again = buffer.enqueue(large(), Start::Queued).await.unwrap();
    assert!(matches!(again, Enqueued::New(_)));
}

#[tokio::test]
async fn on_a_full_disk_the_reserve_is_for_what_gets_messages_out() {
    let mut place = Place::new();
    place.options.reserve_bytes = 100_000;
    let reserve = place.options.path.with_extension("db.reserve");
    let buffer = place.open();
    assert!(reserve.exists());
    put(&buffer, a_message(Category::ExternalSystem, "erp")).await;
    buffer.limit_pages(Some(60)).await.unwrap();
    let mut large = a_message(Category::ExternalSystem, "erp");
    large.payload = "x".repeat(1_000_000);
    let refused = buffer.enqueue(large, Start::Queued).await.unwrap();
    assert!(matches!(refused, Enqueued::NoRoom(_)), "{refused:?}");
    assert!(reserve.exists(), "it is not for messages");
    // The page limit stands for what others took; this is what is free now.
    buffer.limit_pages(None).await.unwrap();
    let small = || a_message(Category::ExternalSystem, "erp");
    let refused = buffer.enqueue(small(), Start::Queued).await.unwrap();
    assert!(matches!(refused, Enqueued::NoRoom(_)), "it is not for new ones");
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 3)
        .await
        .unwrap();
    assert_eq!(claimed.len(), 1);
    buffer.limit_pages(Some(1)).await.unwrap();
    let failed = store::buffer::Attempted {
        ticket: claimed[0].ticket(),
        step: Step::Retry {
            after: Duration::from_secs(30),
            error: "x".repeat(200_000),
            count: store::buffer::Count::Try,
        },
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    assert!(buffer.record(vec![failed.clone()]).await.is_err());
    assert!(!reserve.exists(), "its room is free now");
    buffer.limit_pages(None).await.unwrap();
    buffer.record(vec![failed]).await.unwrap();
    buffer.look_for_room().await.unwrap();
    assert!(reserve.exists());
    put(&buffer, small()).await;
}

#[tokio::test]
async fn neighbours_in_a_commit_that_found_no_room_are_refused_in_the_same_words() {
    let place = Place::new();
    let buffer = std::sync::Arc::new(place.open());
    buffer.limit_pages(Some(60)).await.unwrap();
    let sends = (0..60).map(|_| {
        let buffer = buffer.clone();
        tokio::spawn(async move {
            let mut message = a_message(Category::Notification, "ops");
            message.payload = "x".repeat(20_000);
            buffer.enqueue(message, Start::Queued).await.unwrap()
        })
    });
    let answers = futures_util::future::join_all(sends).await;
    let taken = answers
        .iter()
        .filter(|a| matches!(a, Ok(Enqueued::New(_))))
        .count();
    let refused = answers
        .iter()
        .filter(|a| matches!(a, Ok(Enqueued::NoRoom(_))))
        .count();
    assert_eq!(taken + refused, 60);
    assert!(refused > 0);
    assert_eq!(buffer.recount().await.unwrap().waiting(), taken as u64);
    assert_eq!(buffer.depth().waiting(), taken as u64);
}

#[tokio::test]
async fn many_senders_at_once_never_pass_the_limit_together() {
    let mut place = Place::new();
    place.options.max_bytes = 1_000_000;
    let buffer = std::sync::Arc::new(place.open());
    let sends = (0..60).map(|_| {
        let buffer = buffer.clone();
        tokio::spawn(async move {
            let mut message = a_message(Category::Notification, "ops");
            message.payload = "x".repeat(100_000);
            buffer.enqueue(message, Start::Queued).await.unwrap()
        })
    });
    let answers = futures_util::future::join_all(sends).await;
    let taken = answers
        .iter()
        .filter(|a| matches!(a, Ok(Enqueued::New(_))))
        .count();
    assert_eq!(taken, 9);
    assert!(buffer.depth().bytes <= 1_000_000);
}

#[tokio::test]
async fn what_central_acknowledged_gives_way_to_new_messages_under_the_limit_the_oldest_first() {
    let mut place = Place::new();
    place.options.max_bytes = 100_000;
    let buffer = place.open();
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    let message = || {
        let mut message = a_message(Category::Notification, "ops");
        message.payload = "x".repeat(10_000);
        message
    };
    for n in 0..100 {
        place.clock.advance(Duration::from_secs(1));
        let seq = put(&buffer, message()).await.seq;
        let handed = store::buffer::Handed {
            acked: vec![seq],
            refused: vec![],
        };
        assert!(buffer.handed_over(&central, handed).await.unwrap());
        assert!(buffer.depth().bytes <= 100_000, "after {n}: {:?}", buffer.depth());
    }
    assert_eq!(buffer.refusing(), None);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    let until = buffer
        .forgotten_until()
        .expect("the memory is shorter than it should be");
    let again = buffer.met_central(&identity("b")).await.unwrap();
    assert!(
        (5..100).contains(&again),
        "the latest are still remembered: {again}"
    );
    let oldest = buffer.forwardable(0, 1, 1).await.unwrap()[0].created_at;
    assert!(oldest >= until, "{oldest} {until}");
    drop(buffer);
    assert_eq!(
        place.open().forgotten_until(),
        Some(until),
        "after a restart as well"
    );
}

#[tokio::test]
async fn a_limit_that_refused_a_large_message_is_told_although_a_small_one_would_fit() {
    let mut place = Place::new();
    place.options.max_bytes = 100_000;
    let buffer = place.open();
    let of = |bytes: usize| {
        let mut message = a_message(Category::ExternalSystem, "erp");
        message.payload = "x".repeat(bytes);
        message
    };
    put(&buffer, of(80_000)).await;
    assert_eq!(buffer.refusing(), None);
    let too_large = buffer.enqueue(of(200_000), Start::Queued).await.unwrap();
    assert!(matches!(too_large, Enqueued::NoRoom(_)));
    assert_eq!(
        buffer.refusing(),
        None,
        "it never fits: that is the message's fault"
    );
    let refused = buffer.enqueue(of(30_000), Start::Queued).await.unwrap();
    assert!(matches!(refused, Enqueued::NoRoom(_)));
    let why = buffer.refusing().expect("messages are refused");
    assert!(why.contains("site.max_buffer_bytes"), "{why}");
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 1)
        .await
        .unwrap();
    let delivered = store::buffer::Attempted {
        ticket: claimed[0].ticket(),
        step: Step::Delivered,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    buffer.record(vec![delivered]).await.unwrap();
    assert_eq!(buffer.refusing(), None);
    put(&buffer, of(30_000)).await;
}

#[tokio::test]
async fn a_disk_that_is_full_where_the_news_is_written_refuses_the_message_and_its_neighbours() {
    let place = Place::new();
    let buffer = place.open();
    let mut taken = 0;
    // One page more each time: whichever write of a message is the first to find no room has its turn.
    for pages in 60..140 {
        buffer.limit_pages(Some(pages)).await.unwrap();
        loop {
            let message = a_message(Category::ExternalSystem, "erp");
            match buffer.enqueue(message, Start::Queued).await {
                Ok(Enqueued::New(_)) => taken += 1,
                Ok(Enqueued::NoRoom(_)) => break,
                other => panic!("with {pages} pages: {other:?}"),
            }
        }
        assert_eq!(buffer.depth().waiting(), taken);
        assert_eq!(
            buffer.depth(),
            buffer.recount().await.unwrap(),
            "with {pages} pages"
        );
        buffer.limit_pages(None).await.unwrap();
        buffer.look_for_room().await.unwrap();
    }
    assert!(taken > 100);
}

#[tokio::test]
async fn news_that_central_has_heard_gives_way_to_a_message_where_nothing_else_can() {
    let place = Place::new();
    let buffer = place.open();
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    for _ in 0..400 {
        put(&buffer, a_message(Category::ExternalSystem, "erp")).await;
    }
    let heard = buffer.telemetry(1_000).await.unwrap();
    let heard: Vec<_> = heard.into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(heard.len(), 400);
    assert!(buffer.telemetry_heard(&central, heard).await.unwrap());
    // As large as it is, and no larger.
    buffer.limit_pages(Some(1)).await.unwrap();
    let remembered = buffer.depth().remembered_bytes;
    let mut message = a_message(Category::ExternalSystem, "erp");
    message.payload = "x".repeat(60_000);
    let taken = buffer.enqueue(message, Start::Queued).await.unwrap();
    assert!(matches!(taken, Enqueued::New(_)), "{taken:?}");
    assert!(buffer.depth().remembered_bytes < remembered);
}
