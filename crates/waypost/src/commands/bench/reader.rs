//! Somebody leaves a transaction open while messages come and go: does it go on as fast, and does anything grow?

use super::{
    bar,
    context::Bench,
    database::Location,
    drain,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use central::dispatcher::Dispatcher;
use domain::Channel;
use std::time::{Duration, Instant};
use store::limits::{per_second, postgres, sqlite};

/// Messages that come in and go out in each turn.
const TURN: u64 = 5_000;

enum Open {
    Postgres(postgres::Reader),
    Sqlite(#[allow(dead_code, reason = "held, not used")] sqlite::Reader),
}

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let (load, mut dispatcher) = (Load::new("noop", Channel::Email), rig.dispatcher());
    let part = bench.scale.hold / 4;
    turns(&rig, &load, &mut dispatcher, Duration::from_secs(2)).await?;
    let before = turns(&rig, &load, &mut dispatcher, part).await?;
    let small = sizes(&location).await?;
    let open = match &location {
        Location::Database(url) => Open::Postgres(postgres::Reader::open(url).await?),
        Location::Folder(folder, _) => Open::Sqlite(sqlite::Reader::open(&folder.join("waypost.db"))?),
    };
    let bar = bar(4, "a reader stays");
    let mut rates = vec![];
    for _ in 0..4 {
        rates.push(turns(&rig, &load, &mut dispatcher, part).await?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let large = sizes(&location).await?;
    match open {
        Open::Postgres(reader) => reader.close().await?,
        Open::Sqlite(reader) => drop(reader),
    }
    let after = turns(&rig, &load, &mut dispatcher, part).await?;
    rig.close().await;
    bench.database.remove(location).await?;
    let last = rates.last().copied().unwrap_or_default();
    let held = bench.scale.hold.as_secs();
    Ok(vec![
        Reading::rate(format!("reader, in and out, last quarter of {held} s"), last)
            .beside("no reader", before)
            .aiming(Target::Share(0.8))
            .note(format!(
                "queue {} → {} KiB, log {} → {} KiB; {after:.0}/s after it left",
                small.0, large.0, small.1, large.1
            )),
    ])
}

/// Submits and delivers, turn by turn; messages per second.
async fn turns(
    rig: &Rig,
    load: &Load,
    dispatcher: &mut Dispatcher,
    run_for: Duration,
) -> anyhow::Result<f64> {
    let (start, mut rows) = (Instant::now(), 0);
    while start.elapsed() < run_for {
        load.fill(&rig.central, TURN, |_| {}).await?;
        drain::sweep(dispatcher, TURN).await?;
        rows += TURN;
    }
    Ok(per_second(rows, start.elapsed()))
}

/// The queue table and the write-ahead log, in KiB. Of an embedded store only the log is a file of its own.
async fn sizes(location: &Location) -> anyhow::Result<(i64, i64)> {
    match location {
        Location::Database(url) => {
            let sizes = postgres::sizes(url).await?;
            Ok((sizes.queue / 1024, sizes.kept_log / 1024))
        }
        Location::Folder(folder, _) => {
            let log = std::fs::metadata(folder.join("waypost.db-wal")).map_or(0, |m| m.len());
            Ok((0, i64::try_from(log / 1024)?))
        }
    }
}
