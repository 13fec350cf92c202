//! Lists: each recipient has a fate of its own.

use crate::world::{World, secs};
use delivery::Message;
use domain::{Accepted, Failure, Outcome, RecipientReport, RecipientState, Scope, Status};
use testkit::{Reply, a_notification};

fn per_recipient(message: &Message, judge: impl Fn(&str) -> Result<Accepted, Failure>) -> Reply {
    let reports = message.targets.iter().map(|a| RecipientReport {
        address: a.clone(),
        result: judge(a),
    });
    Reply::Now(Outcome::Mixed(reports.collect()))
}

fn no_user() -> Failure {
    Failure::permanent(Scope::Recipient, "SMTP_550_5.1.1", "no such user")
}

fn greylisted() -> Failure {
    Failure::transient(Scope::Recipient, "SMTP_451_4.7.1", "greylisted")
}

#[tokio::test]
async fn a_retry_goes_only_to_those_still_open() {
    let mut world = World::new().await;
    world.list("crew", &["a@x", "b@x", "c@x"]).await;
    world.mail.script(|m, _| {
        per_recipient(m, |a| {
            if a == "b@x" {
                Err(greylisted())
            } else {
                Ok(Accepted::default())
            }
        })
    });
    let id = world.send(a_notification().to_list("crew")).await;
    assert_eq!(world.sweep().await.retried, 1);
    let waiting = world.get(id).await;
    let state = |address: &str| {
        waiting
            .recipients
            .iter()
            .find(|r| r.address == address)
            .map(|r| r.state)
    };
    assert_eq!(state("a@x"), Some(RecipientState::Accepted));
    assert_eq!(state("b@x"), Some(RecipientState::Open));

    world.mail.accepts();
    world.advance(secs(60));
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.mail.received()[1].targets, ["b@x"]);
    let mut reached = world.get(id).await.resolved_targets;
    reached.sort();
    assert_eq!(reached, ["a@x", "b@x", "c@x"]);
}

#[tokio::test]
async fn one_bad_address_parks_as_partial_and_a_requeue_reaches_only_that_one() {
    let mut world = World::new().await;
    world.list("crew", &["a@x", "bad@x", "c@x"]).await;
    world.mail.script(|m, _| {
        per_recipient(m, |a| {
            if a == "bad@x" {
                Err(no_user())
            } else {
                Ok(Accepted::default())
            }
        })
    });
    let id = world.send(a_notification().to_list("crew")).await;
    assert_eq!(world.sweep().await.parked, 1);
    let parked = world.get(id).await;
    assert_eq!(
        (parked.status, parked.last_code.as_deref()),
        (Status::Parked, Some("PARTIAL"))
    );
    assert_eq!(parked.resolved_targets, ["a@x", "c@x"]);

    world.mail.accepts();
    world.requeue(id).await;
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.mail.received()[1].targets, ["bad@x"]);
    assert_eq!(world.get(id).await.resolved_targets.len(), 3);
}

#[tokio::test]
async fn the_list_is_resolved_at_delivery_time() {
    let mut world = World::new().await;
    let id = world.send(a_notification()).await;
    world.list("ops", &["new@example.com"]).await;
    world.sweep().await;
    assert_eq!(world.mail.received()[0].targets, ["new@example.com"]);
    assert_eq!(world.get(id).await.resolved_targets, ["new@example.com"]);
}

#[tokio::test]
async fn somebody_taken_off_the_list_between_attempts_is_not_tried_again() {
    let mut world = World::new().await;
    world.list("crew", &["a@x", "b@x"]).await;
    world.mail.script(|m, _| {
        per_recipient(m, |a| {
            if a == "b@x" {
                Err(greylisted())
            } else {
                Ok(Accepted::default())
            }
        })
    });
    let id = world.send(a_notification().to_list("crew")).await;
    world.sweep().await;
    world.list("crew", &["a@x"]).await;
    world.advance(secs(60));
    world.sweep().await;
    assert_eq!(world.mail.received().len(), 1, "nobody was left to send to");
    assert_eq!(world.status(id).await, Status::Delivered);
}
