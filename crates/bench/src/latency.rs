//! From the call that submits to the start of the handler, at twenty messages a second.

use super::{
    context::Bench,
    database::Location,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::{Latencies, postgres, sqlite};
use anyhow::ensure;
use central::ingest::Submitted;
use domain::Channel;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use tokio::time::MissedTickBehavior;

/// Ten seconds' worth.
const MESSAGES: u64 = 200;
const WARM_UP: u64 = 100;
const EVERY: Duration = Duration::from_millis(50);
const DELIVERED_WITHIN: Duration = Duration::from_secs(10);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let limit = limit(bench).await?;
    let ours = ours(bench).await?;
    let row = |figure: &str, share: f64| {
        Reading::millis(figure, ours.percentile(share))
            .beside("prototype, woken in process", limit.percentile(share))
    };
    Ok(vec![
        row("latency p50", 0.5).aiming(Target::Times(1.5)),
        row("latency p99", 0.99),
    ])
}

pub async fn ours(bench: &Bench) -> anyhow::Result<Latencies> {
    let location = bench.fresh().await?;
    let mut rig = Rig::on(&location).await?;
    rig.noop().await?;
    rig.start();
    let load = Load::new("noop", Channel::Email);
    load.fill(&rig.central, WARM_UP, |_| {}).await?;
    until(|| rig.seen.delivered() >= WARM_UP).await;
    location.settle().await?;
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    rig.seen.watch();
    let mut started = HashMap::new();
    for _ in 0..MESSAGES {
        every.tick().await;
        let message = load.message();
        started.insert(message.id, Instant::now());
        let answers = rig.central.ingest.submit(vec![message]).await?;
        ensure!(
            matches!(answers[..], [Submitted::Accepted { .. }]),
            "a message was not accepted"
        );
    }
    until(|| rig.seen.arrived() >= started.len()).await;
    let arrivals = rig.seen.arrivals();
    ensure!(
        arrivals.len() == started.len(),
        "{} of {MESSAGES} messages arrived",
        arrivals.len()
    );
    let took = started
        .iter()
        .filter_map(|(id, at)| Some(*arrivals.get(id)? - *at));
    let latencies = Latencies(took.collect());
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(latencies)
}

/// Waits for it, but not for ever.
async fn until(so: impl Fn() -> bool) {
    let end = Instant::now() + DELIVERED_WITHIN;
    while !so() && Instant::now() < end {
        tokio::time::sleep(EVERY).await;
    }
}

async fn limit(bench: &Bench) -> anyhow::Result<Latencies> {
    let location = bench.fresh().await?;
    let found = match &location {
        Location::Folder(folder, _) => sqlite::latency(folder, MESSAGES).await?,
        Location::Database(url) => postgres::latency(url, MESSAGES).await?,
    };
    bench.database.remove(location).await?;
    Ok(found)
}
