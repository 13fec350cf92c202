//! An adapter that panics, or takes the process with it, does not stop the others.

use crate::world::{World, secs};
use domain::{Channel, LeaseToken, OnAmbiguous, Status};
use store::outbox::LaneWant;
use testkit::{Reply, a_notification};

#[tokio::test]
async fn a_panicking_adapter_costs_only_its_own_message() {
    let mut world = World::new().await;
    world.mail.script(|m, _| {
        if m.content.subject == "boom" {
            Reply::Panic
        } else {
            Reply::accepted()
        }
    });
    let bad = world.send(a_notification().subject("boom")).await;
    let mut good = vec![];
    for _ in 0..10 {
        good.push(world.send(a_notification()).await);
    }
    let tally = world.sweep().await;
    assert_eq!((tally.delivered, tally.retried), (10, 1));
    world.advance(secs(60));
    world.sweep().await;
    let parked = world.get(bad).await;
    assert_eq!(
        (parked.status, parked.last_code.as_deref()),
        (Status::Parked, Some("UNKNOWN"))
    );
}

/// Claims like a node that dies before it can say what came of it.
async fn claim_and_die(world: &World, provider: &str) {
    let id = domain::ProviderId::new(provider);
    let lane = world
        .central
        .store
        .provider(crate::world::TENANT, &id)
        .await
        .unwrap()
        .unwrap()
        .lane;
    let wants = [LaneWant { lane, n: 1 }];
    let claims = world
        .central
        .store
        .claim_due(&wants, LeaseToken::mint(), secs(120))
        .await
        .unwrap();
    assert_eq!(claims.rows.len(), 1);
    world.advance(secs(121));
}

#[tokio::test]
async fn a_row_that_kills_the_process_is_parked_after_five() {
    let mut world = World::new().await;
    let id = world.send(a_notification()).await;
    for _ in 0..5 {
        claim_and_die(&world, "mail").await;
    }
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("INTERRUPTED"));
    assert!(world.mail.received().is_empty());
}

#[tokio::test]
async fn an_interrupted_attempt_is_counted_and_audited_and_the_next_one_delivers() {
    let mut world = World::new().await;
    let id = world.send(a_notification()).await;
    claim_and_die(&world, "mail").await;
    assert_eq!(world.sweep().await.delivered, 1);
    let delivered = world.get(id).await;
    assert_eq!((delivered.status, delivered.retry_count), (Status::Delivered, 2));
    let codes: Vec<_> = world
        .attempts(id)
        .await
        .into_iter()
        .filter_map(|row| row.code)
        .collect();
    assert_eq!(codes, ["INTERRUPTED"]);
}

#[tokio::test]
async fn where_a_message_costs_money_an_interrupted_one_is_parked_as_ambiguous() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.on_ambiguous = Some(OnAmbiguous::Park)
        })
        .await;
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    claim_and_die(&world, "hook").await;
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("AMBIGUOUS"));
    assert!(world.hook.received().is_empty());
}
