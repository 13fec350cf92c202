//! What a node with nothing to do asks of the database: one question per poll.

use crate::postgres;
use bench::limits::postgres::Admin;
use central::{Central, Settings, secrets::Sealer};
use delivery::Registry;
use domain::{Channel, SystemClock};
use std::{sync::Arc, time::Duration};
use testkit::{FarEnd, eventually, until};
use tokio_util::sync::CancellationToken;

/// What polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Polling {
    Dispatch,
    Events,
}

/// What a node did from start to stop.
#[derive(Debug, Clone, Copy)]
struct Seen {
    transactions: i64,
    polls: i64,
}

/// Runs a node until that has polled so often, or a little more.
async fn transactions(admin: &Admin, url: &str, what: Polling, polls: u64) -> Seen {
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    let before = count(admin, &name).await;
    let mut settings = Settings::named("idle");
    let (often, never) = (Duration::from_millis(2), Duration::from_secs(3600));
    (settings.dispatch.interval, settings.events.poll_interval) = match what {
        Polling::Dispatch => (often, never),
        Polling::Events => (never, often),
    };
    let polling = match what {
        Polling::Dispatch => "dispatch",
        Polling::Events => "events",
    };
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
    let polled = || node.loops.reports().get(polling).map_or(0, |report| report.runs);
    until("the polls", async || polled() >= polls).await;
    stop.cancel();
    tasks.wait().await;
    node.store.close().await;
    Seen {
        transactions: count(admin, &name).await - before,
        polls: polled() as i64,
    }
}

/// Once the node's sessions are gone.
async fn count(admin: &Admin, database: &str) -> i64 {
    let seen = async || admin.transactions(database).await.unwrap();
    eventually("the node's sessions to be gone", seen).await
}

async fn one_question_per_poll(what: Polling) {
    let url = postgres::database().await;
    let admin = Admin::connect(&postgres::server()).await.unwrap();
    // Migrates, and makes what is made once.
    transactions(&admin, &url, what, 1).await;
    let mut seen = vec![];
    // The server's own housekeeping counts as well, when it comes by, and so does what the node does by the clock where the polls
    // took long. A second question would be there each time.
    for _ in 0..10 {
        let few = transactions(&admin, &url, what, 10).await;
        let many = transactions(&admin, &url, what, 510).await;
        let polls = many.polls - few.polls;
        let more = many.transactions - few.transactions - polls;
        seen.push((few, many));
        // A second question of each poll would be twice as many. What else a node asks comes by the clock, a dozen times a second:
        // half is more than a slow machine makes of that in so many polls, and less than a second question.
        if (-polls / 10..=polls / 2).contains(&more) {
            return;
        }
    }
    panic!("few polls and many: {seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_node_asks_one_question_per_poll() {
    one_question_per_poll(Polling::Dispatch).await;
}

/// Five of them a second by default: what that costs is measured, not tested (0.2 to 0.3 % of a core).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_node_asks_one_question_per_look_for_events() {
    one_question_per_poll(Polling::Events).await;
}
