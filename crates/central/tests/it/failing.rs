//! What becomes of a notification whose attempts fail.

use crate::world::{TENANT, World, secs, somebody};
use central::changes::News;
use domain::{Channel, Failure, RetryPolicy, Scope, Status};
use store::operator::Acted;
use testkit::{Reply, a_notification};

#[tokio::test]
async fn a_transient_failure_is_tried_again_a_minute_later_and_not_before() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "try later").into());
    let id = world.send(a_notification()).await;
    assert_eq!(world.sweep().await.retried, 1);
    let waiting = world.get(id).await;
    assert_eq!(waiting.status, Status::Retrying);
    assert_eq!(waiting.retry_count, 1);
    assert_eq!(waiting.last_code.as_deref(), Some("SMTP_451"));
    assert_eq!(waiting.last_error.as_deref(), Some("try later"));
    assert_eq!(waiting.next_attempt_at, Some(waiting.created_at + secs(60)));

    world.mail.accepts();
    world.advance(secs(59));
    assert_eq!(world.sweep().await.rows(), 0);
    world.advance(secs(1));
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.status(id).await, Status::Delivered);
    assert_eq!(world.mail.received().len(), 2);
    world.assert_nothing_misplaced().await;
}

#[tokio::test]
async fn ten_transient_failures_of_an_email_park_it_and_a_requeue_starts_over() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "try later").into());
    let id = world.send(a_notification()).await;
    for attempt in 1..=10 {
        assert_eq!(world.sweep().await.rows(), 1, "attempt {attempt}");
        world.advance(secs(60));
    }
    let parked = world.get(id).await;
    assert_eq!(parked.status, Status::Parked);
    assert_eq!(parked.retry_count, 10);
    assert_eq!(
        parked.last_error.as_deref(),
        Some("gave up after 10 attempts: try later")
    );
    assert_eq!(world.sweep().await.rows(), 0);

    world.mail.accepts();
    world.requeue(id).await;
    let again = world.get(id).await;
    assert_eq!(
        (again.status, again.retry_count, again.last_error),
        (Status::Pending, 0, None)
    );
    assert_eq!(world.sweep().await.delivered, 1);
    world.assert_nothing_misplaced().await;
}

#[tokio::test]
async fn a_permanent_failure_parks_at_once_with_its_reason() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Recipient, "SMTP_550_5.1.1", "no such user").into());
    let id = world.send(a_notification()).await;
    assert_eq!(world.sweep().await.parked, 1);
    let parked = world.get(id).await;
    assert_eq!(parked.status, Status::Parked);
    assert_eq!(parked.last_code.as_deref(), Some("SMTP_550_5.1.1"));
    assert_eq!(parked.retry_count, 1);
}

#[tokio::test]
async fn an_answer_without_a_rule_is_tried_once_more_then_parked() {
    let mut world = World::new().await;
    world.mail.answers(Failure::unknown("HTTP_299", "odd").into());
    let id = world.send(a_notification()).await;
    assert_eq!(world.sweep().await.retried, 1);
    world.advance(secs(60));
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.status(id).await, Status::Parked);
}

#[tokio::test]
async fn only_a_parked_notification_is_retried_or_discarded_and_only_a_waiting_one_cancelled() {
    let mut world = World::new().await;
    let operator = world.central.operator.clone();
    let who = somebody();
    let id = world.send(a_notification()).await;
    assert_eq!(
        operator.requeue(TENANT, &[id], &who).await.unwrap(),
        [Acted::WrongState(Status::Pending)]
    );
    assert_eq!(
        operator.discard(TENANT, &[id], &who).await.unwrap(),
        [Acted::WrongState(Status::Pending)]
    );
    assert_eq!(operator.cancel(TENANT, id, &who).await.unwrap(), Acted::Done);
    assert_eq!(world.status(id).await, Status::Discarded);
    assert_eq!(
        operator.cancel(TENANT, id, &who).await.unwrap(),
        Acted::WrongState(Status::Discarded)
    );
    assert_eq!(world.sweep().await.rows(), 0);
    assert!(world.mail.received().is_empty());

    world
        .mail
        .answers(Failure::permanent(Scope::Message, "HTTP_400", "bad").into());
    let parked = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(
        operator.cancel(TENANT, parked, &who).await.unwrap(),
        Acted::WrongState(Status::Parked)
    );
    assert_eq!(
        operator.discard(TENANT, &[parked], &who).await.unwrap(),
        [Acted::Done]
    );
    assert_eq!(world.status(parked).await, Status::Discarded);
    world.assert_nothing_misplaced().await;
}

#[tokio::test]
async fn what_has_expired_is_parked_and_never_sent() {
    let mut world = World::new().await;
    let soon = world.central.clock.now() + secs(30);
    let id = world.send(a_notification().expires_at(soon)).await;
    world.advance(secs(31));
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("EXPIRED"));
    assert!(world.mail.received().is_empty());
}

#[tokio::test]
async fn what_is_for_later_is_not_sent_before_its_time() {
    let mut world = World::new().await;
    let later = world.central.clock.now() + secs(3600);
    let id = world.send(a_notification().send_at(later)).await;
    assert_eq!(world.sweep().await.rows(), 0);
    assert_eq!(world.status(id).await, Status::Pending);
    world.advance(secs(3600));
    assert_eq!(world.sweep().await.delivered, 1);
}

#[tokio::test]
async fn a_newer_notification_supersedes_one_that_still_waits() {
    let mut world = World::new().await;
    let later = world.central.clock.now() + secs(60);
    let old = world
        .send(a_notification().superseding("tank-4").send_at(later))
        .await;
    let mut changes = world.central.changes.subscribe();
    let new = world
        .send(a_notification().superseding("tank-4").subject("Tank 4 is empty"))
        .await;
    assert_eq!(world.status(old).await, Status::Discarded);
    let mut told = vec![];
    while let Ok(News::Change(change)) = changes.try_recv() {
        told.push((change.id, change.status, change.code));
    }
    let replaced = (old, Status::Discarded, Some("SUPERSEDED".to_owned()));
    assert_eq!(told, [(new, Status::Pending, None), replaced]);
    world.advance(secs(60));
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.status(new).await, Status::Delivered);
    let rows = world.attempts(old).await;
    assert!(
        rows.iter()
            .any(|row| row.actor == "system" && row.code.as_deref() == Some("SUPERSEDED"))
    );
}

#[tokio::test]
async fn a_far_end_that_asks_for_patience_is_given_it() {
    let mut world = World::new().await;
    let busy = Failure::transient(Scope::Recipient, "HTTP_429", "slow down").after(Some(secs(900)));
    world.hook.answers(busy.into());
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    let waiting = world.get(id).await;
    let next = waiting.next_attempt_at.unwrap();
    assert!(next >= waiting.created_at + secs(900), "{next}");
    assert!(
        next <= waiting.created_at + secs(990),
        "jitter adds at most a tenth: {next}"
    );
}

#[tokio::test]
async fn a_provider_has_its_own_retry_policy() {
    let mut world = World::new().await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.retry = Some(RetryPolicy {
                max_attempts: 2,
                ..RetryPolicy::fixed(secs(5))
            });
        })
        .await;
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "later").into());
    let id = world.send(a_notification()).await;
    world.sweep().await;
    world.advance(secs(5));
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.retry_count, 2);
}

#[tokio::test]
async fn a_delivered_notification_is_resent_as_a_new_one_with_the_same_content() {
    let mut world = World::new().await;
    world.mail.script(|_, _| Reply::accepted());
    let id = world.send(a_notification().subject("once more")).await;
    world.sweep().await;
    let resent = world
        .central
        .operator
        .resend(TENANT, id, central::operator::Repeat::default(), &somebody())
        .await
        .unwrap();
    let central::operator::Resent::As(copy) = resent else {
        panic!("{resent:?}")
    };
    assert_ne!(copy, id);
    world.sweep().await;
    let copy = world.get(copy).await;
    assert_eq!(copy.status, Status::Delivered);
    assert_eq!(copy.submission.content.subject, "once more");
    assert_eq!(copy.submission.resend_of, Some(id));
    assert!(copy.submission.idempotency_key.unwrap().starts_with("manual:"));
    assert_eq!(world.mail.received().len(), 2);
}

#[tokio::test]
async fn a_retry_interval_beyond_all_measure_in_the_database_stops_nobody() {
    let mut world = World::new().await;
    // A row from before there was a bound, or one that somebody wrote by hand.
    let mail = domain::ProviderId::new("mail");
    let mut stored = world.temp.store.provider(TENANT, &mail).await.unwrap().unwrap();
    stored.provider.retry = RetryPolicy {
        interval: secs(18_000_000_000_000_000_000),
        cap: std::time::Duration::MAX,
        ..RetryPolicy::exponential()
    };
    world
        .temp
        .store
        .put_provider(&stored.provider, Some(stored.version), &somebody())
        .await
        .unwrap();
    world.central.directory.refresh().await.unwrap();
    let failure = Failure::transient(Scope::Message, "SMTP_451", "try later");
    world.mail.answers(failure.into());
    let bad = world.send(a_notification()).await;
    let good = world.send(a_notification().by(Channel::Webhook)).await;
    let tally = world.sweep().await;
    assert_eq!((tally.retried, tally.delivered), (1, 1));
    assert_eq!(world.status(bad).await, Status::Retrying);
    assert_eq!(world.status(good).await, Status::Delivered);
    assert_eq!(world.central.loops.ended(), None);
}
