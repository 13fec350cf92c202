//! What a node with nothing to do asks of the database: one question per poll.

use crate::postgres;
use bench::limits::postgres::Admin;
use central::{Central, Settings, secrets::Sealer};
use delivery::Registry;
use domain::{Channel, SystemClock};
use std::{sync::Arc, time::Duration};
use testkit::{FarEnd, eventually, until};
use tokio_util::sync::CancellationToken;

/// Runs a node until it has polled so often. Answers how many transactions it took from start to stop.
async fn transactions(admin: &Admin, url: &str, polls: u64) -> i64 {
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    let before = count(admin, &name).await;
    let mut settings = Settings::named("idle");
    settings.dispatch.interval = Duration::from_millis(20);
    // Events have polls of their own, which are not counted here.
    settings.events.poll_interval = Duration::from_secs(3600);
    let store = Arc::new(postgres::open(url, "idle").await);
    let registry = Registry::new(vec![FarEnd::new("test-hook", Channel::Webhook).kind()]).unwrap();
    let node = Central::new(
        store,
        registry,
        Sealer::ephemeral(),
        Arc::new(SystemClock),
        settings,
    );
    let stop = CancellationToken::new();
    let tasks = node.start(&stop);
    let polled = || {
        node.loops
            .reports()
            .get("dispatch")
            .map_or(0, |report| report.runs)
    };
    until("the polls", async || polled() >= polls).await;
    stop.cancel();
    tasks.wait().await;
    node.store.close().await;
    count(admin, &name).await - before
}

/// Once the node's sessions are gone.
async fn count(admin: &Admin, database: &str) -> i64 {
    let seen = async || admin.transactions(database).await.unwrap();
    eventually("the node's sessions to be gone", seen).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_node_asks_one_question_per_poll() {
    let url = postgres::database().await;
    let admin = Admin::connect(&postgres::server()).await.unwrap();
    // Migrates, and makes what is made once.
    transactions(&admin, &url, 1).await;
    let mut seen = vec![];
    // The server's own housekeeping counts as well, when it comes by.
    for _ in 0..3 {
        let few = transactions(&admin, &url, 10).await;
        let many = transactions(&admin, &url, 110).await;
        seen.push(many - few);
        if (90..=120).contains(&(many - few)) {
            return;
        }
    }
    panic!("transactions in 100 polls: {seen:?}");
}
