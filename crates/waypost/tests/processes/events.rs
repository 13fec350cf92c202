//! Events through real processes: killed, three at a time, away while somebody commits.

use crate::{
    crash::{drained, quiet, sent_but_not_recorded},
    far_end,
    node::{Node, Setup},
    size,
};
use client::{Channel, Client, TemplateDraft, events::NewEvent};
use domain::{
    EventId, NotificationId, SystemClock, TenantId,
    event::{Dedupe, key::MessageOf},
};
use serde_json::{Map, json};
use simulator::HttpReceiver;
use std::{sync::Arc, time::Duration};
use store::sqlite::SqliteStore;

const ALARM: &str = "alarm.raised";

/// Alarms go to the webhook, each of them.
async fn set_up(client: &Client, far_end: &HttpReceiver) {
    far_end::provider(client, far_end, 16).await;
    client
        .put_event_type(ALARM, &json!({ "dedupe": "event" }))
        .await
        .unwrap();
    let template = json!({ "eventType": ALARM, "channel": "Webhook", "body": "Tank {{tank}}" });
    let template: TemplateDraft = serde_json::from_value(template).unwrap();
    client.create_template(&template).await.unwrap();
}

/// The notification an alarm becomes.
fn message_of(event: EventId, entity: &str) -> NotificationId {
    let of = MessageOf {
        tenant: TenantId::DEFAULT,
        entity_type: "alarm",
        entity_id: entity,
        event_type: ALARM,
        event,
        channel: Channel::Webhook,
        template: "default",
    };
    of.key(Dedupe::Event).0
}

/// Waits until so many of these have arrived.
async fn arrived(far_end: &HttpReceiver, ids: &[NotificationId]) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(240);
    loop {
        let missing = ids
            .iter()
            .filter(|id| far_end.deliveries_of(&id.to_string()) == 0)
            .count();
        if missing == 0 {
            return;
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "{missing} of {} never came",
            ids.len()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Hands one in, however often it takes: the same id is the same event.
async fn emit(client: &Client, event: &NewEvent) -> bool {
    for _ in 0..3 {
        if client.emit(event).await.is_ok() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

fn alarm(id: EventId, entity: &str) -> NewEvent {
    NewEvent {
        event_id: Some(id),
        ..NewEvent::new(ALARM, entity, Map::from_iter([("tank".into(), 7.into())]))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_killed_between_outbox_and_provider_delivers_every_event_and_repeats_only_what_was_in_flight()
{
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let far_end = far_end::receiver().await;
    let mut node = Node::start(&setup).await;
    set_up(&node.client, &far_end).await;
    let (kills, per_kill) = (size::pick(3, 20), 100);
    let (mut ids, mut in_flight) = (vec![], 0);
    for round in 0..=kills {
        let stop_after = rand::random_range(1..per_kill);
        for n in 0..per_kill {
            let (id, entity) = (EventId::mint(), format!("{round}-{n}"));
            assert!(emit(&node.client, &alarm(id, &entity)).await, "central takes it");
            ids.push(message_of(id, &entity));
            if n == stop_after && round < kills {
                node.kill();
                quiet(&far_end).await;
                let path = folder.path().join("waypost.db");
                let store = SqliteStore::open_beside(&path, Arc::new(SystemClock)).unwrap();
                in_flight += sent_but_not_recorded(&store, &far_end).await;
                store::Maintenance::close(&store).await;
                node = Node::start(&setup).await;
            }
        }
    }
    arrived(&far_end, &ids).await;
    drained(&node.client).await;
    let repeats = far_end.counts().repeats;
    println!(
        "{} events, {repeats} repeated, {in_flight} in flight at the kills",
        ids.len()
    );
    assert!(
        repeats <= in_flight,
        "{repeats} came twice, {in_flight} were in flight"
    );
    assert_eq!(node.stop().await, 0);
}

#[cfg(feature = "postgres-tests")]
mod on_postgres {
    use super::*;
    use crate::postgres;
    use tokio_postgres::{Client as Producer, NoTls};
    use uuid::Uuid;

    async fn producer(url: &str) -> Producer {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Emits so many; the notifications they become.
    async fn emit_many(producer: &Producer, n: usize) -> Vec<NotificationId> {
        let one = "select waypost.emit_event('default', null, 'alarm.raised', $1::text, '{\"tank\": 7}')";
        let emit = producer.prepare(one).await.unwrap();
        let mut messages = vec![];
        for n in 0..n {
            let entity = n.to_string();
            let row = producer.query_one(&emit, &[&entity]).await.unwrap();
            messages.push(message_of(EventId(row.get::<_, Uuid>(0)), &entity));
        }
        messages
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn three_nodes_make_exactly_one_notification_of_each_event() {
        let folder = tempfile::tempdir().unwrap();
        let url = postgres::database().await;
        let far_end = far_end::receiver().await;
        let mut nodes = vec![];
        for name in ["one", "two", "three"] {
            nodes.push(Node::start(&Setup::postgres(name, folder.path(), &url)).await);
        }
        set_up(&nodes[0].client, &far_end).await;
        let ids = emit_many(&producer(&url).await, size::pick(2_000, 20_000)).await;
        arrived(&far_end, &ids).await;
        drained(&nodes[0].client).await;
        assert_eq!(far_end.counts().repeats, 0);
        assert_eq!(
            far_end.counts().requests,
            ids.len() as u64,
            "one for each event, and no others"
        );
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_commits_while_waypost_is_away_goes_out_after_its_start_and_what_rolls_back_never() {
        let folder = tempfile::tempdir().unwrap();
        let url = postgres::database().await;
        let far_end = far_end::receiver().await;
        let setup = Setup::postgres("one", folder.path(), &url);
        let node = Node::start(&setup).await;
        set_up(&node.client, &far_end).await;
        assert_eq!(node.stop().await, 0);
        let producer = producer(&url).await;
        producer.batch_execute("begin").await.unwrap();
        emit_many(&producer, 5).await;
        producer.batch_execute("rollback").await.unwrap();
        let kept = emit_many(&producer, 5).await;
        let node = Node::start(&setup).await;
        arrived(&far_end, &kept).await;
        drained(&node.client).await;
        assert_eq!(far_end.counts().requests, 5);
    }
}
