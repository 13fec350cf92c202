//! Thousands of messages to a service in trouble, by the real kinds over real sockets: nothing is parked that could go out
//! later, and everything goes out once the trouble is over.

use crate::{
    far_end,
    node::{Node, Setup},
    size,
};
use client::{Client, Kpis, Notification, NotificationId, ProviderDraft};
use domain::{Clock, HoldReason, SystemClock};
use serde_json::{Value, json};
use simulator::{HttpReceiver, http::HttpRule};
use tempfile::TempDir;
use testkit::until;
use tokio::task::JoinSet;

const CONCURRENCY: u64 = 8;
/// How many one after another before the lane counts as down.
const FAILURES_UNTIL_DOWN: u64 = 5;

/// A node with one provider, whose far end is played by `service`.
struct World {
    node: Node,
    service: HttpReceiver,
    kind: &'static str,
    settings: Value,
    _folder: TempDir,
}

impl World {
    /// `{url}` in the settings stands for where the service is.
    async fn start(kind: &'static str, settings: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = far_end::receiver().await;
        let url = service.url(&format!("/{kind}"));
        let settings = serde_json::from_str(&settings.to_string().replace("{url}", &url)).unwrap();
        let world = Self {
            node: Node::start(&Setup::sqlite(folder.path())).await,
            service,
            kind,
            settings,
            _folder: folder,
        };
        world.node.client.create_provider(&world.draft()).await.unwrap();
        world
    }

    fn draft(&self) -> ProviderDraft {
        ProviderDraft {
            id: Some("way-out".into()),
            kind: self.kind.into(),
            settings: self.settings.as_object().cloned().unwrap(),
            limits: Some(json!({ "concurrency": CONCURRENCY, "perSecond": 2000.0 })),
            ..ProviderDraft::default()
        }
    }

    async fn send(&self, total: u64, message: &Notification) -> Vec<NotificationId> {
        const SENDERS: u64 = 16;
        let mut senders = JoinSet::new();
        for sender in 0..SENDERS {
            let (client, message): (Client, Notification) = (self.node.client.clone(), message.clone());
            let share = total / SENDERS + u64::from(sender < total % SENDERS);
            senders.spawn(async move {
                let mut ids = vec![];
                for _ in 0..share {
                    ids.push(client.submit(&message).await.unwrap().notification_id);
                }
                ids
            });
        }
        senders.join_all().await.concat()
    }

    async fn kpis(&self) -> Kpis {
        self.node.client.kpis().await.unwrap()
    }

    async fn is_held(&self, reason: HoldReason) {
        until("the lane to be held", async || {
            let provider = self.node.client.provider("way-out").await.unwrap();
            provider.hold.is_some_and(|hold| hold.reason == reason)
        })
        .await;
    }

    async fn is_empty(&self) {
        until("everything to go out", async || {
            self.kpis().await.queue_depth == 0
        })
        .await;
    }
}

fn how_many() -> u64 {
    size::pick(300, 10_000)
}

fn warning() -> Notification {
    let message = Notification::by_provider("way-out").subject("Pump 3 is hot");
    message.body("87 degrees")
}

fn text_message() -> Notification {
    let message = Notification::to(["+919876543210"]).provider("way-out");
    let template = json!({ "template": { "name": "hot", "language": "en", "params": ["Pump 3", "87"] } });
    message
        .subject("Pump 3 is hot")
        .body("87 degrees")
        .type_data(template)
}

/// Refused until somebody changes a setting; `mended` is what it is changed to.
async fn waits_for_a_person(
    mut world: World,
    refusal: HttpRule,
    reason: HoldReason,
    message: Notification,
    mended: Value,
) {
    let total = how_many();
    world.service.on(refusal);
    world.send(total, &message).await;
    world.is_held(reason).await;
    let kpis = world.kpis().await;
    assert_eq!((kpis.parked_count, kpis.queue_depth), (0, total));
    let asked = world.service.counts().requests;
    assert!(
        asked <= CONCURRENCY,
        "{asked} were asked for before the lane was held"
    );

    world.service.behave();
    for (name, value) in mended.as_object().unwrap() {
        world.settings[name] = value.clone();
    }
    let mended = world.draft();
    world
        .node
        .client
        .replace_provider("way-out", &mended)
        .await
        .unwrap();
    world.is_empty().await;
    assert_eq!(world.kpis().await.parked_count, 0);
    assert_eq!(world.service.counts().taken, total);
    println!(
        "{total} by {}: held as {reason} after {asked} requests, none parked, all out",
        world.kind
    );
}

#[tokio::test]
async fn thousands_wait_for_a_new_token_and_none_is_parked() {
    let settings = json!({ "phoneNumberId": "106540352242922", "token": "EAAJB-expired", "apiUrl": "{url}" });
    let world = World::start("meta", settings).await;
    let expired =
        json!({ "error": { "message": "Session has expired", "type": "OAuthException", "code": 190 } });
    let expired = HttpRule::status(401).body(&expired.to_string());
    let mended = json!({ "token": "EAAJB-renewed" });
    waits_for_a_person(world, expired, HoldReason::Auth, text_message(), mended).await;
}

#[tokio::test]
async fn thousands_wait_for_another_webhook_and_none_is_parked() {
    let settings = json!({ "url": "{url}/services/T00000000/B00000000/XXXXXXXXgoneXXXXXXXXXXXX" });
    let world = World::start("slack", settings).await;
    let renewed = world
        .service
        .url("/slack/services/T00000000/B00000001/XXXXXXXXanewXXXXXXXXXXXX");
    let gone = HttpRule::status(404).body("no_service");
    waits_for_a_person(
        world,
        gone,
        HoldReason::Config,
        warning(),
        json!({ "url": renewed }),
    )
    .await;
}

#[tokio::test]
async fn thousands_wait_for_the_next_days_quota_and_none_is_parked() {
    let world = World::start("ntfy", json!({ "server": "{url}", "topic": "plant-7-alarms" })).await;
    let total = how_many();
    let used_up =
        json!({ "code": 42908, "http": 429, "error": "limit reached: daily message quota reached" });
    world.service.on(HttpRule::status(429).body(&used_up.to_string()));
    world.send(total, &warning()).await;
    world.is_held(HoldReason::Quota).await;
    let asked = world.service.counts().requests;
    assert!(
        asked <= CONCURRENCY,
        "{asked} were asked for before the lane was held"
    );
    world.node.client.try_provider("way-out").await.unwrap();
    until("the probe to be answered", async || {
        world.service.counts().requests == asked + 1
    })
    .await;
    world.is_held(HoldReason::Quota).await;
    let kpis = world.kpis().await;
    assert_eq!((kpis.parked_count, kpis.queue_depth), (0, total));

    world.service.behave();
    world.node.client.try_provider("way-out").await.unwrap();
    world.is_empty().await;
    assert_eq!(world.kpis().await.parked_count, 0);
    assert_eq!(world.service.counts().taken, total);
    println!("{total} by ntfy: held as quota after {asked} requests, one probe, none parked, all out");
}

#[tokio::test]
async fn a_text_message_service_that_hangs_leaves_few_of_thousands_in_doubt() {
    let settings = json!({ "authkey": "123456AbCdEfGhIjKlMn", "timeout": "30s", "apiUrl": "{url}",
        "templates": { "hot": "64f0a1b2c3d4e5f60718293a" } });
    let world = World::start("msg91", settings).await;
    // With its window open, so that as much as it may is under way when it stops answering.
    world.send(100, &text_message()).await;
    world.is_empty().await;
    let total = how_many();
    world.service.on(HttpRule::stall());
    world.send(total, &text_message()).await;
    world.is_held(HoldReason::Down).await;
    until("what was under way to end", async || {
        let lanes = world.node.client.lanes().await.unwrap();
        let kpis = world.kpis().await;
        kpis.parked_count + kpis.queue_depth == total && lanes.iter().all(|lane| lane.hold.is_some())
    })
    .await;

    world.service.behave();
    world.node.client.try_provider("way-out").await.unwrap();
    world.is_empty().await;
    let in_doubt = world.kpis().await.parked_count;
    let probes = 2;
    assert!(
        in_doubt > 0 && in_doubt <= CONCURRENCY + FAILURES_UNTIL_DOWN + probes,
        "{in_doubt} in doubt"
    );
    assert_eq!(
        world.service.counts().requests,
        100 + total,
        "each was asked for once"
    );
    println!("{total} by msg91, which hung: {in_doubt} in doubt, the others out");
}

/// An hour of the day that begins in two or three hours, in UTC.
fn hours_to_come() -> String {
    let now = SystemClock.now().as_millis() / 3_600_000;
    let start = (now + 2) % 24;
    let start = if start == 23 { 0 } else { start };
    format!("{start:02}:00-{:02}:00", start + 1)
}

#[tokio::test]
async fn thousands_of_advertisements_at_the_wrong_hour_are_neither_sent_nor_counted() {
    let settings = json!({ "authkey": "123456AbCdEfGhIjKlMn", "apiUrl": "{url}", "zone": "UTC", "promotionalHours": hours_to_come(),
        "templates": { "hot": "64f0a1b2c3d4e5f60718293a category=promotional" } });
    let world = World::start("msg91", settings).await;
    let total = how_many();
    let ids = world.send(total, &text_message()).await;
    for id in &ids {
        until("each to wait for its hours", async || {
            let report = world.node.client.status(*id).await.unwrap();
            assert_eq!(report.retry_count, 0);
            report.waiting.is_some_and(|waiting| waiting.reason == "hours")
        })
        .await;
    }
    let kpis = world.kpis().await;
    assert_eq!((kpis.parked_count, kpis.queue_depth), (0, total));
    assert_eq!(world.service.counts().requests, 0);
    println!("{total} advertisements at the wrong hour: none sent, none counted, none parked");
}
