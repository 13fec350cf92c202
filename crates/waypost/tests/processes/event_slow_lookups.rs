//! An application's database that answers after the batch has gone on.

use crate::{
    application::Rentals,
    event_acceptance::{TENANT, World},
};
use domain::{
    Channel, Clock, EventId, EventStatus, EventType, ScheduleStatus, Timestamp,
    event::Dedupe,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use std::{sync::Arc, time::Duration};
use store::{
    events::Schedule,
    sources::{EventSource, SourceSettings, SourceTenants},
};
use testkit::{Database, TempStore};

/// Longer than a look that waits for none.
const SLOW_LOOKUP: &str = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000)
    select checkin as checkinDate from bookings where id = :entity and (select count(*) from n) > 0";

/// A world that waits for no lookup: each is asked in one look and its answer fetched in a later one.
async fn world_of(on: Database, file: &std::path::Path) -> World {
    let settings = SourceSettings {
        name: "rentals".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: false,
        keep: Duration::from_secs(3600),
        lookups: [("booking".to_owned(), SLOW_LOOKUP.to_owned())].into(),
    };
    let source = Arc::new(EventSource::new(settings).unwrap());
    let world = World::waiting(TempStore::open_on(on).await, vec![source], Duration::ZERO).await;
    let mut definition = EventType::new(Dedupe::Entity);
    definition.lookup = Some("booking".into());
    definition.addresses = [(Channel::Email, "guestEmail".to_owned())].into();
    definition.schedule = Some(ScheduleRule {
        from: "checkinDate".into(),
        r#as: DateMeaning::Date,
        offset: None,
        at: None,
        zone: None,
        late: Late::Send,
        grace: Duration::from_secs(600),
    });
    world.event_type("booking.confirmed", &definition).await;
    world
        .event_type("booking.moved", &EventType::new(Dedupe::Event))
        .await;
    world
        .template(TENANT, Channel::Email, "Until {{checkinDate}}", &[])
        .await;
    world
}

/// What was asked is answered when this returns: a file is asked one question at a time.
async fn answered(world: &World, event: EventId) {
    world.central.events.values(TENANT, event).await.unwrap();
}

async fn schedule(world: &World, event: EventId) -> Option<Schedule> {
    world.temp.store.schedule(TENANT, event).await.unwrap()
}

fn at(moment: &str) -> Timestamp {
    moment.parse().unwrap()
}

/// Answers whether there was something to see: on a machine that stood still the answer may have been there at once.
async fn a_reminder_is_not_sent_by_an_answer_from_before_its_booking_moved(on: Database) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rentals.db");
    let rentals = Rentals::open(&file);
    let mut world = Box::pin(world_of(on, &file)).await;
    let event = world.confirm("default", "later").await;
    testkit::until("the reminder's date", async || {
        world.run().await;
        answered(&world, event).await;
        world.temp.clock.advance(Duration::from_secs(1));
        schedule(&world, event).await.is_some()
    })
    .await;
    let due = schedule(&world, event).await.unwrap();
    assert_eq!(due.due_at, at("2026-01-10T00:00:00Z"));
    world.temp.clock.advance(due.due_at.since(world.temp.clock.now()));
    world.run().await;
    if schedule(&world, event).await.unwrap().status != ScheduleStatus::Pending {
        return false;
    }
    answered(&world, event).await;
    // The answer says that it is due today. Now the booking moves, and an event tells of it.
    rentals.change_everything();
    let moved = world.emit("booking.moved", "default", "later").await;
    testkit::until("the event that tells of it", async || {
        world.central.events.sweep().await.unwrap();
        world.event(moved).await.status == EventStatus::Published
    })
    .await;
    testkit::until("the date it was moved to", async || {
        world.temp.clock.advance(Duration::from_secs(5));
        world.run().await;
        answered(&world, event).await;
        let now = schedule(&world, event).await.unwrap();
        assert_eq!(now.status, ScheduleStatus::Pending);
        now.due_at == at("2026-01-20T00:00:00Z")
    })
    .await;
    assert!(world.mail.mails().is_empty());
    true
}

async fn an_answer_from_before_sends_nothing(on: Database) {
    testkit::until("a lookup that is not answered at once", async || {
        Box::pin(a_reminder_is_not_sent_by_an_answer_from_before_its_booking_moved(
            on,
        ))
        .await
    })
    .await;
}

#[tokio::test]
async fn an_answer_from_before_a_booking_moved_sends_no_reminder() {
    an_answer_from_before_sends_nothing(Database::Sqlite).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn an_answer_from_before_a_booking_moved_sends_no_reminder_on_postgres() {
    an_answer_from_before_sends_nothing(Database::Postgres).await;
}
