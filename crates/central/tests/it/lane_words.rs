//! What a lane is doing, as everybody is told who asks.

use crate::world::{TENANT, World, secs, somebody};
use central::lanes::LaneNow;
use domain::{Failure, HoldReason, LaneState, Outcome, ProviderId, Scope};
use testkit::a_notification;

async fn lane(world: &World) -> LaneNow {
    let lanes = world.central.lanes(TENANT).await.unwrap();
    lanes.into_iter().find(|now| now.lane.provider == "mail").unwrap()
}

async fn said(world: &World) -> (LaneState, String) {
    let now = lane(world).await;
    (now.report.state, now.report.words)
}

fn fails(failure: Failure) -> Outcome {
    Outcome::Failed(failure)
}

#[tokio::test]
async fn a_lane_with_nothing_to_do_is_idle_and_one_with_something_sends() {
    let mut world = World::new().await;
    assert_eq!(said(&world).await, (LaneState::Idle, "nothing waits".into()));
    world.send(a_notification()).await;
    assert_eq!(said(&world).await.0, LaneState::Sending);
    world.sweep().await;
    assert_eq!(said(&world).await.0, LaneState::Idle);
}

#[tokio::test]
async fn a_lane_whose_attempts_fail_says_how_many_and_with_what_until_they_succeed_again() {
    let mut world = World::new().await;
    let greylisted = Failure::transient(Scope::Message, "PROVIDER_ERROR", "later").with_own_code("SMTP_451");
    world.send(a_notification()).await;
    world.sweep().await;
    world.mail.answers(fails(greylisted));
    for _ in 0..4 {
        world.send(a_notification()).await;
        world.advance(secs(1));
        world.sweep().await;
    }
    let words = "4 of the last 5 attempts failed (SMTP_451)";
    assert_eq!(said(&world).await, (LaneState::Failing, words.into()));
    assert!(lane(&world).await.report.is_wrong(0));
    world.mail.accepts();
    world.advance(secs(600));
    world.sweep().await;
    assert_eq!(said(&world).await.0, LaneState::Idle, "all of them are out");
}

#[tokio::test]
async fn how_a_lane_did_long_ago_says_nothing() {
    let mut world = World::new().await;
    let refused = Failure::permanent(Scope::Message, "PROVIDER_ERROR", "no");
    world.mail.answers(fails(refused));
    for _ in 0..3 {
        world.send(a_notification()).await;
    }
    world.sweep().await;
    assert_eq!(said(&world).await.0, LaneState::Failing);
    world.advance(secs(3601));
    assert_eq!(said(&world).await.0, LaneState::Idle);
}

#[tokio::test]
async fn a_lane_that_was_asked_for_less_says_until_when() {
    let mut world = World::new().await;
    let slow = Failure::transient(Scope::Lane, "RATE_LIMITED", "429").after(Some(secs(90)));
    world.mail.answers(fails(slow));
    world.send(a_notification()).await;
    world.sweep().await;
    let now = lane(&world).await;
    assert_eq!(
        (now.report.state, &*now.report.words),
        (LaneState::Throttled, "the far end asked for less (RATE_LIMITED)")
    );
    assert_eq!(now.report.until, now.lane.not_before);
    assert!(now.report.until.is_some() && now.report.is_wrong(now.lane.waiting));
}

#[tokio::test]
async fn a_held_lane_says_why_and_by_whom() {
    let mut world = World::new().await;
    let refused = Failure::permanent(Scope::Lane, "AUTH_FAILED", "535 no").holding(HoldReason::Auth);
    world.mail.answers(fails(refused));
    world.send(a_notification()).await;
    world.sweep().await;
    let report = lane(&world).await.report;
    assert_eq!(
        (report.state, &*report.words),
        (LaneState::Held, "the provider refuses our credentials")
    );
    assert_eq!(report.detail.as_deref(), Some("535 no"));
    let id = ProviderId::new("mail");
    let providers = &world.central.providers;
    let why = Some("the server moves".to_owned());
    providers.hold(TENANT, &id, why, &somebody()).await.unwrap();
    let report = lane(&world).await.report;
    assert_eq!(report.words, "stopped by key:operator");
    assert_eq!(report.detail.as_deref(), Some("the server moves"));
    providers.resume(TENANT, &id, &somebody()).await.unwrap();
    world
        .provider("mail", "test-mail", |draft| draft.enabled = Some(false))
        .await;
    assert_eq!(
        said(&world).await,
        (LaneState::Disabled, "switched off by key:operator".into())
    );
}

#[tokio::test]
async fn an_address_that_we_refuse_is_told_as_our_refusal_with_the_line_to_add() {
    let mut world = World::new().await;
    let line = "address 10.0.0.1 is not public; to allow it, add this to the configuration: delivery.allow_addresses = [\"10.0.0.1/32\"]";
    let refused = Failure::permanent(Scope::Lane, "INVALID_CONFIG", line)
        .with_own_code("ADDRESS_REFUSED")
        .holding(HoldReason::Config);
    world.mail.answers(fails(refused));
    world.send(a_notification()).await;
    world.sweep().await;
    let report = lane(&world).await.report;
    assert_eq!(report.words, "waypost refuses to connect to its address");
    assert_eq!(report.detail.as_deref(), Some(line));
}
