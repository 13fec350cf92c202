//! Calls of a site that is killed: made at least once, never more often than attempts are on record, and told to
//! central.

use crate::{
    node::{Node, Setup},
    site_agent::{AgentProcess, SiteSetup},
    size,
};
use client::TrackedOperationId;
use domain::site::OperationStatus;
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use testkit::until;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_made_at_least_once_and_never_more_often_than_attempts_are_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&Setup::sqlite(folder.path())).await;
    let key = node.client.register_site("north").await.unwrap().key;
    let options = HttpOptions {
        keep: 1_000_000,
        ..HttpOptions::default()
    };
    let erp = HttpReceiver::start(options).await.unwrap();
    erp.on(HttpRule::status(503).chance(0.3));
    erp.on(HttpRule::usual().delayed(Duration::from_millis(15)).chance(0.5));
    let setup = SiteSetup {
        id: "north".into(),
        folder: folder.path().into(),
        central: format!("http://{}", node.link),
        key,
        more: format!(
            "[[site.system]]\nname = \"erp\"\nbase_url = {:?}\ntimeout = \"2s\"\n",
            erp.url("/api")
        ),
    };
    let mut agent = AgentProcess::start(&setup).await;
    let accepted = Arc::new(Mutex::new(vec![]));
    for _ in 0..size::pick(3, 30) {
        let before = accepted.lock().unwrap().len();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (site, accepted) = (agent.site.clone(), accepted.clone());
            calls.spawn(async move {
                loop {
                    let id = TrackedOperationId::mint();
                    let call = site.call("erp").post("/orders").id(id).max_retries(0);
                    match call.send().await {
                        Ok(sent) => accepted.lock().unwrap().extend(sent.accepted.then_some(id)),
                        // The agent was killed.
                        Err(_) => return,
                    }
                }
            });
        }
        let enough = before + rand::random_range(50..150);
        until("calls that are accepted", async || {
            accepted.lock().unwrap().len() >= enough
        })
        .await;
        agent.kill();
        while calls.join_next().await.is_some() {}
        agent = AgentProcess::start(&setup).await;
    }
    erp.behave();
    agent.drained().await;
    let mut made: HashMap<String, u64> = HashMap::new();
    for request in erp.requests() {
        let id = request.header("idempotency-key").unwrap().to_owned();
        *made.entry(id).or_default() += 1;
    }
    let accepted = accepted.lock().unwrap().clone();
    for id in &accepted {
        assert!(made.contains_key(&id.to_string()), "{id} was never called");
    }
    let mut attempts = 0;
    for (id, calls) in &made {
        let tracking = agent.site.tracking(id.parse().unwrap()).await.unwrap();
        assert_eq!(tracking.status, OperationStatus::Delivered);
        let begun = tracking.attempts;
        assert!(*calls <= begun, "{id}: {calls} calls, {begun} attempts on record");
        attempts += begun;
    }
    println!(
        "{} accepted, {} called, {} calls received, {attempts} attempts on record",
        accepted.len(),
        made.len(),
        made.values().sum::<u64>()
    );
    told(&node, &made).await;
    assert_eq!(agent.stop().await, 0);
}

/// Central hears of every call how it ended.
async fn told(node: &Node, made: &HashMap<String, u64>) {
    until("central to know the end of every call", async || {
        let calls = node.client.site_calls("north").await.unwrap();
        let delivered = calls
            .iter()
            .filter(|call| call.status == OperationStatus::Delivered);
        let known = delivered.filter(|call| made.contains_key(&call.tracked_operation_id.to_string()));
        known.count() == made.len()
    })
    .await;
}
