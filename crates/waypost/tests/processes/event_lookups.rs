//! Values that an application's own database adds to an event, while that database cannot be reached: nobody's fault, so
//! nobody's failure. The application is the example's, with the lookups of its `waypost.toml`.

use crate::event_acceptance::{TENANT, World};
use domain::{Channel, EventStatus, EventType, event::Dedupe};
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
    an_hour_without_the_source_fails_no_event(on, source, &url, async || {}).await;
}

#[tokio::test]
async fn an_hour_without_a_sqlite_file_fails_no_event() {
    in_a_file(Database::Sqlite).await;
}

#[cfg(feature = "postgres-tests")]
mod on_postgres {
    use super::*;
    use crate::postgres;

    #[tokio::test]
    async fn an_hour_without_a_sqlite_file_fails_no_event() {
        in_a_file(Database::Postgres).await;
    }

    #[tokio::test]
    async fn an_hour_without_the_applications_postgres_fails_no_event() {
        let url = postgres::fresh_url();
        let source = source(&url, "waypost.postgres.toml");
        let made = async || postgres::create(&url).await;
        an_hour_without_the_source_fails_no_event(Database::Sqlite, source, &url, made).await;
    }
}
