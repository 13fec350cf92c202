//! Two providers of one channel under load: the first takes everything and answers nothing any more, and the node is killed
//! while the second takes over. Nobody is written to by both.

use crate::{
    crash::quiet,
    far_end,
    load::{Load, one_try},
    node::{Node, Setup},
    size,
};
use client::{Channel, Client, NotificationId, ProviderDraft};
use domain::{Status, TenantId};
use serde_json::json;
use simulator::{HttpReceiver, http::HttpRule};
use store::{
    Store,
    query::{Filter, Page},
};
use testkit::seen_in_time;

const CONCURRENCY: u32 = 16;

async fn provider(client: &Client, id: &str, order: i32, far_end: &HttpReceiver, on_ambiguous: &str) {
    let settings = json!({ "url": far_end.url("/hook"), "timeout": far_end::TIMEOUT });
    let retry = json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "jitter": 0.0, "maxAttempts": 50 });
    let draft = ProviderDraft {
        id: Some(id.into()),
        kind: "webhook".into(),
        order: Some(order),
        settings: settings.as_object().cloned().unwrap(),
        retry: Some(retry),
        limits: Some(json!({ "concurrency": CONCURRENCY })),
        on_ambiguous: Some(on_ambiguous.into()),
        ..ProviderDraft::default()
    };
    client.create_provider(&draft).await.unwrap();
}

/// Rows that were claimed when the node was killed.
async fn claimed(store: &dyn Store) -> u64 {
    let filter = Filter {
        status: vec![Status::Pending, Status::Retrying],
        ..Filter::default()
    };
    let (mut n, mut after) = (0, None);
    loop {
        let page = store.list(TenantId::DEFAULT, &filter, Page { limit: 1000, after });
        let page = page.await.unwrap();
        n += page.rows.iter().filter(|row| row.leased_until.is_some()).count() as u64;
        after = page.next;
        if after.is_none() {
            return n;
        }
    }
}

/// What came of a run.
struct Ran {
    node: Node,
    first: HttpReceiver,
    second: HttpReceiver,
    ids: Vec<NotificationId>,
    /// Requests that the first took and did not answer.
    unanswered: u64,
    /// Rows that were being sent when the node was killed.
    in_flight: u64,
}

async fn run(setup: &Setup, on_ambiguous: &str, look: impl AsyncFnOnce() -> u64) -> Ran {
    let (first, second) = (far_end::receiver().await, far_end::receiver().await);
    let node = Node::start(setup).await;
    provider(&node.client, "first", 1, &first, on_ambiguous).await;
    provider(&node.client, "second", 2, &second, on_ambiguous).await;
    node.client.put_channel(Channel::Webhook, true).await.unwrap();
    let total = size::pick(1_000, 5_000);
    let load = Load::new(total, one_try(&node.client)).by_channel(Channel::Webhook);
    let mut senders = load.start(16);
    load.acknowledged(total / 4).await;
    let answered = first.counts().requests;
    first.on(HttpRule::cut());
    second.wait_for(total / 8).await;
    node.kill();
    quiet(&first).await;
    quiet(&second).await;
    let in_flight = look().await;
    let node = Node::start(setup).await;
    load.send_to(&one_try(&node.client));
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    let unanswered = first.counts().requests.saturating_sub(answered);
    // What is left is in doubt at the first, and waits for it.
    first.behave();
    let ended = seen_in_time(async || {
        node.client.try_provider("first").await.unwrap();
        (node.client.kpis().await.unwrap().queue_depth == 0).then_some(())
    });
    assert!(ended.await.is_some(), "still waiting\n{}", node.log_tail());
    let ids = load.acknowledged.lock().unwrap().clone();
    Ran {
        node,
        first,
        second,
        ids,
        unanswered,
        in_flight,
    }
}

impl Ran {
    fn taken(&self, id: NotificationId) -> (u32, u32) {
        let id = id.to_string();
        (self.first.deliveries_of(&id), self.second.deliveries_of(&id))
    }

    fn tell(&self, ambiguous: u64) {
        let (first, second) = (self.first.counts(), self.second.counts());
        println!(
            "{} messages: {} through the first, {} through the second; {} unanswered, {} in flight at the kill; \
             repeats {} and {}, {ambiguous} in doubt",
            self.ids.len(),
            first.taken,
            second.taken,
            self.unanswered,
            self.in_flight,
            first.repeats,
            second.repeats
        );
    }

    /// Whoever has it from one has it from no other; who is in doubt was being sent to.
    async fn check_parking(self) {
        let mut ambiguous = 0;
        for id in &self.ids {
            let (first, second) = self.taken(*id);
            assert!(first + second <= 1, "{id} came {first} and {second} times");
            let row = self.node.client.status(*id).await.unwrap();
            match row.status {
                Status::Delivered => assert_eq!(first + second, 1, "{id}"),
                Status::Parked => {
                    let parked = self.node.client.notification(*id).await.unwrap();
                    assert_eq!(parked.error_code.as_deref(), Some("AMBIGUOUS"), "{parked:?}");
                    ambiguous += 1;
                }
                other => panic!("{id} is {other}"),
            }
        }
        self.tell(ambiguous);
        let bound = self.unanswered + self.in_flight;
        assert!(
            ambiguous <= bound,
            "{ambiguous} in doubt, {bound} were being sent"
        );
        assert!(self.second.counts().taken > 0);
    }

    /// Everybody has it; whoever has it more often has it from the one that was being asked when it was cut off.
    async fn check_resending(self) {
        for id in &self.ids {
            let (first, second) = self.taken(*id);
            assert!(first + second >= 1, "{id} came to nobody");
            assert!(first == 0 || second == 0, "{id} came {first} and {second} times");
            assert_eq!(
                self.node.client.status(*id).await.unwrap().status,
                Status::Delivered
            );
        }
        self.tell(0);
        assert!(self.second.counts().repeats <= self.in_flight);
    }
}

async fn claimed_in(folder: &std::path::Path) -> u64 {
    use std::sync::Arc;
    let path = folder.join("waypost.db");
    let store = store::sqlite::SqliteStore::open_beside(&path, Arc::new(domain::SystemClock)).unwrap();
    let n = claimed(&store).await;
    store::Maintenance::close(&store).await;
    n
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_duplicates_cost_money_failing_over_through_a_kill_gives_nobody_two_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let ran = run(&setup, "park", async || claimed_in(folder.path()).await);
    ran.await.check_parking().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_over_through_a_kill_repeats_nothing_through_another_provider_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let ran = run(&setup, "resend", async || claimed_in(folder.path()).await);
    ran.await.check_resending().await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_duplicates_cost_money_failing_over_through_a_kill_gives_nobody_two_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let url = crate::postgres::database().await;
    let look = async || {
        let store = crate::postgres::open(&url, "beside").await;
        claimed(&store).await
    };
    let setup = Setup::postgres("node-1", folder.path(), &url);
    let ran = run(&setup, "park", look);
    ran.await.check_parking().await;
}
