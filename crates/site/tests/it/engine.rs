//! Calls and writes: tried at once, buffered when that may help, tried again by the sweep, parked when it does not.

use crate::{
    script::Reply,
    world::{World, a_call, secs, until},
};
use domain::site::{OperationEvent, OperationStatus};
use site::{SendError, SendOptions};
use store::buffer::{MessageId, MessageStatus, What};
use testkit::Folder;
use uuid::Uuid;

#[tokio::test]
async fn a_call_that_works_at_once_is_answered_and_never_waits() {
    let world = World::new();
    let sent = world.call("erp").await;
    assert!(sent.accepted && !sent.was_buffered);
    assert_eq!(sent.result, Some("done".into()));
    assert_eq!(world.message(sent.id).await, None);
    let tracking = world.tracking(sent.id).await;
    assert_eq!(
        (tracking.status, tracking.retry_count, tracking.http_status),
        (OperationStatus::Delivered, 0, Some(200))
    );
    assert!(tracking.terminal_at.is_some());
    assert_eq!(world.events().await, [What::Delivered]);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_refusal_for_good_is_told_at_once_and_buffers_nothing() {
    let world = World::new();
    world.systems.always(Reply::Permanent);
    let sent = world.call("erp").await;
    assert!(!sent.accepted && !sent.was_buffered);
    let error = sent.error.unwrap();
    assert_eq!((error.code.as_str(), error.http_status), ("HTTP_400", Some(400)));
    assert_eq!(world.message(sent.id).await, None);
    assert_eq!(world.tracked_as(sent.id).await, OperationStatus::Failed);
    assert_eq!(world.events().await, []);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_failure_that_may_pass_is_buffered_and_tried_again_after_its_interval() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let sent = world.call("erp").await;
    assert!(sent.accepted && sent.was_buffered);
    assert_eq!(world.tracked_as(sent.id).await, OperationStatus::Retrying);
    world.advance(29);
    assert_eq!(world.sweep().await.retried, 0);
    world.advance(1);
    assert_eq!(world.sweep().await.retried, 1);
    let waits = world.message(sent.id).await.unwrap();
    assert_eq!((waits.retry_count, waits.status), (1, MessageStatus::Pending));
    assert_eq!(waits.last_error.as_deref(), Some("HTTP_503: busy"));
    world.systems.always(Reply::Delivered);
    world.advance(30);
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.tracked_as(sent.id).await, OperationStatus::Delivered);
    assert_eq!(
        world.events().await,
        [What::Queued, What::Retried, What::Delivered]
    );
    world.assert_counted().await;
}

#[tokio::test]
async fn the_budget_counts_tries_of_the_sweep_and_then_it_is_parked() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options.max_retries = Some(3);
    let id = world.site.send(call).await.unwrap().id;
    for _ in 0..2 {
        world.advance(30);
        assert_eq!(world.sweep().await.retried, 1);
    }
    world.advance(30);
    assert_eq!(world.sweep().await.parked, 1);
    let parked = world.message(id).await.unwrap();
    assert_eq!((parked.retry_count, parked.status), (3, MessageStatus::Parked));
    assert_eq!(
        world.systems.attempts(),
        4,
        "the immediate attempt and three tries"
    );
    assert_eq!(world.tracked_as(id).await, OperationStatus::Parked);
    world.advance(3600);
    assert_eq!(world.sweep().await, Default::default());
    assert_eq!((world.waiting(), world.parked()), (0, 1));
    world.assert_counted().await;
}

#[tokio::test]
async fn no_limit_means_no_limit() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options.max_retries = Some(0);
    let id = world.site.send(call).await.unwrap().id;
    for _ in 0..120 {
        world.advance(30);
        assert_eq!(world.sweep().await.retried, 1);
    }
    assert_eq!(world.message(id).await.unwrap().retry_count, 120);
}

#[tokio::test]
async fn a_refusal_for_good_by_a_later_try_parks() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let id = world.call("erp").await.id;
    world.systems.always(Reply::Permanent);
    world.advance(30);
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.tracked_as(id).await, OperationStatus::Parked);
    assert_eq!(world.parked(), 1);
}

#[tokio::test]
async fn a_sender_who_has_tried_itself_leaves_the_first_try_to_the_sweep() {
    let world = World::new();
    let mut call = a_call("erp");
    call.options.attempt_immediate_delivery = false;
    let sent = world.site.send(call).await.unwrap();
    assert!(sent.was_buffered);
    assert_eq!(world.systems.attempts(), 0);
    assert_eq!(world.tracked_as(sent.id).await, OperationStatus::Submitted);
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.events().await, [What::Queued, What::Delivered]);
}

#[tokio::test]
async fn a_pinned_id_is_one_message_however_often_it_is_sent() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options.message_id = Some(MessageId(Uuid::now_v7()));
    let first = world.site.send(call.clone()).await.unwrap();
    let again = world.site.send(call.clone()).await.unwrap();
    assert_eq!(
        (first.duplicate, again.duplicate, again.was_buffered),
        (false, true, true)
    );
    assert_eq!(world.waiting(), 1);
    world.systems.always(Reply::Delivered);
    world.advance(30);
    world.sweep().await;
    let later = world.site.send(call.clone()).await.unwrap();
    assert_eq!(
        (later.duplicate, later.status),
        (true, Some(OperationStatus::Delivered))
    );
    assert_eq!(world.systems.attempts(), 2);
    let mut other = call;
    other.payload = other.payload.replace("orders", "invoices");
    assert!(matches!(
        world.site.send(other).await,
        Err(SendError::Conflict(_))
    ));
}

#[tokio::test]
async fn two_messages_with_the_same_content_are_two() {
    let world = World::new();
    world.call("erp").await;
    world.call("erp").await;
    assert_eq!(world.systems.attempts(), 2);
}

#[tokio::test]
async fn a_dead_target_does_not_delay_the_others() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    for _ in 0..40 {
        let mut call = a_call("dead");
        call.options.attempt_immediate_delivery = false;
        world.site.send(call).await.unwrap();
    }
    let alive = world.call("alive").await.id;
    world.systems.script(|message| match message.target.as_str() {
        "dead" => Reply::AtGate,
        _ => Reply::Delivered,
    });
    world.advance(30);
    let lanes = world.site.engine.start_due().await.unwrap();
    world.systems.waiting(8).await;
    until("the other target's delivery", || {
        world.systems.attempts_of(alive) == 2 && world.waiting() == 40
    })
    .await;
    // A second sweep does not overlap in the lane that hangs, and still serves the others.
    world.systems.script(|_| Reply::Delivered);
    let mut call = a_call("alive");
    call.options.attempt_immediate_delivery = false;
    world.site.send(call).await.unwrap();
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.waiting(), 40, "the lane that hangs keeps its width");
    world.systems.open_gate();
    for lane in lanes {
        lane.await.unwrap();
    }
    assert_eq!(world.waiting(), 0);
}

#[tokio::test]
async fn messages_without_a_handler_stay_and_are_counted() {
    let world = World::new();
    world.systems.does_not_know(&["old-erp"]);
    let sent = world.call("old-erp").await;
    assert!(sent.was_buffered);
    for _ in 0..100 {
        world.advance(30);
        assert_eq!(world.sweep().await, Default::default());
    }
    assert_eq!(world.site.without_handler(), 1);
    assert_eq!(world.message(sent.id).await.unwrap().retry_count, 0);
    world.systems.does_not_know(&[]);
    assert_eq!(world.sweep().await.delivered, 1);
    world.sweep().await;
    assert_eq!(world.site.without_handler(), 0);
}

#[tokio::test]
async fn an_attempt_is_in_the_file_before_the_network_is_touched() {
    let world = World::new();
    let (id, lanes) = world.call_at_gate("erp").await;
    let begun = world.site.buffer.interrupted().await.unwrap();
    assert_eq!(begun.len(), 1);
    assert_eq!((begun[0].id, begun[0].attempt), (id, 2));
    assert_eq!(
        world.systems.numbers()[&id],
        2,
        "the handler knows the number that is in the file"
    );
    world.systems.open_gate();
    for lane in lanes {
        lane.await.unwrap();
    }
}

#[tokio::test]
async fn an_attempt_that_ended_with_the_process_counts_and_five_in_a_row_park() {
    let mut world = World::new();
    world.systems.always(Reply::Transient);
    let id = world.call("erp").await.id;
    for round in 1..=5u32 {
        world.advance(30);
        let buffer = &world.site.buffer;
        let claimed = buffer
            .claim_due(domain::site::Category::ExternalSystem, "erp", 1)
            .await
            .unwrap();
        assert_eq!(claimed.len(), 1);
        world = world.crash().await;
        assert_eq!(world.site.engine.resume().await.unwrap(), 1);
        assert_eq!(world.message(id).await.unwrap().retry_count, round);
    }
    let parked = world.message(id).await.unwrap();
    assert_eq!(parked.status, MessageStatus::Parked);
    assert!(parked.last_error.unwrap().starts_with("INTERRUPTED"));
    assert_eq!(world.site.engine.resume().await.unwrap(), 0);
}

#[tokio::test]
async fn a_call_whose_immediate_attempt_ended_with_the_process_is_made_again_uncounted() {
    let world = World::new();
    world.systems.always(Reply::AtGate);
    let site = world.site.clone();
    let asked = tokio::spawn(async move { site.send(a_call("erp")).await });
    world.systems.waiting(1).await;
    let id = *world.systems.numbers().keys().next().unwrap();
    asked.abort();
    // The process is gone; the file is as it was.
    world.site.buffer.close().await;
    let world = world.crash().await;
    assert_eq!(world.site.engine.resume().await.unwrap(), 1);
    let waits = world.message(id).await.unwrap();
    assert_eq!((waits.retry_count, waits.attempt), (0, 1));
    world.systems.always(Reply::Delivered);
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.tracked_as(id).await, OperationStatus::Delivered);
}

#[tokio::test]
async fn a_caller_who_goes_away_does_not_end_the_attempt() {
    let world = World::new();
    world.systems.always(Reply::AtGate);
    let site = world.site.clone();
    let asked = tokio::spawn(async move { site.send(a_call("erp")).await });
    world.systems.waiting(1).await;
    asked.abort();
    world.systems.open_gate();
    until("the end of the attempt", || world.waiting() == 0).await;
    assert_eq!(world.events().await, [What::Delivered]);
}

#[tokio::test]
async fn a_handler_that_breaks_is_a_failed_try_of_that_message_only() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let (bad, good) = (world.call("erp").await.id, world.call("erp").await.id);
    world.systems.script(move |message| match message.id == bad {
        true => Reply::Panic,
        false => Reply::Delivered,
    });
    world.advance(30);
    let swept = world.sweep().await;
    assert_eq!((swept.delivered, swept.retried), (1, 1));
    assert_eq!(world.message(good).await, None);
    assert_eq!(world.message(bad).await.unwrap().retry_count, 1);
}

#[tokio::test]
async fn a_stop_waits_for_attempts_and_lets_go_of_the_rest_uncounted() {
    let world = World::with(|settings| settings.shutdown_wait = secs(0));
    let (id, lanes) = world.call_at_gate("erp").await;
    world.site.engine.stop().await;
    for lane in lanes {
        lane.await.unwrap();
    }
    let free = world.message(id).await.unwrap();
    assert_eq!((free.retry_count, free.status), (0, MessageStatus::Pending));
    assert!(matches!(
        world.site.send(a_call("erp")).await,
        Err(SendError::Stopping)
    ));
    let world = world.crash().await;
    assert_eq!(
        world.site.engine.resume().await.unwrap(),
        0,
        "nothing is left begun"
    );
}

#[tokio::test]
async fn every_attempt_becomes_news_for_central_in_order() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options = SendOptions {
        max_retries: Some(1),
        ..SendOptions::default()
    };
    let id = world.site.send(call).await.unwrap().id;
    world.advance(30);
    world.sweep().await;
    world
        .site
        .buffer
        .requeue(id, &crate::world::somebody())
        .await
        .unwrap();
    world.systems.always(Reply::Delivered);
    world.sweep().await;
    let news: Vec<_> = world.site.buffer.telemetry(100).await.unwrap();
    let told: Vec<_> = news
        .iter()
        .map(|(_, n)| (n.event, n.status, n.http_status))
        .collect();
    assert_eq!(
        told,
        [
            (
                OperationEvent::TransientFailure,
                OperationStatus::Retrying,
                Some(503)
            ),
            (
                OperationEvent::ParkedMaxRetries,
                OperationStatus::Parked,
                Some(503)
            ),
            (OperationEvent::Retry, OperationStatus::Retrying, None),
            (OperationEvent::Delivered, OperationStatus::Delivered, Some(200)),
        ]
    );
    assert!(
        news.windows(2)
            .all(|pair| pair[0].1.revision < pair[1].1.revision)
    );
    assert!(news.iter().all(|(_, n)| n.node.as_deref() == Some("node-a") && n.summary.as_deref() == Some("POST /orders")));
}

#[tokio::test]
async fn a_payload_that_cannot_be_read_is_parked_with_the_reason() {
    use site::categories::{CachedDbWrites, ExternalSystems};
    let clock: std::sync::Arc<dyn domain::Clock> = std::sync::Arc::new(domain::SystemClock);
    let outside = delivery::Outside::new(clock.clone());
    let erp = delivery::call::System::new(delivery::call::SystemSettings::at("http://127.0.0.1:1"), &outside);
    let systems = ExternalSystems::new([("erp".to_owned(), erp.unwrap())].into(), clock.clone());
    let handlers = site::Handlers::default()
        .register(
            domain::site::Category::ExternalSystem,
            std::sync::Arc::new(systems),
        )
        .register(
            domain::site::Category::CachedDbWrite,
            std::sync::Arc::new(CachedDbWrites::default()),
        );
    let folder = Folder::of_this_test();
    let options = store::buffer::Options::at(folder.path().join("sf.db"));
    let buffer = std::sync::Arc::new(store::Buffer::open(&options, clock.clone()).unwrap());
    let settings = site::Settings::of(domain::SiteId::new("north"));
    let site = site::Site::new(settings, buffer, handlers, clock);
    let mut call = a_call("erp");
    call.payload.truncate(5);
    call.options.attempt_immediate_delivery = false;
    let id = site.send(call).await.unwrap().id;
    assert_eq!(site.engine.sweep().await.unwrap().parked, 1);
    let parked = site.buffer.message(id).await.unwrap().unwrap();
    assert_eq!(parked.status, MessageStatus::Parked);
    assert!(parked.last_error.unwrap().starts_with("CORRUPT_PAYLOAD"));
}
