//! Alarms through real processes: what they become, and three nodes at a time. Where they come from: [`crate::event_outboxes`].

use crate::far_end;
use client::{Channel, Client, TemplateDraft};
use domain::{
    EventId, NotificationId, TenantId,
    event::{Dedupe, key::MessageOf},
};
use serde_json::json;
use simulator::HttpReceiver;
use testkit::eventually;

pub const ALARM: &str = "alarm.raised";
/// Each alarm is told twice, by two templates.
const TEMPLATES: [&str; 2] = ["default", "shift"];

/// Alarms go to the webhook, each of them.
pub async fn set_up(client: &Client, far_end: &HttpReceiver) {
    far_end::provider(client, far_end, 16).await;
    let definition = json!({ "dedupe": "event" });
    client.put_event_type(ALARM, &definition).await.unwrap();
    for name in TEMPLATES {
        let template =
            json!({ "eventType": ALARM, "channel": "Webhook", "name": name, "body": "Tank {{tank}}" });
        let template: TemplateDraft = serde_json::from_value(template).unwrap();
        client.create_template(&template).await.unwrap();
    }
}

/// The notifications an alarm becomes.
pub fn message_of(event: EventId, entity: &str) -> [NotificationId; 2] {
    TEMPLATES.map(|template| {
        let of = MessageOf {
            tenant: TenantId::DEFAULT,
            entity_type: "alarm",
            entity_id: entity,
            event_type: ALARM,
            event,
            channel: Channel::Webhook,
            template,
        };
        of.key(Dedupe::Event).0
    })
}

/// Waits until all of these have arrived.
pub async fn arrived(far_end: &HttpReceiver, ids: &[NotificationId]) {
    // What has arrived stays arrived: only the rest is asked for.
    let mut missing = ids.to_vec();
    while !missing.is_empty() {
        let before = missing.len();
        let what = format!("{before} of {} messages", ids.len());
        eventually(&what, async || {
            missing.retain(|id| far_end.deliveries_of(&id.to_string()) == 0);
            (missing.len() < before).then_some(())
        })
        .await;
    }
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_nodes_make_exactly_one_notification_of_each_event_and_template() {
    use crate::{
        crash::drained,
        node::{Node, Setup},
        postgres, size,
    };
    let folder = tempfile::tempdir().unwrap();
    let url = postgres::database().await;
    let far_end = far_end::receiver().await;
    let mut nodes = vec![];
    for name in ["one", "two", "three"] {
        nodes.push(Node::start(&Setup::postgres(name, folder.path(), &url)).await);
    }
    set_up(&nodes[0].client, &far_end).await;
    let (producer, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let one = "select waypost.emit_event('default', null, 'alarm.raised', $1::text, '{\"tank\": 7}')::text";
    let emit = producer.prepare(one).await.unwrap();
    let mut expected = vec![];
    for n in 0..size::pick(1_000, 20_000) {
        let entity = n.to_string();
        let id: String = producer.query_one(&emit, &[&entity]).await.unwrap().get(0);
        expected.extend(message_of(EventId(id.parse().unwrap()), &entity));
    }
    arrived(&far_end, &expected).await;
    drained(&nodes[0].client).await;
    let counts = far_end.counts();
    assert_eq!(counts.repeats, 0);
    assert_eq!(
        counts.requests,
        expected.len() as u64,
        "one for each event and template, and no others"
    );
}
