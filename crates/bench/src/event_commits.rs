//! What `events.notify` costs the applications: how many of their transactions commit in a second, with it and without.

use super::{
    context::Bench,
    database::Location,
    events::{EVENT_TYPE, PAYLOAD, delivered, set_up},
    reading::Reading,
    rig::Rig,
    stopwatch::{Rate, Stopwatch},
};
use crate::limits::postgres::Producer;
use anyhow::Context;
use futures_util::future::try_join_all;

/// So many sessions of applications, each with one transaction after the other: commits that could share a write to the disk.
const PRODUCERS: u64 = 16;
/// Transactions of each session before the clock starts, and while it runs.
const WARM_UP: u64 = 20;
const TIMED: u64 = 200;

/// Nothing on SQLite, where applications do not reach the database.
pub async fn price_of_notify(bench: &Bench) -> anyhow::Result<Option<Reading>> {
    if bench.database.is_sqlite() {
        return Ok(None);
    }
    let without = commits(bench, false).await?;
    let with = commits(bench, true).await?;
    let figure = "events, commits of 16 producers with events.notify";
    let beside = "the same without events.notify";
    Ok(Some(Reading::of(figure, with).beside(beside, without.per_second)))
}

/// The node runs and takes the events meanwhile, as it would.
async fn commits(bench: &Bench, notify: bool) -> anyhow::Result<Rate> {
    let location = bench.fresh().await?;
    let Location::Database(url) = &location else {
        anyhow::bail!("producers write to PostgreSQL");
    };
    let mut rig = Rig::on(&location).await?;
    set_up(&rig, &["default"]).await?;
    let producers = try_join_all((0..PRODUCERS).map(|_| Producer::connect(url))).await;
    let producers = producers.context("cannot connect the producers")?;
    rig.start();
    each(&producers, WARM_UP).await?;
    delivered(&rig.seen, PRODUCERS * WARM_UP).await?;
    // After the node has said at its start what its settings say.
    rig.central.store.notify_emits(notify).await?;
    location.settle().await?;
    let watch = Stopwatch::start();
    each(&producers, TIMED).await?;
    let rate = watch.stop(PRODUCERS * TIMED);
    drop(producers);
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

async fn each(producers: &[Producer], transactions: u64) -> anyhow::Result<()> {
    let emitted = producers.iter().enumerate().map(async |(p, producer)| {
        for n in 0..transactions {
            producer.emit(EVENT_TYPE, &format!("{p}-{n}"), PAYLOAD).await?;
        }
        anyhow::Ok(())
    });
    try_join_all(emitted).await?;
    Ok(())
}
