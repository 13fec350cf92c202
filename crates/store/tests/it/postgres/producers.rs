//! Producers on PostgreSQL, who write the outbox themselves, in their own transactions.

use super::Schema;
use domain::{Clock, EventStatus, ManualClock, TenantId};
use std::{sync::Arc, time::Duration};
use store::{
    Events, Signals,
    events::{EventEnd, EventsDue, SettleEvent},
    signals::Signal,
};
use tokio_postgres::Client;

const EMIT: &str =
    "select emit_event('default', 'booking.events', 'booking.confirmed', '1', '{\"price\": 1.10}')";
const INSERT: &str = "insert into outbox_messages (event_type, entity_id, payload) values ('booking.confirmed', '2', 'no json')";
/// Everything an application can leave out or get wrong.
const EMPTY: &str = "insert into outbox_messages (tenant, event_type, entity_id, payload, schema_version) values ('nobody', null, null, null, null)";

async fn world() -> (Schema, Arc<ManualClock>, store::postgres::PgStore, Client) {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let store = schema.open(&clock, "one").await;
    let producer = schema.admin().await;
    (schema, clock, store, producer)
}

#[tokio::test]
async fn an_event_is_there_when_its_transaction_commits_and_never_was_when_it_rolls_back() {
    let (_, clock, store, producer) = world().await;
    producer
        .batch_execute(&format!("begin; {EMIT}; rollback"))
        .await
        .unwrap();
    assert!(store.due_events(None, 10).await.unwrap().rows.is_empty());
    producer.batch_execute("begin").await.unwrap();
    producer.batch_execute(EMIT).await.unwrap();
    assert!(
        store.due_events(None, 10).await.unwrap().rows.is_empty(),
        "not before the commit"
    );
    producer.batch_execute("commit").await.unwrap();
    producer.batch_execute(INSERT).await.unwrap();
    producer.batch_execute(EMPTY).await.unwrap();
    let due = store.due_events(None, 10).await.unwrap();
    let found: Vec<_> = due
        .rows
        .iter()
        .map(|e| (e.entity_id.as_str(), e.payload.as_str()))
        .collect();
    assert_eq!(found, [("1", "{\"price\": 1.10}"), ("2", "no json"), ("", "")]);
    assert!(due.rows.iter().all(|e| e.status == EventStatus::Pending));
    assert_eq!(due.now, clock.now());
    assert_eq!(due.rows[2].tenant, None);
}

#[tokio::test]
async fn what_an_application_left_out_keeps_no_event_from_being_settled() {
    let (_, _, store, producer) = world().await;
    producer.batch_execute(EMIT).await.unwrap();
    let without = "insert into outbox_messages (event_type, entity_id, payload) values ('x', null, '{}'), (null, null, null)";
    producer.batch_execute(without).await.unwrap();
    let due = store.due_events(None, 10).await.unwrap().rows;
    let settle = |to| {
        let settle = due.iter().map(|event| SettleEvent {
            seq: event.seq,
            to,
            error: "not published".into(),
        });
        store.settle_events(settle.collect())
    };
    settle(EventEnd::Retry(Duration::ZERO)).await.unwrap();
    settle(EventEnd::Failed).await.unwrap();
    for event in &due {
        let found = store.event(TenantId::DEFAULT, event.id).await.unwrap().unwrap();
        assert_eq!((found.status, found.attempts), (EventStatus::Failed, 2));
    }
}

#[tokio::test]
async fn a_transaction_that_commits_after_later_ones_is_found_from_the_start() {
    let (schema, _, store, slow) = world().await;
    let quick = schema.admin().await;
    slow.batch_execute("begin").await.unwrap();
    slow.batch_execute(EMIT).await.unwrap();
    let own = "select pg_current_xact_id()::text::bigint";
    let transaction: i64 = slow.query_one(own, &[]).await.unwrap().get(0);
    // It is told of from when a later one is over.
    quick.batch_execute("select pg_current_xact_id()").await.unwrap();
    let nothing = store.due_events(None, 10).await.unwrap();
    assert!(nothing.rows.is_empty() && nothing.running.contains(&transaction));
    for _ in 0..2 {
        quick.batch_execute(INSERT).await.unwrap();
    }
    let EventsDue {
        rows: seen, running, ..
    } = store.due_events(None, 10).await.unwrap();
    assert_eq!((seen.len(), running.contains(&transaction)), (2, true));
    slow.batch_execute("commit").await.unwrap();
    let hinted = store.due_events(Some(seen[1].place()), 10).await.unwrap();
    assert!(hinted.rows.is_empty(), "the place is behind it");
    assert!(!hinted.running.contains(&transaction), "but it is told");
    let whole = store.due_events(None, 10).await.unwrap().rows;
    assert_eq!(whole.len(), 3);
}

#[tokio::test]
async fn events_without_a_payload_are_read_as_many_at_a_time_as_others() {
    let (_, _, store, producer) = world().await;
    for _ in 0..7 {
        producer.batch_execute(EMPTY).await.unwrap();
    }
    let due = store.due_events(None, 10).await.unwrap();
    assert_eq!((due.rows.len(), due.more), (7, false));
}

#[tokio::test]
async fn an_event_emitted_twice_under_one_id_is_one_and_fails_nobody() {
    let (_, _, store, producer) = world().await;
    let twice = "select emit_event('default', null, 'a', '1', '{}', event_id => '0197c0de-0000-7000-8000-000000000001')";
    for _ in 0..2 {
        producer.batch_execute(twice).await.unwrap();
    }
    assert_eq!(store.due_events(None, 10).await.unwrap().rows.len(), 1);
}

#[tokio::test]
async fn an_id_that_was_purged_stays_spent_for_who_writes_the_outbox_themselves() {
    let (_, _, store, producer) = world().await;
    let id = "0197c0de-0000-7000-8000-000000000001";
    producer
        .batch_execute(&format!(
            "insert into spent_events values ('default', '{id}', now())"
        ))
        .await
        .unwrap();
    let emit =
        |tenant: &str| format!("select emit_event('{tenant}', null, 'a', '1', '{{}}', event_id => '{id}')");
    producer.batch_execute(&emit("default")).await.unwrap();
    assert!(store.due_events(None, 10).await.unwrap().rows.is_empty());
    producer.batch_execute(&emit("other")).await.unwrap();
    let plain = format!("insert into outbox_messages (event_id, event_type) values ('{id}', 'a')");
    producer.batch_execute(&plain).await.unwrap();
    let due = store.due_events(None, 10).await.unwrap();
    assert_eq!((due.rows.len(), due.spent), (2, vec![due.rows[1].seq]));
    assert_eq!(due.rows[1].tenant_name, "default");
}

#[tokio::test]
async fn times_at_the_ends_of_the_calendar_are_read_as_times_that_can_be_written_again() {
    let (_, _, store, producer) = world().await;
    for at in ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"] {
        let insert = format!("insert into outbox_messages (entity_id, due_at) values ('{at}', '{at}')");
        producer.batch_execute(&insert).await.unwrap();
    }
    let due = store.due_events(None, 10).await.unwrap().rows;
    let read: Vec<_> = due
        .iter()
        .map(|event| event.due_at.unwrap().to_string())
        .collect();
    let (first, last) = ("1970-01-01T00:00:00.000Z", "9999-12-30T00:00:00.000Z");
    assert_eq!(read, [last, first, last, first]);
}

#[tokio::test]
async fn what_the_database_refuses_of_an_event_is_told_from_a_database_in_trouble() {
    let (_, clock, store, producer) = world().await;
    producer.batch_execute(EMIT).await.unwrap();
    let event = store.due_events(None, 10).await.unwrap().rows.remove(0);
    let schedule = store::events::NewSchedule {
        tenant: domain::TenantId::DEFAULT,
        event: event.id,
        event_type: event.event_type.clone(),
        entity_type: "booking".into(),
        entity_id: event.entity_id.clone(),
        status: domain::ScheduleStatus::Cancelled,
        due_at: clock.now(),
        next_look_at: None,
        last_error: Some("nul\0".into()),
        messages: vec![],
    };
    let publish = store::events::PublishEvent {
        seq: event.seq,
        schedule,
        notifications: vec![],
    };
    let refused = store.publish_events(vec![publish]).await.unwrap_err();
    assert!(matches!(refused, store::Error::Refused(_)), "{refused:?}");
}

#[tokio::test]
async fn a_role_emits_only_for_the_tenants_granted_to_it() {
    let (schema, _, store, owner) = world().await;
    let role = format!("app_{}", schema.name());
    owner.batch_execute(&format!("create role {role}")).await.unwrap();
    store.grant_emit(&role, "default").await.unwrap();
    let application = schema.admin().await;
    // The test's own login may do everything; the application's may not.
    application
        .batch_execute(&format!("set session authorization {role}"))
        .await
        .unwrap();
    application.batch_execute(EMIT).await.unwrap();
    application.batch_execute(INSERT).await.unwrap();
    let named = "select emit_event('default', null, 'a', '1', '{}', event_id => gen_random_uuid())";
    application.batch_execute(named).await.unwrap();
    let other = EMIT.replace("'default'", "'other'");
    assert!(application.batch_execute(&other).await.is_err());
    assert!(
        application
            .batch_execute("update outbox_messages set status = 'Published'")
            .await
            .is_err()
    );
    assert!(
        application
            .batch_execute("insert into outbox_messages (status) values ('Published')")
            .await
            .is_err()
    );
    assert!(
        application
            .batch_execute(&format!("select grant_emit('{role}', 'other')"))
            .await
            .is_err()
    );
    assert_eq!(store.due_events(None, 10).await.unwrap().rows.len(), 3);
}

#[tokio::test]
async fn producers_wake_the_nodes_as_they_commit_where_that_is_asked_for_and_only_there() {
    let (schema, _, store, producer) = world().await;
    let mut heard = store.subscribe();
    // Until it is heard, the node may not listen yet.
    let bell = format!("select pg_notify('waypost_{}', 'test directory')", schema.name());
    loop {
        producer.batch_execute(&bell).await.unwrap();
        let pause = std::time::Duration::from_millis(20);
        if tokio::time::timeout(pause, heard.recv()).await.is_ok() {
            break;
        }
    }
    // What was rung before this one has been heard before it.
    producer
        .batch_execute(&bell.replace("directory", "relays"))
        .await
        .unwrap();
    while heard.recv().await.unwrap() != Signal::Relays {}
    let mut next = async |statements: &str| {
        producer.batch_execute(statements).await.unwrap();
        heard.recv().await.unwrap()
    };
    let told_after = |what: &str| format!("{what}; {bell}");
    assert_eq!(
        next(&told_after(EMIT)).await,
        Signal::Directory,
        "nobody asked for it"
    );
    store.notify_emits(true).await.unwrap();
    store.notify_emits(true).await.unwrap();
    let rolled_back = told_after(&format!("begin; {EMIT}; rollback"));
    assert_eq!(next(&rolled_back).await, Signal::Directory, "it never happened");
    let twice = format!("begin; {EMIT}; {EMIT}; commit");
    assert_eq!(next(&twice).await, Signal::Events);
    store.notify_emits(false).await.unwrap();
    assert_eq!(next(&told_after(EMIT)).await, Signal::Directory);
}
