//! Values that an application's own database adds to an event: while they change, and while that database cannot be
//! reached, which is nobody's fault and so nobody's failure.

use crate::{
    application::Rentals,
    event_acceptance::{TENANT, World},
};
use domain::{
    Channel, Clock, EventStatus, EventType, ScheduleStatus, Timestamp,
    event::Dedupe,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};
use store::sources::{EventSource, SourceSettings, SourceTenants};
use testkit::{Database, TempStore};

fn source(url: &str, config: &str) -> Arc<EventSource> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bookings");
    let config = std::fs::read_to_string(example.join(config)).unwrap();
    let config: toml::Table = toml::from_str(&config).unwrap();
    let lookups = config["event_source"][0]["lookups"].as_table().unwrap();
    let query = |(name, text): (&String, &toml::Value)| (name.clone(), text.as_str().unwrap().to_owned());
    let settings = SourceSettings {
        name: "rentals".into(),
        url: url.into(),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: true,
        keep: Duration::from_secs(3600),
        lookups: lookups.iter().map(query).collect::<BTreeMap<_, _>>(),
    };
    Arc::new(EventSource::new(settings).unwrap())
}

/// The source is not there yet; it is after this.
async fn an_hour_without_the_source_fails_no_event(
    on: Database,
    source: Arc<EventSource>,
    url: &str,
    made: impl AsyncFnOnce(),
) {
    let mut world = World::over(TempStore::open_on(on).await, vec![source]).await;
    let mut definition = EventType::new(Dedupe::Entity);
    definition.lookup = Some("booking".into());
    definition.required = vec!["guestName".into()];
    definition.addresses = [(Channel::Email, "guestEmail".to_owned())].into();
    world.event_type("booking.confirmed", &definition).await;
    world
        .template(TENANT, Channel::Email, "Dear {{guestName}}", &[])
        .await;
    let event = world.confirm("default", "12345").await;
    for _ in 0..130 {
        world.run().await;
        let waiting = world.event(event).await;
        assert_eq!(
            (waiting.status, waiting.attempts),
            (EventStatus::Pending, 0),
            "{waiting:?}"
        );
        assert!(waiting.last_error.is_some_and(|why| why.contains("rentals")));
        world.temp.clock.advance(Duration::from_secs(30));
    }
    made().await;
    bookings::App::open(url).await.unwrap().setup().await.unwrap();
    world.temp.clock.advance(Duration::from_secs(60));
    world.run().await;
    assert_eq!(world.event(event).await.status, EventStatus::Published);
    let mails = world.mail.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(
        mails[0].recipients,
        ["asha@example.com"],
        "the lookup's address counts"
    );
    assert_eq!(mails[0].plain_text().trim(), "Dear Asha Rao");
}

async fn in_a_file(on: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("bookings.db").display());
    let source = source(&url, "waypost.toml");
    Box::pin(an_hour_without_the_source_fails_no_event(
        on,
        source,
        &url,
        async || {},
    ))
    .await;
}

/// Bookings in an application's file, which it changes while a reminder of each waits.
async fn a_reminder_follows_its_booking_both_ways_and_ends_with_it(on: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rentals.db");
    let rentals = Rentals::open(&file);
    let settings = SourceSettings {
        name: "rentals".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: false,
        keep: Duration::from_secs(3600),
        lookups: [("booking".to_owned(), Rentals::LOOKUP.to_owned())].into(),
    };
    let source = Arc::new(EventSource::new(settings).unwrap());
    let mut world = World::over(TempStore::open_on(on).await, vec![source]).await;
    let mut definition = EventType::new(Dedupe::Entity);
    definition.lookup = Some("booking".into());
    definition.addresses = [(Channel::Email, "guestEmail".to_owned())].into();
    // Two in the morning of the day itself in UTC.
    definition.schedule = Some(ScheduleRule {
        from: "checkinDate".into(),
        r#as: DateMeaning::Date,
        offset: Some("-1d".into()),
        at: Some("18:00".into()),
        zone: Some("America/Los_Angeles".into()),
        late: Late::Send,
        grace: Duration::from_secs(600),
    });
    world.event_type("booking.confirmed", &definition).await;
    world
        .template(TENANT, Channel::Email, "Until {{checkinDate}}", &[])
        .await;
    let mut ids = BTreeMap::new();
    for booking in ["later", "sooner", "cancelled", "gone"] {
        ids.insert(booking, world.confirm("default", booking).await);
    }
    world.run().await;
    for id in ids.values() {
        assert_eq!(world.schedule(*id).await.0, ScheduleStatus::Pending);
    }
    rentals.change_everything();
    for (moment, told) in [
        ("2026-01-05T01:59:59Z", 0),
        ("2026-01-05T02:00:01Z", 1),
        ("2026-01-10T02:00:01Z", 1),
        ("2026-01-20T01:59:59Z", 1),
        ("2026-01-20T02:00:01Z", 2),
    ] {
        let clock = &world.temp.clock;
        let moment: Timestamp = moment.parse().unwrap();
        clock.advance(moment.since(clock.now()));
        world.run().await;
        assert_eq!(world.mail.mails().len(), told, "{moment}");
    }
    for (booking, status) in [
        ("later", ScheduleStatus::Completed),
        ("sooner", ScheduleStatus::Completed),
        ("cancelled", ScheduleStatus::Cancelled),
        ("gone", ScheduleStatus::Cancelled),
    ] {
        assert_eq!(world.schedule(ids[booking]).await.0, status, "{booking}");
    }
}

#[tokio::test]
async fn a_reminder_follows_a_booking_that_moves_and_ends_with_it() {
    Box::pin(a_reminder_follows_its_booking_both_ways_and_ends_with_it(
        Database::Sqlite,
    ))
    .await;
}

/// A server that takes the connection and never says a word.
#[tokio::test]
async fn a_lookup_that_hangs_keeps_no_other_event_waiting() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "postgres://shop@{}/shop?sslmode=disable&connect_timeout=600",
        silent.local_addr().unwrap()
    );
    let sources = vec![source(&url, "waypost.postgres.toml")];
    let temp = TempStore::open_on(Database::Sqlite).await;
    let mut world = World::waiting(temp, sources, Duration::from_millis(1)).await;
    let plain = EventType::new(Dedupe::Event);
    world.event_type("booking.seen", &plain).await;
    let mut definition = EventType::new(Dedupe::Entity);
    definition.lookup = Some("booking".into());
    world.event_type("booking.confirmed", &definition).await;
    let mut hanging = vec![];
    for booking in ["1", "2", "3"] {
        hanging.push(world.confirm("default", booking).await);
    }
    let other = world.emit("booking.seen", "default", "4").await;
    world.run().await;
    assert_eq!(world.event(other).await.status, EventStatus::Published);
    for id in hanging {
        let waiting = world.event(id).await;
        assert_eq!((waiting.status, waiting.attempts), (EventStatus::Pending, 0));
        // Not that it could not be reached, which is known only when its time is up.
        let why = "event source rentals has not answered yet";
        assert_eq!(waiting.last_error.as_deref(), Some(why));
    }
}

#[tokio::test]
async fn an_hour_without_a_sqlite_file_fails_no_event() {
    Box::pin(in_a_file(Database::Sqlite)).await;
}

#[cfg(feature = "postgres-tests")]
mod on_postgres {
    use super::*;
    use crate::postgres;

    #[tokio::test]
    async fn an_hour_without_a_sqlite_file_fails_no_event() {
        Box::pin(in_a_file(Database::Postgres)).await;
    }

    #[tokio::test]
    async fn a_reminder_follows_a_booking_that_moves_and_ends_with_it() {
        Box::pin(a_reminder_follows_its_booking_both_ways_and_ends_with_it(
            Database::Postgres,
        ))
        .await;
    }

    #[tokio::test]
    async fn an_hour_without_the_applications_postgres_fails_no_event() {
        let url = postgres::fresh_url();
        let patient = format!("{url}?connect_timeout=60");
        let source = source(&patient, "waypost.postgres.toml");
        let made = async || postgres::create(&url).await;
        Box::pin(an_hour_without_the_source_fails_no_event(
            Database::Sqlite,
            source,
            &url,
            made,
        ))
        .await;
    }
}
