//! A provider that is down, or whose password is wrong, delays its messages and parks none of them.

use crate::world::{TENANT, World, secs, somebody};
use domain::{Channel, Clock, Failure, HoldReason, Outcome, ProviderId, Scope, Status};
use testkit::{Reply, a_notification};

fn wrong_password() -> Failure {
    Failure::permanent(Scope::Lane, "AUTH_FAILED", "535 5.7.8 bad credentials").holding(HoldReason::Auth)
}

fn no_answer() -> Failure {
    Failure::transient(Scope::Lane, "TIMEOUT", "no answer")
}

#[tokio::test]
async fn an_expired_password_holds_the_lane_parks_nothing_and_everything_goes_out_once_it_is_corrected() {
    let mut world = World::new().await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "old".into());
        })
        .await;
    world
        .mail
        .script(|_, settings| match settings["password"].as_str() {
            Some("new") => Reply::accepted(),
            _ => Reply::Now(wrong_password().into()),
        });
    let mut ids = vec![];
    for _ in 0..50 {
        ids.push(world.send(a_notification()).await);
    }
    let tally = world.sweep().await;
    assert_eq!((tally.parked, tally.delivered), (0, 0));
    let tried = world.mail.received().len();
    assert!(
        tried < 50,
        "the lane was held after the first refusals, not after {tried}"
    );
    let waiting = world.get(ids[0]).await;
    assert_eq!(
        (waiting.retry_count, waiting.last_code.as_deref()),
        (0, Some("AUTH_FAILED"))
    );
    let held = waiting.held.expect("the reason is shown on the row");
    assert_eq!(held.reason, HoldReason::Auth);
    assert!(held.next_probe.is_some());

    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "new".into());
        })
        .await;
    assert_eq!(world.sweep().await.delivered, 50);
    for id in ids {
        assert_eq!(world.status(id).await, Status::Delivered);
    }
}

#[tokio::test]
async fn a_late_failure_with_the_old_password_does_not_hold_the_lane_again() {
    let mut world = World::new().await;
    world.mail.script(
        |_, settings| match settings.get("password").and_then(|p| p.as_str()) {
            Some("new") => Reply::accepted(),
            _ => Reply::AtGate(wrong_password().into()),
        },
    );
    let id = world.send(a_notification()).await;
    let mail = world.mail.clone();
    let central = world.central.clone();
    let correct = async {
        mail.waiting(1).await;
        let current = central
            .store
            .provider(TENANT, &ProviderId::new("mail"))
            .await
            .unwrap()
            .unwrap();
        let mut draft = central::providers::ProviderDraft {
            kind: "test-mail".into(),
            ..Default::default()
        };
        draft.settings.insert("password".into(), "new".into());
        central
            .providers
            .replace(&current, draft, &somebody())
            .await
            .unwrap();
        mail.open_gate();
    };
    let (tally, ()) = tokio::join!(world.dispatcher.sweep(), correct);
    assert_eq!(
        tally.unwrap().delivered,
        1,
        "the row went round again with the new password"
    );
    assert_eq!(world.status(id).await, Status::Delivered);
    let provider = world
        .central
        .store
        .provider(TENANT, &ProviderId::new("mail"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(provider.hold, None);
}

#[tokio::test]
async fn five_silences_in_a_row_over_three_rows_hold_the_lane_and_a_probe_resumes_it() {
    let mut world = World::new().await;
    world.hook.answers(no_answer().into());
    for _ in 0..20 {
        world.send(a_notification().by(Channel::Webhook)).await;
    }
    world.sweep().await;
    let provider = world
        .central
        .store
        .provider(TENANT, &ProviderId::new("hook"))
        .await
        .unwrap()
        .unwrap();
    let hold = provider.hold.expect("held as down");
    assert_eq!(hold.reason, HoldReason::Down);
    let tried = world.hook.received().len();
    assert!(tried < 20, "{tried} attempts before the hold");

    world.advance(secs(30));
    world.sweep().await;
    assert_eq!(world.hook.received().len(), tried + 1, "one probe, by one row");

    world.hook.accepts();
    world.advance(secs(60));
    world.sweep().await;
    world.advance(secs(600));
    world.sweep().await;
    let left = world
        .central
        .store
        .kpis(Some(TENANT), world.central.settings.kpi)
        .await
        .unwrap();
    assert_eq!((left.queue_depth, left.parked_count), (0, 0));
}

#[tokio::test]
async fn a_lone_failing_row_uses_up_its_own_budget_and_parks() {
    let mut world = World::new().await;
    world.hook.answers(no_answer().into());
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    for _ in 0..5 {
        world.sweep().await;
        world.advance(secs(4000));
    }
    let parked = world.get(id).await;
    assert_eq!((parked.status, parked.retry_count), (Status::Parked, 5));
}

#[tokio::test]
async fn an_operators_hold_stops_a_lane_until_it_is_resumed() {
    let mut world = World::new().await;
    let mail = ProviderId::new("mail");
    world
        .central
        .providers
        .hold(TENANT, &mail, Some("maintenance".into()), &somebody())
        .await
        .unwrap();
    let id = world.send(a_notification()).await;
    assert_eq!(world.sweep().await.rows(), 0);
    let waiting = world.get(id).await;
    assert_eq!(
        waiting.held.as_ref().unwrap().detail.as_deref(),
        Some("maintenance")
    );
    world.advance(secs(86_400));
    assert_eq!(
        world.sweep().await.rows(),
        0,
        "nobody probes what a person stopped"
    );
    world
        .central
        .providers
        .resume(TENANT, &mail, &somebody())
        .await
        .unwrap();
    assert_eq!(world.sweep().await.delivered, 1);
}

#[tokio::test]
async fn a_throttling_far_end_pauses_its_whole_lane() {
    let mut world = World::new().await;
    world.hook.answers(
        Failure::transient(Scope::Lane, "HTTP_429", "slow down")
            .after(Some(secs(120)))
            .into(),
    );
    world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    world.hook.accepts();
    let fresh = world.send(a_notification().by(Channel::Webhook)).await;
    assert_eq!(
        world.sweep().await.rows(),
        0,
        "a new row waits for the pause as well"
    );
    world.advance(secs(120));
    world.sweep().await;
    assert_eq!(world.status(fresh).await, Status::Delivered);
}

#[tokio::test]
async fn a_provider_with_waiting_rows_cannot_be_deleted() {
    let world = World::new().await;
    world.send(a_notification()).await;
    let refused = world
        .central
        .providers
        .delete(TENANT, &ProviderId::new("mail"), &somebody())
        .await;
    assert!(matches!(refused, Err(store::Error::Conflict(_))), "{refused:?}");
}

#[tokio::test]
async fn money_lanes_park_what_may_have_gone_out() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.on_ambiguous = Some(domain::OnAmbiguous::Park)
        })
        .await;
    let cut = Failure::ambiguous(Scope::Message, "NO_ANSWER", "cut after the request");
    world.hook.answers(Outcome::from(cut));
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("AMBIGUOUS"));
}

#[tokio::test]
async fn a_probe_that_is_not_of_this_hour_leaves_its_place_to_the_next_row_at_once() {
    let mut world = World::new().await;
    let unpaid = Failure::permanent(Scope::Lane, "BILLING", "402").holding(HoldReason::Billing);
    world.hook.answers(unpaid.clone().into());
    let sale = || {
        let mut promotional = a_notification().by(Channel::Webhook);
        promotional.0.content.subject = "sale".into();
        promotional
    };
    world.send(sale()).await;
    world.sweep().await;
    let probes = async |world: &World| {
        let hook = ProviderId::new("hook");
        let found = world.central.store.provider(TENANT, &hook).await.unwrap();
        found.unwrap().hold.map(|hold| hold.probes)
    };
    assert_eq!(probes(&world).await, Some(0));
    for _ in 0..20 {
        world.send(sale()).await;
    }
    let bill = world.send(a_notification().by(Channel::Webhook)).await;
    let opens = world.temp.clock.now() + secs(9 * 3600);
    world
        .hook
        .opens_at_for(opens, |message, _| message.content.subject == "sale");
    // Nothing has changed yet: what was put off tells nothing about the far end.
    world.advance(secs(900));
    let tally = world.sweep().await;
    assert_eq!((tally.postponed, tally.waiting), (21, 1), "{tally:?}");
    assert_eq!(probes(&world).await, Some(1), "one was asked");
    world.hook.accepts();
    world.advance(secs(1800));
    world.sweep().await;
    assert_eq!(world.status(bill).await, Status::Delivered);
    assert_eq!(probes(&world).await, None);
}
