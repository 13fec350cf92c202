//! Actions over a filter.

use crate::world::{TENANT, World, secs, somebody};
use central::jobs::{Action, BulkAsk, BulkFilter, Counted};
use domain::{Clock, Failure, Scope, Status, TextFilters};
use testkit::a_notification;

fn ask(action: Action, counted: Option<Counted>) -> BulkAsk {
    BulkAsk {
        id: None,
        action,
        filter: BulkFilter::default(),
        counted,
        reason: None,
    }
}

#[tokio::test]
async fn a_bulk_retry_touches_exactly_the_parked_rows_that_match() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Message, "HTTP_400", "bad").into());
    let (mut north, mut south) = (vec![], vec![]);
    for _ in 0..30 {
        north.push(world.send(a_notification().site("north")).await);
        south.push(world.send(a_notification().site("south")).await);
    }
    world.sweep().await;
    let filter = BulkFilter {
        by: TextFilters {
            site: Some("north".into()),
            ..TextFilters::default()
        },
        ..Default::default()
    };
    let job = world
        .central
        .jobs
        .start(
            TENANT,
            BulkAsk {
                filter,
                ..ask(Action::Retry, None)
            },
            &somebody(),
        )
        .await
        .unwrap();
    assert_eq!(job.total, 30);
    world.central.jobs.sweep().await.unwrap();
    let job = world.central.jobs.get(TENANT, job.id).await.unwrap().unwrap();
    assert!(job.progress.finished);
    assert_eq!((job.progress.done, job.progress.skipped), (30, 0));
    world.mail.accepts();
    world.sweep().await;
    assert_eq!(world.status(north[0]).await, Status::Delivered);
    assert_eq!(world.status(south[0]).await, Status::Parked);

    let job = world
        .central
        .jobs
        .start(TENANT, ask(Action::Discard, None), &somebody())
        .await
        .unwrap();
    world.central.jobs.sweep().await.unwrap();
    let job = world.central.jobs.get(TENANT, job.id).await.unwrap().unwrap();
    assert_eq!(job.progress.done, 30);
    assert_eq!(world.status(south[29]).await, Status::Discarded);
    let other = world
        .central
        .store
        .create_tenant("other", &somebody())
        .await
        .unwrap()
        .id;
    assert!(world.central.jobs.get(other, job.id).await.unwrap().is_none());
}

/// A world in which everything that is sent is parked.
async fn refusing() -> World {
    let world = World::new().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Message, "HTTP_400", "bad").into());
    world
}

#[tokio::test]
async fn a_job_acts_on_what_was_counted_and_on_nothing_that_came_or_parked_later() {
    for action in [Action::Discard, Action::Retry] {
        let mut world = refusing().await;
        let (counted_one, again) = (
            world.send(a_notification()).await,
            world.send(a_notification()).await,
        );
        let waiting = world
            .send(a_notification().send_at(world.temp.clock.now() + secs(5)))
            .await;
        world.sweep().await;
        let jobs = world.central.jobs.clone();
        let counted = jobs
            .count(TENANT, Action::Discard, &BulkFilter::default())
            .await
            .unwrap();
        assert_eq!(counted.total, 2);

        // While somebody makes up their mind: one comes in, one that waited is parked, one goes round and parks again.
        world.advance(secs(22));
        let new = world.send(a_notification()).await;
        world.requeue(again).await;
        world.sweep().await;
        for id in [new, waiting, again] {
            assert_eq!(world.status(id).await, Status::Parked);
        }
        let job = jobs
            .start(TENANT, ask(action, Some(counted)), &somebody())
            .await
            .unwrap();
        assert_eq!(job.total, 1, "one of the two is no longer what it was");
        jobs.sweep().await.unwrap();
        let job = jobs.get(TENANT, job.id).await.unwrap().unwrap();
        assert_eq!((job.progress.done, job.progress.finished), (1, true));
        assert_ne!(world.status(counted_one).await, Status::Parked);
        for id in [new, waiting, again] {
            assert_eq!(
                world.status(id).await,
                Status::Parked,
                "it parked after the count"
            );
        }
    }
}

#[tokio::test]
async fn a_job_that_nobody_counted_for_leaves_alone_what_parks_before_its_turn() {
    let mut world = refusing().await;
    let early = world.send(a_notification()).await;
    world.sweep().await;
    let jobs = world.central.jobs.clone();
    jobs.start(TENANT, ask(Action::Discard, None), &somebody())
        .await
        .unwrap();
    world.advance(secs(1));
    let late = world.send(a_notification()).await;
    world.sweep().await;
    jobs.sweep().await.unwrap();
    assert_eq!(world.status(early).await, Status::Discarded);
    assert_eq!(world.status(late).await, Status::Parked);
}

#[tokio::test]
async fn what_is_sent_round_again_after_the_count_is_not_cancelled_with_what_waited() {
    let mut world = refusing().await;
    let parked = world.send(a_notification()).await;
    world.sweep().await;
    let waiting = world
        .send(a_notification().send_at(world.temp.clock.now() + secs(600)))
        .await;
    let jobs = world.central.jobs.clone();
    let job = jobs
        .start(TENANT, ask(Action::Cancel, None), &somebody())
        .await
        .unwrap();
    assert_eq!(job.total, 1);
    world.advance(secs(1));
    world.requeue(parked).await;
    jobs.sweep().await.unwrap();
    assert_eq!(world.status(waiting).await, Status::Discarded);
    assert_eq!(world.status(parked).await, Status::Pending);
}

#[tokio::test]
async fn a_job_never_takes_more_than_was_said() {
    let mut world = refusing().await;
    for _ in 0..3 {
        world.send(a_notification()).await;
    }
    world.sweep().await;
    let now = world.temp.clock.now();
    // As if the commit of one had been under way when they were counted.
    let counted = Counted { total: 2, as_of: now };
    let started = world
        .central
        .jobs
        .start(TENANT, ask(Action::Discard, Some(counted)), &somebody())
        .await;
    assert!(matches!(started, Err(store::Error::Conflict(_))), "{started:?}");
    assert_eq!(world.central.jobs.sweep().await.unwrap().rows, 0);
}

#[tokio::test]
async fn a_bulk_cancel_calls_off_what_waits_and_a_bulk_resend_repeats_what_ended_once() {
    let mut world = refusing().await;
    let parked = world.send(a_notification()).await;
    world.sweep().await;
    let waiting = world
        .send(a_notification().send_at(world.temp.clock.now() + secs(60)))
        .await;
    let jobs = world.central.jobs.clone();
    let reason = Some("the line is down".to_owned());
    let cancel = BulkAsk {
        reason,
        ..ask(Action::Cancel, None)
    };
    let job = jobs.start(TENANT, cancel, &somebody()).await.unwrap();
    assert_eq!(job.total, 1);
    jobs.sweep().await.unwrap();
    assert_eq!(world.status(waiting).await, Status::Discarded);
    assert_eq!(world.status(parked).await, Status::Parked);
    let log = world
        .central
        .store
        .attempts(TENANT, waiting)
        .await
        .unwrap()
        .unwrap();
    let said = log.last().unwrap().detail.clone().unwrap();
    assert_eq!(said, format!("the line is down (job {})", job.id));

    let job = jobs
        .start(TENANT, ask(Action::Resend, None), &somebody())
        .await
        .unwrap();
    assert_eq!(job.total, 1, "parked ones unless another state is named");
    jobs.sweep().await.unwrap();
    let done = jobs.get(TENANT, job.id).await.unwrap().unwrap();
    assert_eq!((done.progress.done, done.progress.finished), (1, true));
    let log = world
        .central
        .store
        .attempts(TENANT, parked)
        .await
        .unwrap()
        .unwrap();
    let repeats = log
        .iter()
        .filter(|row| row.kind == domain::AuditKind::NotifyResend);
    assert_eq!(repeats.count(), 1);
}
