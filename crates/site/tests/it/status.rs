//! Where a notification is: honest, whoever can be asked.

use crate::world::{World, somebody, until};
use domain::{NotificationId, Status};
use site::status::Whereabouts;

#[tokio::test]
async fn the_answer_follows_the_notification() {
    let world = World::new();
    world.central.goes_down();
    let agent = world.start().await;
    let id = world.notify("n").await;
    let here = world.site.whereabouts(id).await.unwrap();
    assert_eq!(here.status(), Some(Status::Forwarding));
    world.central.comes_back();
    until("an empty buffer", || world.waiting() == 0).await;
    let there = world.site.whereabouts(id).await.unwrap();
    assert!(matches!(&there, Whereabouts::Central(remote) if remote.status == Status::Pending));
    world.central.goes_down();
    let Whereabouts::Unknown {
        why,
        handed_over_at,
        last,
    } = world.site.whereabouts(id).await.unwrap()
    else {
        panic!("central cannot be asked")
    };
    assert!(why.contains("not reachable"), "{why}");
    assert!(handed_over_at.is_some());
    assert_eq!(last.unwrap().0.status, Status::Pending);
    agent.stop().await;
}

#[tokio::test]
async fn what_nobody_has_seen_is_said_to_be_unseen_only_if_central_could_be_asked() {
    let world = World::new();
    let stranger = NotificationId::mint();
    assert_eq!(
        world.site.whereabouts(stranger).await.unwrap(),
        Whereabouts::NeverSeen
    );
    world.central.goes_down();
    assert!(matches!(
        world.site.whereabouts(stranger).await.unwrap(),
        Whereabouts::CannotSay { .. }
    ));
}

#[tokio::test]
async fn what_was_given_up_here_is_told_with_who_did_it() {
    let world = World::new();
    world.central.goes_down();
    let id = world.notify("n").await;
    let seq = world.message(id.into()).await.unwrap().seq;
    world.site.buffer.park_forward(seq, "REFUSED: no").await.unwrap();
    let parked = world.site.whereabouts(id).await.unwrap();
    assert_eq!(parked.status(), Some(Status::Parked));
    world.site.buffer.discard(id.into(), &somebody()).await.unwrap();
    let Whereabouts::DiscardedHere(was) = world.site.whereabouts(id).await.unwrap() else {
        panic!("it was discarded here")
    };
    assert_eq!(was.by.as_deref(), Some("user:anna"));
    assert_eq!(
        (
            was.target.as_str(),
            was.summary.as_deref(),
            was.last_error.as_deref()
        ),
        ("ops", Some("n"), Some("REFUSED: no")),
        "what it was stays known"
    );
}

#[tokio::test(start_paused = true)]
async fn a_central_that_does_not_answer_keeps_nobody_waiting() {
    let world = World::new();
    world.central.inner.lock().unwrap().silent = true;
    let Whereabouts::CannotSay { why } = world.site.whereabouts(NotificationId::mint()).await.unwrap() else {
        panic!("central said nothing")
    };
    assert_eq!(why, "central did not answer within 10 s");
}
