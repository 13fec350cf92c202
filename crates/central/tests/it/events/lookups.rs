//! What a query on the application's own database adds to events.

use super::{CONFIRMED, EventWorld, secs, to_the_guest};
use crate::world::TENANT;
use domain::{Channel, EventStatus, EventType};
use std::sync::Arc;
use store::sources::{EventSource, SourceSettings, SourceTenants};
use testkit::{Database, TempStore};

/// An application that knows the guest of booking 12345 and of no other.
async fn with_guests(on: Database) -> EventWorld {
    let temp = TempStore::open_on(on).await;
    let file = temp.folder.path().join("rentals.db");
    std::fs::write(&file, "").unwrap();
    let query = "select 'Asha' as guest_name where :entity = '12345'";
    let source = EventSource::new(SourceSettings {
        name: "rentals".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: false,
        keep: secs(3600),
        lookups: [("guest".to_owned(), query.to_owned())].into(),
    });
    let source = Arc::new(source.unwrap());
    let world = EventWorld::with(temp, |settings| {
        settings.events.sources = vec![source];
        // A sweep is asked for once and has to come to its end, however busy the machine is.
        settings.events.lookup_wait = secs(60);
    });
    let world = world.await;
    let definition = EventType {
        lookup: Some("guest".into()),
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.confirmed", &definition).await;
    world
}

pub async fn an_event_whose_first_lookup_finds_no_row_is_failed_as_missing_data(on: Database) {
    let mut world = with_guests(on).await;
    world.template(TENANT, Channel::Email, "Dear {{guestName}}").await;
    let known = world.emit("default", "12345", CONFIRMED).await;
    let unknown = world.emit("default", "54321", CONFIRMED).await;
    world.run().await;
    assert_eq!(world.event_status(known).await.0, EventStatus::Published);
    assert_eq!(world.mail.received()[0].content.body, "Dear Asha");
    assert_eq!(
        world.event_status(unknown).await,
        (
            EventStatus::Failed,
            "Missing data: the lookup found no row".into()
        )
    );
    assert_eq!(world.mail.received().len(), 1);
}

pub async fn a_save_warns_of_names_that_neither_the_newest_event_nor_its_lookup_has(on: Database) {
    let world = with_guests(on).await;
    let body = "{{bookingId}}, {{guestName}}, {{guestNam}}";
    world.emit("default", "12345", CONFIRMED).await;
    let saved = world.save(TENANT, Channel::Email, body).await;
    let expected = "{{guestNam}} is not known; is {{guest_name}} meant?";
    assert_eq!(saved.warnings, [expected]);
    // Of this one the lookup says nothing, so nobody can say what is unknown; and that is what is said.
    world.advance(secs(1));
    world.emit("default", "54321", CONFIRMED).await;
    let saved = world.save(TENANT, Channel::Sms, body).await;
    let [warning] = saved.warnings.as_slice() else {
        panic!("{:?}", saved.warnings);
    };
    assert!(
        warning.contains("nobody could check {{bookingId}}, {{guestNam}}, {{guestName}}"),
        "{warning}"
    );
}
