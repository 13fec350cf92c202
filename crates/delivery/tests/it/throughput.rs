//! How fast mails leave. Run by hand: `cargo test -p delivery --release -- --ignored --nocapture throughput`.

use crate::world::*;
use futures_util::{StreamExt, stream};
use serde_json::json;
use simulator::{HttpOptions, HttpReceiver, SmtpOptions};
use tokio::time::Instant;

const MESSAGES: usize = 50_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn fifty_thousand_mails_arrive_once_each() {
    let server = smtp(SmtpOptions {
        keep: 10,
        ..SmtpOptions::default()
    })
    .await;
    let adapter = smtp_adapter(&server, json!({}));
    let started = Instant::now();
    stream::iter(0..MESSAGES)
        .for_each_concurrent(16, |_| async {
            assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), patiently()).await);
        })
        .await;
    let counts = server.counts();
    assert_eq!((counts.mails, counts.repeats), (MESSAGES as u64, 0));
    println!(
        "smtp: {:.0}/s over {} connections",
        MESSAGES as f64 / started.elapsed().as_secs_f64(),
        counts.connections
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn fifty_thousand_webhooks_arrive_once_each() {
    let receiver = HttpReceiver::start(HttpOptions {
        keep: 10,
        ..HttpOptions::default()
    })
    .await
    .unwrap();
    let adapter = adapter(
        "webhook",
        json!({"url": receiver.url("/hook"), "secret": "any text that is long enough"}),
    );
    let started = Instant::now();
    stream::iter(0..MESSAGES)
        .for_each_concurrent(32, |_| async {
            let message = message(domain::Channel::Webhook, &[]);
            assert_delivered(&adapter.deliver(&message, patiently()).await);
        })
        .await;
    let counts = receiver.counts();
    assert_eq!((counts.taken, counts.repeats), (MESSAGES as u64, 0));
    println!(
        "webhook: {:.0}/s over {} connections",
        MESSAGES as f64 / started.elapsed().as_secs_f64(),
        counts.connections
    );
}
