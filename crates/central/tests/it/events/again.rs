//! Trying again, replaying and resending: how often, what then, and what no longer.

use super::{EventWorld, new_event, secs, to_the_guest};
use crate::world::{TENANT, somebody};
use central::events::{ReplayRequest, Resend, ResendError};
use domain::{Channel, Clock, EventId, EventStatus, EventType, ScheduleStatus};
use std::{sync::Arc, time::Duration};
use store::{
    query::Page,
    sources::{EventSource, SourceSettings, SourceTenants},
};
use testkit::{Database, TempStore};

const PAYLOAD: &str = r#"{"guestEmail":"g@example.com"}"#;
/// The pauses between six tries, in minutes.
const PAUSES: [u64; 5] = [1, 2, 4, 8, 16];

/// A world with lookups that need no table: of two rows, and of an entity that was called off.
async fn with_lookups(on: Database) -> (EventWorld, TempStore) {
    // Its folder is the application's.
    let application = TempStore::open();
    let file = application.folder.path().join("shop.db");
    std::fs::write(&file, "").unwrap();
    let lookups = [
        ("two", "select 1 as a union all select 2 as a"),
        ("cancelled", "select true as cancelled"),
    ];
    let settings = SourceSettings {
        name: "shop".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: false,
        keep: Duration::from_secs(3600),
        lookups: lookups
            .map(|(name, query)| (name.to_owned(), query.to_owned()))
            .into(),
    };
    let source = Arc::new(EventSource::new(settings).unwrap());
    (EventWorld::with_sources(on, vec![source]).await, application)
}

fn looking_up(lookup: &str) -> EventType {
    EventType {
        lookup: Some(lookup.into()),
        ..to_the_guest()
    }
}

fn replay(schedule: EventId, new_templates: bool) -> ReplayRequest {
    ReplayRequest {
        tenant: TENANT,
        schedule,
        new_templates,
        actor: somebody(),
    }
}

pub async fn an_event_and_a_schedule_are_tried_six_times_and_then_failed(on: Database) {
    let (mut world, _application) = with_lookups(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut later = new_event("default", "booking.confirmed", "later", PAYLOAD);
    later.due_at = Some(world.temp.clock.now() + secs(60));
    let schedule = later.id;
    world.temp.store.emit(vec![later]).await.unwrap();
    world.run().await;
    world
        .event_type(TENANT, "booking.confirmed", &looking_up("two"))
        .await;
    world.advance(secs(60));
    let event = world.emit("default", "now", PAYLOAD).await;
    for (tries, pause) in (1..).zip(PAUSES) {
        world.run().await;
        let waiting = world.event(event).await;
        assert_eq!((waiting.status, waiting.attempts), (EventStatus::Pending, tries));
        let view = world.schedule(schedule).await;
        assert_eq!(
            (view.status, view.schedule.attempts),
            (ScheduleStatus::Pending, tries)
        );
        world.advance(secs(pause * 60) - Duration::from_millis(1));
        world.run().await;
        assert_eq!(world.event(event).await.attempts, tries, "not before its time");
        world.advance(Duration::from_millis(1));
    }
    world.run().await;
    let (status, why) = world.event_status(event).await;
    assert_eq!(status, EventStatus::Failed);
    assert!(why.contains("more than one row"), "{why}");
    assert_eq!(world.event(event).await.attempts, 6);
    let (status, why) = world.schedule_status(schedule).await;
    assert_eq!(status, ScheduleStatus::Failed);
    assert!(why.contains("more than one row"), "{why}");
    assert!(world.mail.received().is_empty());
}

pub async fn a_replay_makes_nothing_for_an_entity_that_was_called_off(on: Database) {
    let (mut world, _application) = with_lookups(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let event = world.emit("default", "1", PAYLOAD).await;
    world.run().await;
    let mut called_off = looking_up("cancelled");
    called_off.addresses.insert(Channel::Sms, "mobile".into());
    world.event_type(TENANT, "booking.confirmed", &called_off).await;
    let refused = world.central.events.replay_schedule(&replay(event, true)).await;
    let Err(ResendError::Conflict(why)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(why, "the entity was cancelled");
    let mut lacking = to_the_guest();
    lacking.required = vec!["guestName".into()];
    world.event_type(TENANT, "booking.confirmed", &lacking).await;
    let refused = world.central.events.replay_schedule(&replay(event, true)).await;
    let Err(ResendError::Conflict(why)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(why, "Missing data: guestName");
    assert!(world.sms.received().is_empty());
}

pub async fn values_that_are_required_must_be_there_when_it_is_due(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut later = new_event("default", "booking.confirmed", "1", PAYLOAD);
    later.due_at = Some(world.temp.clock.now() + secs(60));
    let event = later.id;
    world.temp.store.emit(vec![later]).await.unwrap();
    world.run().await;
    let mut lacking = to_the_guest();
    lacking.required = vec!["guestName".into()];
    world.event_type(TENANT, "booking.confirmed", &lacking).await;
    world.advance(secs(60));
    world.run().await;
    assert_eq!(
        world.schedule_status(event).await,
        (ScheduleStatus::Failed, "Missing data: guestName".into())
    );
    assert!(world.mail.received().is_empty());
}

pub async fn a_template_newer_than_the_event_is_sent_by_a_replay_only_on_request(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let payload = r#"{"guestEmail":"g@example.com","guestPhone":"+919876543210"}"#;
    let event = world.emit("default", "1", payload).await;
    world.run().await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    for (new_templates, created) in [(false, 0), (true, 1), (true, 0)] {
        let ask = replay(event, new_templates);
        let done = world.central.events.replay_schedule(&ask).await.unwrap();
        assert_eq!(done.created, created, "{new_templates}");
        world.run().await;
    }
    assert_eq!((world.mail.received().len(), world.sms.received().len()), (1, 1));
    assert_eq!(world.schedule(event).await.messages.len(), 2);
}

pub async fn a_replay_makes_nothing_that_has_expired(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let mut expiring = to_the_guest();
    expiring.expires_after = Some(secs(3600));
    world.event_type(TENANT, "booking.confirmed", &expiring).await;
    let payload = r#"{"guestEmail":"g@example.com","mobile":"+919876543210"}"#;
    let event = world.emit("default", "1", payload).await;
    world.run().await;
    expiring.addresses.insert(Channel::Sms, "mobile".into());
    world.event_type(TENANT, "booking.confirmed", &expiring).await;
    world.advance(secs(3600));
    for new_templates in [false, true] {
        let ask = replay(event, new_templates);
        let refused = world.central.events.replay_schedule(&ask).await;
        let Err(ResendError::Conflict(why)) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("expired"), "{why}");
    }
    world.run().await;
    assert!(world.sms.received().is_empty());
}

pub async fn a_resend_finds_its_event_however_many_others_came_since(on: Database) {
    let mut world = EventWorld::new(on).await;
    let template = world.template(TENANT, Channel::Email, "Hello").await;
    world.event_type(TENANT, "booking.moved", &to_the_guest()).await;
    let event = world.emit("default", "1", PAYLOAD).await;
    for _ in 0..120 {
        world.emit_as("default", "booking.moved", "1", PAYLOAD).await;
    }
    world.run().await;
    let ask = Resend {
        tenant: TENANT,
        entity_type: "booking".into(),
        entity_id: "1".into(),
        channel: Channel::Email,
        template: Some(template.id),
        request: "r-1".into(),
        actor: somebody(),
    };
    let resent = world.central.events.resend(&ask).await.unwrap();
    assert_eq!((resent.event, resent.submitted.len()), (event, 1));
}

pub async fn everything_that_was_skipped_is_on_some_page_of_the_log(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let mut each = to_the_guest();
    each.dedupe = domain::event::Dedupe::Event;
    world.event_type(TENANT, "booking.confirmed", &each).await;
    for _ in 0..130 {
        world.emit("default", "1", PAYLOAD).await;
    }
    world.run().await;
    let (mut sent, mut skipped, mut after) = (0, 0, None);
    loop {
        let page = Page { limit: 50, after };
        let found = world
            .central
            .events
            .communications(TENANT, "booking", "1", page)
            .await
            .unwrap();
        sent += found.sent.len();
        skipped += found.skipped.len();
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((sent, skipped), (130, 130));
}

pub async fn an_event_of_a_source_that_is_refused_keeps_no_other_and_says_why(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    // A name that no index holds.
    let nobody: String = (0..300).map(|_| EventId::mint().to_string()).collect();
    let of = |tenant: &str, entity: &str| {
        let mut event = new_event(tenant, "booking.confirmed", entity, PAYLOAD);
        event.source = "shop".into();
        event
    };
    let batch = vec![
        of("default", "1"),
        of(&nobody, "2"),
        of("default", "3"),
        of("default", "4"),
    ];
    let (refused, last) = (batch[1].id, batch[3].id);
    for _ in 0..2 {
        world.central.events.bring(batch.clone()).await.unwrap();
    }
    world.run().await;
    assert_eq!(world.mail.received().len(), 3);
    assert_eq!(world.event_status(last).await.0, EventStatus::Published);
    let rows = world.temp.store.events_by_id(refused, 10).await.unwrap();
    assert_eq!((rows.len(), rows[0].status), (1, EventStatus::Failed));
    let why = rows[0].last_error.as_deref().unwrap();
    match on {
        Database::Sqlite => assert_eq!(why, "Unknown tenant"),
        Database::Postgres => assert!(why.contains("refused"), "{why}"),
    }
}
