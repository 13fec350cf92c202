//! What is not out by the time its sender set.

use crate::world::{TENANT, World, secs, somebody};
use central::{Settings, changes::News, expiry};
use domain::{Clock, ProviderId, Status};
use std::time::Duration;
use testkit::{a_notification, eventually};
use tokio_util::sync::CancellationToken;

async fn hold(world: &World) {
    let mail = ProviderId::new("mail");
    world
        .central
        .providers
        .hold(TENANT, &mail, None, &somebody())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_row_in_a_held_lane_is_parked_as_expired_when_the_time_comes() {
    let mut world = World::new().await;
    hold(&world).await;
    let until = world.temp.clock.now() + secs(60);
    let id = world.send(a_notification().expires_at(until)).await;
    let mut changes = world.central.changes.subscribe();
    let sweep = async || {
        expiry::sweep(&*world.central.store, &world.central.changes)
            .await
            .unwrap()
    };
    world.advance(secs(59));
    assert_eq!(sweep().await, 0);
    world.advance(secs(1));
    assert_eq!(sweep().await, 1);
    let row = world.get(id).await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Parked, Some("EXPIRED"))
    );
    let News::Change(told) = changes.try_recv().unwrap() else {
        panic!("a change");
    };
    assert_eq!((told.id, told.status), (id, Status::Parked));
    world.sweep().await;
    assert_eq!(world.mail.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_node_finds_out_by_itself_what_expires_in_a_held_lane() {
    let mut settings = Settings::named("node-1");
    settings.dispatch.interval = Duration::from_millis(20);
    let world = World::with(settings).await;
    hold(&world).await;
    let until = world.temp.clock.now() + secs(60);
    let id = world.send(a_notification().expires_at(until)).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    world.advance(secs(60));
    eventually("it to be parked", async || {
        (world.status(id).await == Status::Parked).then_some(())
    })
    .await;
    stop.cancel();
    tasks.wait().await;
}
