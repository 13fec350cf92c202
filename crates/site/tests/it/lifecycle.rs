//! Retention, room, and what a whole agent does over time.

use crate::{
    script::Reply,
    world::{World, a_call, secs, until},
};
use domain::site::OperationStatus;
use store::buffer::What;

#[tokio::test]
async fn tracking_is_purged_after_its_retention_only_if_it_has_ended() {
    let world = World::new();
    let delivered = world.call("erp").await.id;
    world.systems.always(Reply::Transient);
    let waits = world.call("erp").await.id;
    let mut limited = a_call("erp");
    limited.options.max_retries = Some(1);
    let parked = world.site.send(limited).await.unwrap().id;
    world.advance(30);
    world.sweep().await;
    assert_eq!(world.tracked_as(parked).await, OperationStatus::Parked);
    world.advance(8 * 24 * 3600);
    let week = world.site.settings.tracking_retention;
    let purged = world.site.buffer.purge(week).await.unwrap();
    assert_eq!(purged.tracking, 1);
    assert!(purged.events > 0);
    let gone = domain::TrackedOperationId(delivered.0);
    assert_eq!(world.site.buffer.tracking(gone).await.unwrap(), None);
    assert_eq!(world.tracked_as(waits).await, OperationStatus::Retrying);
    assert_eq!(world.tracked_as(parked).await, OperationStatus::Parked);
}

#[tokio::test]
async fn a_running_agent_tries_what_is_due_without_being_asked() {
    let world = World::with(|settings| {
        settings.timer = std::time::Duration::from_millis(20);
    });
    world.systems.always(Reply::Transient);
    let agent = world.start().await;
    let id = world.call("erp").await.id;
    world.systems.always(Reply::Delivered);
    world.advance(30);
    until("the delivery", || world.waiting() == 0).await;
    assert_eq!(world.tracked_as(id).await, OperationStatus::Delivered);
    assert!(agent.loops.reports()["due"].result.is_ok());
    agent.stop().await;
}

#[tokio::test]
async fn an_operators_retry_wakes_a_running_agent() {
    let world = World::with(|settings| settings.timer = secs(3600));
    world.systems.always(Reply::Permanent);
    let agent = world.start().await;
    let mut call = a_call("erp");
    call.options.attempt_immediate_delivery = false;
    let id = world.site.send(call).await.unwrap().id;
    until("it to be parked", || world.parked() == 1).await;
    world.systems.always(Reply::Delivered);
    let anna = crate::world::somebody();
    world.site.buffer.requeue(id, &anna).await.unwrap();
    until("the delivery", || world.waiting() == 0 && world.parked() == 0).await;
    assert_eq!(
        world.events().await,
        [What::Queued, What::Parked, What::Retry, What::Delivered]
    );
    agent.stop().await;
}

#[tokio::test]
async fn a_central_that_does_not_answer_holds_up_no_stop() {
    let world = World::new();
    world.central.inner.lock().unwrap().silent = true;
    let agent = world.start().await;
    assert!(world.call("erp").await.accepted);
    // By now the news of it is with central, which says nothing.
    world.notify("n").await;
    world.central.has_rows(1).await;
    agent.stop().await;
}
