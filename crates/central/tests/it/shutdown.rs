//! Stopping in good order counts nothing and loses nothing.

use crate::world::{World, secs};
use central::{Settings, changes::News};
use domain::{Channel, OnAmbiguous, Outcome, Status};
use testkit::{Reply, a_notification};
use tokio_util::sync::CancellationToken;

fn impatient() -> Settings {
    let mut settings = Settings::named("node-1");
    settings.dispatch.grace = std::time::Duration::from_millis(20);
    settings
}

#[tokio::test]
async fn what_is_being_sent_when_the_grace_period_ends_is_let_go_uncounted() {
    let world = World::with(impatient()).await;
    world
        .mail
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    let id = world.send(a_notification()).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    world.mail.waiting(1).await;
    stop.cancel();
    tasks.wait().await;
    let waiting = world.get(id).await;
    assert_eq!((waiting.status, waiting.retry_count), (Status::Pending, 0));
    assert_eq!(world.attempts(id).await.len(), 1, "only the send is on record");

    let mut world = World::over(
        world.temp,
        world.mail,
        world.hook,
        Settings::named("node-2"),
        central::secrets::Sealer::ephemeral(),
    );
    world.mail.accepts();
    assert_eq!(
        world.sweep().await.delivered,
        1,
        "due at once, without waiting for a lease to end"
    );
    assert_eq!(world.get(id).await.retry_count, 1);
}

#[tokio::test]
async fn what_ends_within_the_grace_period_is_recorded() {
    let mut settings = impatient();
    settings.dispatch.grace = secs(60);
    let world = World::with(settings).await;
    world
        .mail
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    let id = world.send(a_notification()).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    world.mail.waiting(1).await;
    stop.cancel();
    world.mail.open_gate();
    tasks.wait().await;
    assert_eq!(world.status(id).await, Status::Delivered);
}

#[tokio::test]
async fn a_money_lane_does_not_guess_whether_an_abandoned_send_went_out() {
    let world = World::with(impatient()).await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.on_ambiguous = Some(OnAmbiguous::Park)
        })
        .await;
    world
        .hook
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    world.hook.waiting(1).await;
    stop.cancel();
    tasks.wait().await;
    let parked = world.get(id).await;
    assert_eq!(
        (parked.status, parked.last_code.as_deref()),
        (Status::Parked, Some("AMBIGUOUS"))
    );
}

#[tokio::test]
async fn a_new_row_wakes_the_dispatcher_without_a_poll() {
    let mut settings = impatient();
    settings.dispatch.interval = secs(3600);
    let world = World::with(settings).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    let mut changes = world.central.changes.subscribe();
    let id = world.send(a_notification()).await;
    loop {
        let News::Change(change) = changes.recv().await.unwrap() else {
            continue;
        };
        if change.id == id && change.status == Status::Delivered {
            break;
        }
    }
    stop.cancel();
    tasks.wait().await;
}
