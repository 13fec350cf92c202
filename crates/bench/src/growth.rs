//! Whether delivering slows down as finished notifications pile up.

use super::{
    bar,
    context::Bench,
    database::Location,
    drain,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::{postgres, sqlite};
use anyhow::Context;
use domain::{Channel, Clock, SystemClock};

/// Messages of each drain.
const ROWS: u64 = 20_000;
/// Drains of each size, turn by turn.
const TURNS: usize = 5;

/// Several databases side by side, each with its history, drained in turns; the empty one is the limit.
pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let mut places = vec![];
    for kept in std::iter::once(0).chain(bench.scale.kept.iter().copied()) {
        let location = bench.fresh().await?;
        keep(&location, kept).await?;
        places.push((kept, location));
    }
    let mut readings = vec![];
    for _ in 0..TURNS {
        let mut empty = None;
        for (kept, location) in &places {
            let rate = drain_once(location).await?;
            match empty {
                None => empty = Some(rate),
                Some(empty) => readings.push(
                    Reading::rate(format!("growth, {kept} kept"), rate)
                        .beside("nothing kept", empty)
                        .aiming(Target::Share(0.9)),
                ),
            }
        }
    }
    for (_, location) in places {
        bench.database.remove(location).await?;
    }
    Ok(readings)
}

/// For the comparison with others: three drains on one database, the history, three more.
pub async fn three_times(bench: &Bench) -> anyhow::Result<Vec<(u64, f64)>> {
    let location = bench.fresh().await?;
    let mut rates = vec![];
    for kept in [0].into_iter().chain(bench.scale.kept.first().copied()) {
        keep(&location, kept).await?;
        for _ in 0..3 {
            rates.push((kept, drain_once(&location).await?));
        }
    }
    bench.database.remove(location).await?;
    Ok(rates)
}

async fn drain_once(location: &Location) -> anyhow::Result<f64> {
    let rig = Rig::on(location).await?;
    rig.noop().await?;
    let rate = drain::measure(&rig, location, &Load::new("noop", Channel::Email), ROWS)
        .await?
        .per_second;
    rig.close().await;
    Ok(rate)
}

/// Adds so many finished notifications.
pub async fn keep(location: &Location, rows: u64) -> anyhow::Result<()> {
    let rig = Rig::on(location).await?;
    let lane = rig.noop().await?;
    rig.close().await;
    if rows == 0 {
        return Ok(());
    }
    let bar = bar(rows, "writing history");
    let shown = bar.clone();
    match location {
        Location::Database(url) => {
            postgres::keep(url, lane, rows, move |n| shown.set_position(n)).await?;
            postgres::settle(url).await?;
        }
        Location::Folder(..) => {
            let file = location.file().context("an embedded store has a file")?;
            sqlite::keep(&file, lane, rows, SystemClock.now(), move |n| {
                shown.set_position(n)
            })
            .await?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}
