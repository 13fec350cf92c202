//! Every row that waits says why, and until when.

use crate::world::{TENANT, World, secs, somebody};
use central::{
    Settings,
    secrets::{Sealer, SealingKey},
    waiting,
};
use domain::{Channel, Clock, Failure, NotificationId, ProviderId, Scope, WaitReason, Waiting};
use testkit::{FarEnd, TempStore, a_notification};

async fn why(world: &World, id: NotificationId) -> Waiting {
    let row = world.get(id).await;
    let now = world.temp.clock.now();
    let found = waiting::of(&world.central.directory, &row, now).await.unwrap();
    found.expect("it waits")
}

#[tokio::test]
async fn after_a_429_the_others_say_that_the_far_end_asked_for_a_pause_and_how_long() {
    let mut world = World::new().await;
    let asked = Failure::transient(Scope::Lane, "HTTP_429", "slow down").after(Some(secs(300)));
    world.hook.answers(asked.into());
    world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    let other = world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    let waiting = why(&world, other).await;
    assert_eq!(waiting.reason, WaitReason::Throttled);
    assert!(waiting.until.unwrap() > world.temp.clock.now(), "{waiting:?}");
    world.advance(secs(301));
    assert_eq!(why(&world, other).await.reason, WaitReason::Queued);
}

#[tokio::test]
async fn what_waits_for_a_key_that_is_missing_says_so() {
    let key = |n: u8| Sealer::new(SealingKey::from_bytes([n; 32]), vec![]);
    let over = |temp: TempStore, sealer| {
        let (mail, hook) = (
            FarEnd::new("test-mail", Channel::Email),
            FarEnd::new("test-hook", Channel::Webhook),
        );
        World::over(temp, mail, hook, Settings::named("node-1"), sealer)
    };
    let world = over(TempStore::open(), key(1));
    world.list("ops", &["ops@example.com"]).await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "hunter2".into());
        })
        .await;
    let mut world = over(world.temp, key(9));
    let id = world.send(a_notification()).await;
    world.sweep().await;
    let waiting = why(&world, id).await;
    assert_eq!((waiting.reason, waiting.until), (WaitReason::Secrets, None));
    assert!(waiting.detail.unwrap().contains("password"));
}

#[tokio::test]
async fn a_hold_a_schedule_and_a_retry_are_told_apart() {
    let mut world = World::new().await;
    let now = world.temp.clock.now();
    let later = world.send(a_notification().send_at(now + secs(60))).await;
    assert_eq!(why(&world, later).await.reason, WaitReason::Scheduled);
    assert_eq!(why(&world, later).await.until, Some(now + secs(60)));
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "later").into());
    let failing = world.send(a_notification()).await;
    world.sweep().await;
    let waiting = why(&world, failing).await;
    assert_eq!(
        (waiting.reason, waiting.detail.as_deref()),
        (WaitReason::Retry, Some("SMTP_451"))
    );
    assert!(waiting.until.unwrap() > now);
    let mail = ProviderId::new("mail");
    let reason = Some("new server tonight".to_owned());
    let service = &world.central.providers;
    service.hold(TENANT, &mail, reason, &somebody()).await.unwrap();
    let waiting = why(&world, failing).await;
    assert_eq!((waiting.reason, waiting.until), (WaitReason::Held, None));
    assert_eq!(
        waiting.detail.as_deref(),
        Some("stopped by key:operator: new server tonight")
    );
}
