//! Two nodes on one PostgreSQL, in processes of their own.

use crate::{
    crash::{check, drained, quiet, sent_but_not_recorded},
    far_end,
    load::{Load, one_try},
    node::{Node, Setup},
    postgres, size,
};
use simulator::http::HttpRule;
use std::time::Duration;
use testkit::seen_in_time;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_loses_nothing_acknowledged_and_repeats_only_what_was_in_flight_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let url = postgres::database().await;
    let far_end = far_end::receiver().await;
    let survivor = Node::start(&Setup::postgres("survivor", folder.path(), &url)).await;
    far_end::provider(&survivor.client, &far_end, 16).await;
    let store = postgres::open(&url, "observer").await;
    let (kills, per_kill) = (size::pick(3, 50), size::pick(1000, 2000));
    let load = Load::new((kills + 1) * per_kill, one_try(&survivor.client));
    let mut senders = load.start(16);
    let mut in_flight = 0;
    for kill in 0..kills {
        let victim = Node::start(&Setup::postgres("victim", folder.path(), &url)).await;
        load.send_to(&one_try(&victim.client));
        load.acknowledged(kill * per_kill + rand::random_range(1..per_kill))
            .await;
        // The survivor is stopped for the moment of the kill, so that what waits was the victim's.
        survivor.signal("STOP");
        victim.kill();
        quiet(&far_end).await;
        in_flight += sent_but_not_recorded(&store, &far_end).await;
        survivor.signal("CONT");
        load.send_to(&one_try(&survivor.client));
    }
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    drained(&survivor.client).await;
    check(&load, &far_end, in_flight);
    assert_eq!(store::Maintenance::misplaced(&store).await.unwrap(), 0);
    assert_eq!(survivor.stop().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stopped_past_its_lease_in_the_middle_of_a_send_does_not_overwrite_the_newer_result() {
    let folder = tempfile::tempdir().unwrap();
    let url = postgres::database().await;
    let far_end = far_end::receiver().await;
    let sleeper = Node::start(&Setup::postgres("sleeper", folder.path(), &url)).await;
    // So many at once that no node owns the lane alone: another may take over as soon as the lease is over.
    far_end::provider(&sleeper.client, &far_end, 16).await;
    // The first request is answered late, while its node is stopped: that hears of it after another one has taken over.
    far_end.on(HttpRule::usual().times(1).delayed(Duration::from_secs(15)));
    let notification = client::Notification::by_provider("hook")
        .subject("slow")
        .body("x");
    let id = sleeper
        .client
        .submit(&notification)
        .await
        .unwrap()
        .notification_id;
    far_end.wait_until(|counts| counts.arrived >= 1).await;
    sleeper.signal("STOP");
    let other = Node::start(&Setup::postgres("other", folder.path(), &url)).await;
    drained(&other.client).await;
    sleeper.signal("CONT");
    let store = postgres::open(&url, "observer").await;
    // The late result is on record when the sleeper's attempt is: one Attempted row each, and one interruption.
    let rows = seen_in_time(async || {
        let rows = other.client.attempts(id).await.unwrap();
        let attempted = rows
            .iter()
            .filter(|r| r.status == "Attempted" && r.code.is_none())
            .count();
        (attempted >= 2).then_some(rows)
    });
    let rows = rows.await.unwrap_or_else(|| {
        panic!("the sleeper's attempt is not on record\n{}", sleeper.log_tail());
    });
    let delivered = rows.iter().filter(|r| r.status == "Delivered").count();
    assert_eq!(delivered, 1, "the end is on record once: {rows:?}");
    assert_eq!(
        other.client.status(id).await.unwrap().status,
        client::Status::Delivered
    );
    assert_eq!(
        far_end.deliveries_of(&id.to_string()),
        2,
        "one duplicate, under the same webhook-id"
    );
    assert_eq!(store::Maintenance::misplaced(&store).await.unwrap(), 0);
}
