//! Replaying many at once, as a job.

use super::{CONFIRMED, EventWorld, secs, to_the_guest};
use crate::world::{TENANT, somebody};
use central::{
    events::bulk::{Across, ReplayBulk, ReplayFilter, ReplayStatus, Replays},
    jobs::{Counted, ReplayAsk},
};
use domain::{Actor, AuditKind, Channel, EventStatus, Failure, ScheduleStatus, Scope};
use store::{
    jobs::Job,
    query::{AuditFilter, Page},
};
use testkit::{Database, eventually};

fn failed(replays: Replays) -> ReplayBulk {
    ReplayBulk::new(replays, ReplayFilter::default())
}

async fn counted(world: &EventWorld, bulk: &ReplayBulk) -> Counted {
    let found = world.central.jobs.count_replay(TENANT, bulk).await.unwrap();
    assert!(!found.at_least);
    Counted {
        total: found.total,
        as_of: found.as_of,
    }
}

async fn start(world: &EventWorld, bulk: ReplayBulk, counted: Option<Counted>) -> store::Result<Job> {
    let ask = ReplayAsk {
        bulk,
        counted,
        reason: Some("mended".into()),
    };
    world
        .central
        .jobs
        .start_replay(TENANT, ask, &Actor::new("user:anna"))
        .await
}

async fn finished(world: &EventWorld, job: &Job) -> Job {
    let jobs = &world.central.jobs;
    jobs.sweep().await.unwrap();
    eventually("the job to be finished", async || {
        let job = jobs.get(TENANT, job.id).await.unwrap().unwrap();
        job.progress.finished.then_some(job)
    })
    .await
}

pub async fn a_replay_of_many_events_is_about_those_that_were_counted(on: Database) {
    let mut world = EventWorld::new(on).await;
    let other = world
        .central
        .store
        .create_tenant("other", &somebody())
        .await
        .unwrap();
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut ids = vec![];
    for n in 0..120 {
        let entity = n.to_string();
        ids.push(world.emit_as("default", "trip.booked", &entity, CONFIRMED).await);
    }
    world.emit_as("other", "trip.booked", "1", CONFIRMED).await;
    world.emit_as("nobody", "trip.booked", "1", CONFIRMED).await;
    world.run().await;
    let bulk = failed(Replays::Events);
    let told = counted(&world, &bulk).await;
    assert_eq!(told.total, 120);
    world.advance(secs(1));
    let later = world.emit_as("default", "trip.booked", "later", CONFIRMED).await;
    world.run().await;
    assert_eq!(counted(&world, &bulk).await.total, 121);
    world.event_type(TENANT, "trip.booked", &to_the_guest()).await;

    let too_few = Counted { total: 119, ..told };
    let refused = start(&world, bulk.clone(), Some(too_few)).await;
    assert!(matches!(refused, Err(store::Error::Conflict(_))), "{refused:?}");
    let job = start(&world, bulk, Some(told)).await.unwrap();
    let job = finished(&world, &job).await;
    assert_eq!(
        (job.total, job.progress.done, job.progress.skipped),
        (120, 120, 0)
    );
    assert_eq!((job.action.as_str(), job.actor.as_str()), ("replay", "user:anna"));
    world.run().await;
    assert_eq!(world.event_status(ids[0]).await.0, EventStatus::Published);
    assert_eq!(world.event_status(ids[119]).await.0, EventStatus::Published);
    assert_eq!(world.event_status(later).await.0, EventStatus::Deferred);
    let audit = AuditFilter {
        kind: Some(AuditKind::EventReplayed),
        actor: Some("user:anna".into()),
        ..AuditFilter::default()
    };
    let page = Page {
        limit: 500,
        after: None,
    };
    let audited = world.central.store.audit(TENANT, &audit, page).await.unwrap();
    assert_eq!(audited.rows.len(), 120, "each of them is in the audit log");

    // Who runs the installation sees what no tenant can, and may choose one tenant.
    let across = |across| ReplayBulk {
        across: Some(across),
        ..failed(Replays::Events)
    };
    assert_eq!(
        counted(&world, &across(Across::Tenant(other.id.0))).await.total,
        1
    );
    assert_eq!(counted(&world, &across(Across::All)).await.total, 3);
    let unknown = ReplayBulk {
        filter: ReplayFilter {
            status: Some(ReplayStatus::Failed),
            ..ReplayFilter::default()
        },
        ..across(Across::All)
    };
    let job = start(&world, unknown, None).await.unwrap();
    assert_eq!(finished(&world, &job).await.progress.done, 1, "the one of nobody");
}

pub async fn a_replay_of_many_schedules_sends_round_what_had_failed_when_it_was_counted(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let delivered = world.emit("default", "0", CONFIRMED).await;
    world.run().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Message, "SMTP_550", "no").into());
    let mut parked = vec![];
    for n in 1..=60 {
        parked.push(world.emit("default", &n.to_string(), CONFIRMED).await);
    }
    let nobody = world.emit("default", "61", "{}").await;
    world.run().await;
    assert_eq!(
        world.schedule_status(nobody).await,
        (ScheduleStatus::Failed, "No recipient".into())
    );
    let told = counted(&world, &failed(Replays::Schedules)).await;
    assert_eq!(told.total, 61);
    world.advance(secs(1));
    let later = world.emit("default", "later", CONFIRMED).await;
    world.run().await;
    let of_one = ReplayFilter {
        entity_type: Some("booking".into()),
        entity_id: Some("later".into()),
        ..ReplayFilter::default()
    };
    let of_one = ReplayBulk::new(Replays::Schedules, of_one);
    assert_eq!(counted(&world, &of_one).await.total, 1);

    let job = start(&world, failed(Replays::Schedules), Some(told))
        .await
        .unwrap();
    let job = finished(&world, &job).await;
    assert_eq!((job.progress.done, job.progress.skipped), (61, 0));
    world.mail.accepts();
    world.run().await;
    for id in [delivered, parked[0], parked[59]] {
        assert_eq!(world.schedule_status(id).await.0, ScheduleStatus::Completed);
    }
    assert_eq!(world.schedule_status(later).await.0, ScheduleStatus::Failed);
    let again = world.schedule_status(nobody).await;
    assert_eq!(
        again,
        (ScheduleStatus::Failed, "No recipient".into()),
        "it was tried anew"
    );
    let sent = world.mail.received().len();
    world.run().await;
    assert_eq!(
        world.mail.received().len(),
        sent,
        "what was delivered stays delivered"
    );
}

pub async fn a_replay_that_was_stopped_goes_no_further(on: Database) {
    let mut world = EventWorld::new(on).await;
    let event = world.emit_as("default", "trip.booked", "1", CONFIRMED).await;
    world.run().await;
    let job = start(&world, failed(Replays::Events), None).await.unwrap();
    let stopped = world.central.jobs.stop(TENANT, job.id, &somebody()).await;
    assert!(stopped.unwrap().unwrap().1);
    let job = finished(&world, &job).await;
    assert_eq!((job.total, job.progress.done), (1, 0));
    assert_eq!(world.event_status(event).await.0, EventStatus::Deferred);
}
