//! Trying providers out: a test keeps to the lane's pause and rate, and a success ends what it disproves.

use crate::world::{TENANT, World, secs, somebody};
use central::{
    Settings,
    providers::{TESTS_OF_TENANT, TestDraft, TestError, TestReport},
};
use domain::{AuditKind, Channel, Clock, Failure, HoldReason, Outcome, ProviderId, Scope, Timestamp};
use store::{
    outbox::NewNotification,
    query::{AuditFilter, Page},
};
use testkit::{Reply, a_notification, until};
use tokio_util::sync::CancellationToken;

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

async fn lane(world: &World) -> store::outbox::Lane {
    let lanes = world.central.store.lanes(TENANT).await.unwrap();
    lanes.into_iter().find(|lane| lane.provider == "mail").unwrap()
}

async fn hold(world: &World) -> Option<HoldReason> {
    lane(world).await.hold.map(|hold| hold.reason)
}

async fn paused_until(world: &World) -> Option<Timestamp> {
    lane(world).await.not_before
}

/// What a test is told that went nowhere.
async fn kept_back(world: &World, data: Option<&str>) -> Failure {
    let sent = world.mail.received().len();
    let draft = TestDraft {
        to: Some("ops@example.com".into()),
        data: data.map(str::to_owned),
    };
    let mail = ProviderId::new("mail");
    let told = world
        .central
        .providers
        .test(TENANT, &mail, draft, &somebody())
        .await;
    let Outcome::Failed(failure) = told.unwrap().outcome else {
        panic!("it went out")
    };
    assert!(failure.detail.contains("nothing was sent"), "{failure:?}");
    assert_eq!(world.mail.received().len(), sent);
    failure
}

/// An operator starts tests and does not wait for them: their far end says nothing.
#[tokio::test]
async fn tests_whose_callers_have_left_count_until_they_are_over() {
    let world = World::new().await;
    world
        .mail
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    let providers = &world.central.providers;
    let begin = || {
        let draft = TestDraft {
            to: Some("ops@example.com".into()),
            data: None,
        };
        let (providers, mail, by) = (providers.clone(), ProviderId::new("mail"), somebody());
        tokio::spawn(async move { providers.test(TENANT, &mail, draft, &by).await })
    };
    for n in 1..=TESTS_OF_TENANT {
        let caller = begin();
        world.mail.waiting(n).await;
        caller.abort();
        assert!(caller.await.is_err());
    }
    assert!(matches!(begin().await.unwrap(), Err(TestError::TooMany)));
    world.mail.accepts();
    world.mail.open_gate();
    until("a place to be free", async || begin().await.unwrap().is_ok()).await;
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
async fn a_pause_asked_of_a_test_has_this_node_look_at_once_so_that_what_waits_for_a_place_goes_back() {
    let mut settings = Settings::named("node-1");
    settings.dispatch.interval = secs(86_400);
    let mut world = World::with(settings).await;
    let dispatcher = std::mem::replace(&mut world.dispatcher, world.central.dispatcher());
    let stop = CancellationToken::new();
    let running = tokio::spawn(dispatcher.run(stop.clone()));
    until("the first look", async || {
        let reports = world.central.loops.reports();
        reports.get("dispatch").is_some_and(|dispatch| dispatch.runs > 0)
    })
    .await;
    // Nobody tells of this one: it is found by a look.
    let store = &world.central.store;
    let hook = store.provider(TENANT, &ProviderId::new("hook")).await.unwrap();
    let unheard_of = NewNotification {
        submission: a_notification().by(Channel::Webhook).0,
        lane: hook.unwrap().lane,
    };
    store.ingest(vec![unheard_of]).await.unwrap();
    let busy = Failure::transient(Scope::Lane, "RATE_LIMITED", "429").after(Some(secs(60)));
    world.mail.answers(Outcome::Failed(busy));
    test(&world).await;
    until("a look", async || !world.hook.received().is_empty()).await;
    stop.cancel();
    running.await.unwrap();
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

#[tokio::test]
async fn a_reason_to_hold_that_a_test_meets_pauses_nothing() {
    let mut world = World::new().await;
    let used_up = Failure::transient(Scope::Lane, "QUOTA", "used up until the first")
        .holding(HoldReason::Quota)
        .after(Some(secs(20 * 86_400)));
    world.mail.answers(used_up.into());
    test(&world).await;
    assert_eq!(paused_until(&world).await, None);
    // A message finds out for itself, and what it finds ends with new settings.
    world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(hold(&world).await, Some(HoldReason::Quota));
}

#[tokio::test]
async fn a_pause_asked_of_a_test_is_a_days_at_most_and_ends_with_the_settings_that_it_was_asked_of() {
    let mut world = World::new().await;
    let busy = || Failure::transient(Scope::Lane, "RATE_LIMITED", "429");
    world.mail.answers(busy().into());
    test(&world).await;
    let now = world.temp.clock.now();
    assert_eq!(
        paused_until(&world).await,
        Some(now + secs(60)),
        "mail's own interval"
    );
    world.advance(secs(60));
    world.mail.answers(busy().after(Some(secs(20 * 86_400))).into());
    test(&world).await;
    let now = world.temp.clock.now();
    assert_eq!(paused_until(&world).await, Some(now + secs(86_400)));
    world.mail.accepts();
    let id = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Pending);
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "another".into());
        })
        .await;
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Delivered);
}

#[tokio::test]
async fn a_test_keeps_to_the_pauses_of_its_recipient_and_its_template_and_to_the_hours() {
    let world = World::new().await;
    let offer = r#"{"template": {"name": "offer"}}"#;
    let less = Failure::transient(Scope::Recipient, "RATE_LIMITED", "less").after(Some(secs(600)));
    world.mail.answers(less.into());
    test(&world).await;
    assert_eq!(paused_until(&world).await, None, "not the others'");
    world.mail.accepts();
    let failure = kept_back(&world, None).await;
    assert_eq!(
        (failure.scope, &*failure.code),
        (Scope::Recipient, "RATE_LIMITED")
    );
    world.advance(secs(600));
    let bad = Failure::transient(Scope::Template, "TEMPLATE", "paused").after(Some(secs(600)));
    world.mail.answers(bad.into());
    let draft = TestDraft {
        to: Some("other@example.com".into()),
        data: Some(offer.into()),
    };
    let mail = ProviderId::new("mail");
    let providers = &world.central.providers;
    providers.test(TENANT, &mail, draft, &somebody()).await.unwrap();
    world.mail.accepts();
    let failure = kept_back(&world, Some(offer)).await;
    assert_eq!((failure.scope, &*failure.code), (Scope::Template, "TEMPLATE"));
    assert!(matches!(test(&world).await.outcome, Outcome::Delivered(_)));
    world.mail.opens_at(world.temp.clock.now() + secs(3600));
    let failure = kept_back(&world, None).await;
    assert_eq!(failure.code, "OUTSIDE_HOURS");
    world.advance(secs(3600));
    assert!(matches!(test(&world).await.outcome, Outcome::Delivered(_)));
}
