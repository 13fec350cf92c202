//! Trying providers out: a test keeps to the lane's pause and rate, and a success ends what it disproves.

use crate::world::{TENANT, World, secs, somebody};
use central::providers::{TestDraft, TestReport};
use domain::{AuditKind, Failure, HoldReason, Outcome, ProviderId, Scope};
use store::query::{AuditFilter, Page};
use testkit::a_notification;

async fn test(world: &World) -> TestReport {
    let draft = TestDraft {
        to: Some("ops@example.com".into()),
        data: None,
    };
    let providers = &world.central.providers;
    let tested = providers
        .test(TENANT, &ProviderId::new("mail"), draft, &somebody())
        .await;
    tested.unwrap()
}

fn refused() -> Outcome {
    let failure = Failure::permanent(Scope::Lane, "AUTH_FAILED", "535 no");
    Outcome::Failed(failure.holding(HoldReason::Auth))
}

async fn hold(world: &World) -> Option<HoldReason> {
    let lanes = world.central.store.lanes(TENANT).await.unwrap();
    let lane = lanes.into_iter().find(|lane| lane.provider == "mail").unwrap();
    lane.hold.map(|hold| hold.reason)
}

#[tokio::test]
async fn a_test_that_succeeds_ends_a_hold_that_is_probed_and_what_waited_goes_out() {
    let mut world = World::new().await;
    world.mail.answers(refused());
    let id = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(hold(&world).await, Some(HoldReason::Auth));
    let failed = test(&world).await;
    assert_eq!(
        (failed.resumed, hold(&world).await),
        (None, Some(HoldReason::Auth))
    );
    world.mail.accepts();
    assert_eq!(test(&world).await.resumed, Some(HoldReason::Auth));
    assert_eq!(hold(&world).await, None);
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Delivered);
    let filter = AuditFilter {
        kind: Some(AuditKind::ProviderTested),
        ..AuditFilter::default()
    };
    let log = world
        .central
        .store
        .audit(
            TENANT,
            &filter,
            Page {
                limit: 10,
                after: None,
            },
        )
        .await
        .unwrap();
    let codes: Vec<_> = log.rows.into_iter().map(|row| row.code).collect();
    assert_eq!(codes, [None, Some("AUTH_FAILED".into())], "newest first");
}

#[tokio::test]
async fn a_hold_by_hand_stays_whatever_a_test_says() {
    let world = World::new().await;
    let (providers, mail) = (&world.central.providers, ProviderId::new("mail"));
    providers.hold(TENANT, &mail, None, &somebody()).await.unwrap();
    assert_eq!(test(&world).await.resumed, None);
    assert_eq!(hold(&world).await, Some(HoldReason::Operator));
}

#[tokio::test]
async fn a_pause_that_the_far_end_asked_for_holds_for_tests_and_one_asked_of_a_test_for_messages() {
    let mut world = World::new().await;
    let busy = Failure::transient(Scope::Lane, "RATE_LIMITED", "429").after(Some(secs(60)));
    world.mail.answers(Outcome::Failed(busy));
    let told = test(&world).await;
    assert!(
        matches!(&told.outcome, Outcome::Failed(failure) if failure.detail == "429"),
        "{told:?}"
    );
    world.mail.accepts();
    let sent = world.mail.received().len();
    let id = world.send(a_notification()).await;
    world.sweep().await;
    let again = test(&world).await;
    let Outcome::Failed(failure) = &again.outcome else {
        panic!("{again:?}")
    };
    assert_eq!(failure.code, "RATE_LIMITED");
    assert!(failure.detail.contains("nothing was sent"), "{failure:?}");
    assert_eq!(
        world.mail.received().len(),
        sent,
        "neither the message nor the test"
    );
    world.advance(secs(61));
    assert!(matches!(test(&world).await.outcome, Outcome::Delivered(_)));
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Delivered);
}

#[tokio::test]
async fn in_a_lane_with_a_rate_a_test_takes_a_turn_from_the_messages() {
    let mut world = World::new().await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.limits = Some(domain::Limits {
                concurrency: 4,
                per_second: Some(20.0),
            });
        })
        .await;
    assert!(matches!(test(&world).await.outcome, Outcome::Delivered(_)));
    let id = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(
        world.status(id).await,
        domain::Status::Pending,
        "its turn comes after the test's"
    );
    world.advance(secs(1));
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Delivered);
}
