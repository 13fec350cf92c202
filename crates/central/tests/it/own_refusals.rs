//! What we refuse ourselves, or stop ourselves, says nothing about the far end: a hold outlasts it, and it clears no count.

use crate::world::{TENANT, World, secs, somebody};
use central::Settings;
use domain::{
    Channel, Clock, Failure, Hold, HoldReason, NotificationId, OnAmbiguous, Outcome, ProviderId, Scope,
    Status,
};
use testkit::{Reply, a_notification};
use tokio_util::sync::CancellationToken;

async fn hold_of(world: &World) -> Option<Hold> {
    let found = world
        .central
        .store
        .provider(TENANT, &ProviderId::new("hook"))
        .await;
    found.unwrap().unwrap().hold
}

async fn costs_money(world: &World) {
    world
        .provider("hook", "test-hook", |draft| {
            draft.on_ambiguous = Some(OnAmbiguous::Park)
        })
        .await;
}

fn silence() -> Failure {
    Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer")
}

/// As an adapter answers that has asked nobody.
fn refused_here() -> Failure {
    Failure::permanent(Scope::Message, "TEMPLATE", "no such template").of_our_making()
}

async fn send(world: &World, subject: &str) -> NotificationId {
    let mut notification = a_notification().by(Channel::Webhook);
    notification.0.content.subject = subject.into();
    world.send(notification).await
}

/// Silent, and what is called unfit is not sent at all.
fn hangs(world: &World) {
    world
        .hook
        .script(|message, _| match message.content.subject.as_str() {
            "unfit" => Reply::Now(refused_here().into()),
            _ => Reply::Now(silence().into()),
        });
}

#[tokio::test]
async fn a_service_that_hangs_is_held_as_down_whatever_is_refused_in_between() {
    let mut world = World::new().await;
    costs_money(&world).await;
    hangs(&world);
    let mut sendable = vec![];
    for _ in 0..40 {
        send(&world, "unfit").await;
        sendable.push(send(&world, "fine").await);
    }
    world.sweep().await;
    assert_eq!(
        hold_of(&world).await.map(|hold| hold.reason),
        Some(HoldReason::Down)
    );
    let mut in_doubt = 0;
    for id in sendable {
        in_doubt += usize::from(world.status(id).await == Status::Parked);
    }
    assert!(in_doubt <= 6, "{in_doubt} may or may not have gone out");
}

#[tokio::test]
async fn a_probe_that_we_refuse_ourselves_ends_no_hold_and_the_next_row_is_asked_about() {
    let mut world = World::new().await;
    costs_money(&world).await;
    let wrong = Failure::permanent(Scope::Lane, "AUTH_FAILED", "401").holding(HoldReason::Auth);
    world.hook.answers(wrong.clone().into());
    let first = send(&world, "fine").await;
    world.sweep().await;
    let operator = &world.central.operator;
    operator.cancel(TENANT, first, &somebody()).await.unwrap();
    world
        .hook
        .script(move |message, _| match message.content.subject.as_str() {
            "unfit" => Reply::Now(refused_here().into()),
            _ => Reply::Now(wrong.clone().into()),
        });
    let unfit = send(&world, "unfit").await;
    let fine = send(&world, "fine").await;
    world.advance(secs(300));
    world.sweep().await;
    assert_eq!(world.status(unfit).await, Status::Parked);
    let hold = hold_of(&world).await.expect("nobody was asked about it");
    assert_eq!(
        (hold.reason, hold.detail.as_deref()),
        (HoldReason::Auth, Some("401"))
    );
    world.advance(secs(1));
    world.sweep().await;
    let hold = hold_of(&world).await.expect("refused once more");
    assert_eq!(hold.probes, 1, "the one that asked");
    world.hook.accepts();
    world.advance(secs(3600));
    world.sweep().await;
    assert_eq!(world.status(fine).await, Status::Delivered);
    assert_eq!(hold_of(&world).await, None);
}

#[tokio::test]
async fn stopping_during_a_probe_ends_no_hold() {
    let mut settings = Settings::named("node-1");
    settings.dispatch.grace = std::time::Duration::from_millis(20);
    let mut world = World::with(settings).await;
    costs_money(&world).await;
    hangs(&world);
    for _ in 0..20 {
        send(&world, "fine").await;
    }
    world.sweep().await;
    let before = hold_of(&world).await.expect("held as down");
    world
        .hook
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    world.advance(secs(30));
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    world.hook.waiting(1).await;
    stop.cancel();
    tasks.wait().await;
    let hold = hold_of(&world).await.expect("nothing was learned about it");
    assert_eq!((hold.reason, hold.probes), (before.reason, before.probes + 1));
    assert!(
        hold.next_probe.unwrap() > world.temp.clock.now(),
        "a start does not ask at once"
    );
}
