//! A database that refuses to take what events become: all of it, or one event's.

use crate::{application, events::ALARM, postgres};
use central::{Central, Settings, secrets::Sealer};
use delivery::Registry;
use domain::{
    Actor, Channel, Clock, EventId, EventStatus, EventType, ScheduleStatus, SystemClock, TenantId, Timestamp,
    event::Dedupe,
    template::{TemplateContent, TemplateIdentity},
};
use std::{sync::Arc, time::Duration};
use store::{
    events::{Event, NewEvent},
    templates::NewTemplate,
};
use testkit::{FarEnd, until};

async fn node(url: &str) -> Central {
    let registry = Registry::new(vec![FarEnd::new("test-hook", Channel::Webhook).kind()]).unwrap();
    let store = Arc::new(postgres::open(url, "one").await);
    let clock = Arc::new(SystemClock);
    let central = Central::new(
        store,
        registry,
        Sealer::ephemeral(),
        clock,
        Settings::named("one"),
    );
    let (tenant, by) = (TenantId::DEFAULT, Actor::system());
    let definition = EventType::new(Dedupe::Event);
    let put = central.events.put_type(tenant, ALARM, &definition, &by);
    put.await.unwrap();
    let new = NewTemplate {
        tenant,
        identity: TemplateIdentity {
            event_type: ALARM.into(),
            channel: Channel::Webhook,
            name: TemplateIdentity::DEFAULT_NAME.into(),
            language: None,
            scope: None,
        },
        content: TemplateContent {
            body: "Tank {{tank}}".into(),
            active: true,
            ..TemplateContent::default()
        },
    };
    central.templates.create(&new, &by).await.unwrap();
    central
}

async fn emit(central: &Central, entity: &str) -> EventId {
    emit_for(central, entity, None).await
}

fn in_an_hour() -> Timestamp {
    SystemClock.now() + Duration::from_secs(3600)
}

async fn emit_for(central: &Central, entity: &str, due_at: Option<Timestamp>) -> EventId {
    let event = NewEvent {
        id: EventId::mint(),
        tenant: "default".into(),
        topic: None,
        event_type: ALARM.into(),
        entity_type: None,
        entity_id: entity.into(),
        payload: "{}".into(),
        schema_version: 1,
        correlation_id: None,
        due_at,
        source: String::new(),
    };
    central.events.emit(event).await.unwrap().id
}

async fn event(central: &Central, id: EventId) -> Event {
    let found = central.store.event(TenantId::DEFAULT, id).await.unwrap();
    found.expect("the event is there")
}

/// Schedules of these entities are refused, in words that say nothing about the data.
fn refusing(condition: &str) -> String {
    format!(
        "create function waypost.refuse() returns trigger language plpgsql as \
         $$ begin raise exception 'not now'; end $$; \
         create trigger refuse before insert on waypost.schedules for each row when ({condition}) \
         execute function waypost.refuse()"
    )
}

/// Schedules of this entity are not published.
const REFUSING_TO_PUBLISH: &str = "create function waypost.refuse() returns trigger language plpgsql as \
     $$ begin raise exception 'not now'; end $$; \
     create trigger refuse before update on waypost.schedules for each row \
     when (new.entity_id = '3' and new.status = 'Published') execute function waypost.refuse()";

const AS_BEFORE: &str = "drop trigger refuse on waypost.schedules; drop function waypost.refuse()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trouble_of_the_store_counts_against_no_event_and_one_that_cannot_be_written_keeps_nobody() {
    let url = postgres::database().await;
    let central = node(&url).await;
    let admin = application::session(&url).await;
    let mut ids = vec![];
    for n in 0..5 {
        ids.push(emit(&central, &n.to_string()).await);
    }
    admin.batch_execute(&refusing("true")).await.unwrap();
    let failed = central.events.sweep().await;
    assert!(matches!(&failed, Err(error) if error.may_pass()), "{failed:?}");
    for id in &ids {
        let stands = event(&central, *id).await;
        assert_eq!((stands.status, stands.attempts), (EventStatus::Pending, 0));
    }
    admin.batch_execute(AS_BEFORE).await.unwrap();
    admin
        .batch_execute(&refusing("new.entity_id = '3'"))
        .await
        .unwrap();
    central.events.sweep().await.unwrap();
    for (n, id) in ids.iter().enumerate() {
        let stands = event(&central, *id).await;
        let expected = match n {
            3 => (EventStatus::Pending, 1),
            _ => (EventStatus::Published, 0),
        };
        assert_eq!((stands.status, stands.attempts), expected);
        let words = stands.last_error.unwrap_or_default();
        assert_eq!(words.contains("not now"), n == 3, "{words}");
    }
    central.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schedule_that_cannot_be_written_is_tried_again_and_keeps_nobody() {
    let url = postgres::database().await;
    let central = node(&url).await;
    let admin = application::session(&url).await;
    let mut ids = vec![];
    for n in 0..5 {
        ids.push(emit_for(&central, &n.to_string(), Some(in_an_hour())).await);
    }
    central.events.sweep().await.unwrap();
    let schedule = async |id| {
        let found = central.store.schedule(TenantId::DEFAULT, id).await.unwrap();
        found.expect("it has a schedule")
    };
    assert_eq!(schedule(ids[4]).await.status, ScheduleStatus::Pending);
    admin.batch_execute(REFUSING_TO_PUBLISH).await.unwrap();
    admin.batch_execute(application::DUE_NOW).await.unwrap();
    until("all but one to be published", async || {
        central.events.sweep_schedules().await.unwrap();
        schedule(ids[4]).await.status == ScheduleStatus::Published
    })
    .await;
    for (n, id) in ids.iter().enumerate() {
        let stands = schedule(*id).await;
        let expected = match n {
            3 => (ScheduleStatus::Pending, 1),
            _ => (ScheduleStatus::Published, 0),
        };
        assert_eq!((stands.status, stands.attempts), expected, "{n}");
        let words = stands.last_error.unwrap_or_default();
        assert_eq!(words.contains("not now"), n == 3, "{words}");
    }
    central.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_at_the_head_of_the_outbox_that_cannot_be_written_keep_nobody_behind_them() {
    let url = postgres::database().await;
    let central = node(&url).await;
    let admin = application::session(&url).await;
    let mut ids = vec![];
    for n in 0..10 {
        ids.push(emit(&central, &n.to_string()).await);
    }
    let three = refusing("new.entity_id in ('0', '1', '2')");
    admin.batch_execute(&three).await.unwrap();
    central.events.sweep().await.unwrap();
    for (n, id) in ids.iter().enumerate() {
        let stands = event(&central, *id).await;
        let expected = match n {
            0..3 => (EventStatus::Pending, 1),
            _ => (EventStatus::Published, 0),
        };
        assert_eq!((stands.status, stands.attempts), expected, "{n}");
    }
    central.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedules_that_the_stores_trouble_left_claimed_are_looked_at_again_when_it_is_over() {
    let url = postgres::database().await;
    let central = node(&url).await;
    let admin = application::session(&url).await;
    let id = emit_for(&central, "3", Some(in_an_hour())).await;
    central.events.sweep().await.unwrap();
    admin.batch_execute(REFUSING_TO_PUBLISH).await.unwrap();
    admin.batch_execute(application::DUE_NOW).await.unwrap();
    until("it to be tried in vain", async || {
        central.events.sweep_schedules().await.is_err()
    })
    .await;
    admin.batch_execute(AS_BEFORE).await.unwrap();
    let schedule = async || {
        central
            .store
            .schedule(TenantId::DEFAULT, id)
            .await
            .unwrap()
            .unwrap()
    };
    let stands = schedule().await;
    assert_eq!(stands.attempts, 0);
    let words = stands.last_error.expect("it was given back, and says why");
    assert!(words.contains("not now"), "{words}");
    until("it to be published", async || {
        central.events.sweep_schedules().await.unwrap();
        schedule().await.status == ScheduleStatus::Published
    })
    .await;
    central.store.close().await;
}
