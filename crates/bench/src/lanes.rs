//! Many lanes, some of them dead: what the healthy ones keep of a clean run.

use super::{
    bar,
    context::Bench,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::per_second;
use anyhow::ensure;
use domain::Channel;
use serde_json::json;
use std::time::{Duration, Instant};

const LANES: u64 = 5_000;
/// Every tenth is dead.
const DEAD: u64 = 10;
/// Messages in each lane.
const EACH: u64 = 4;
const DRAINED_WITHIN: Duration = Duration::from_secs(300);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let clean = measure(bench, false).await?;
    let dirty = measure(bench, true).await?;
    Ok(vec![
        Reading::rate("lanes, 500 of 5,000 dead", dirty)
            .beside("all alive", clean)
            .aiming(Target::Share(0.8)),
    ])
}

/// Messages per second of the lanes that are alive, until the last of theirs has reached its handler.
async fn measure(bench: &Bench, with_dead: bool) -> anyhow::Result<f64> {
    let location = bench.fresh().await?;
    let mut rig = Rig::on(&location).await?;
    let bar = bar(LANES, "setting up lanes");
    for n in 0..LANES {
        let dead = with_dead && n % DEAD == 0;
        rig.provider(&format!("lane-{n}"), "noop", json!({ "dead": dead }), 32)
            .await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let loads: Vec<Load> = (0..LANES)
        .map(|n| Load::new(&format!("lane-{n}"), Channel::Email))
        .collect();
    for _ in 0..EACH {
        for some in loads.chunks(1_000) {
            let messages: Vec<_> = some.iter().map(Load::message).collect();
            super::load::submit(&rig.central, messages).await?;
        }
    }
    location.settle().await?;
    let alive = EACH * if with_dead { LANES - LANES / DEAD } else { LANES };
    let start = Instant::now();
    rig.start();
    while rig.seen.delivered() < alive {
        ensure!(
            start.elapsed() < DRAINED_WITHIN,
            "{} of {alive} messages arrived",
            rig.seen.delivered()
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let rate = per_second(alive, start.elapsed());
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}
