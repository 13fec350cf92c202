//! How fast messages are taken in and acknowledged: one caller, 32 callers, a thousand at a time.

use super::{
    context::Bench,
    database::Location,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
    stopwatch::Rate,
};
use crate::limits::{CLIENTS, postgres, sqlite};
use domain::Channel;

/// Rows that the limit of the bulk enqueue writes.
const BULK_ROWS: u64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    One,
    Many,
    Bulk,
}

pub async fn round(bench: &Bench, callers: Callers) -> anyhow::Result<Vec<Reading>> {
    let (name, limit) = limit(bench, callers).await?;
    let value = ours(bench, callers).await?;
    let (figure, postgres, sqlite) = match callers {
        Callers::One => ("enqueue-1", 0.75, 0.85),
        Callers::Many => ("enqueue-32", 0.8, 0.8),
        Callers::Bulk => ("enqueue-bulk", 1.0, 0.8),
    };
    let share = if bench.database.is_sqlite() {
        sqlite
    } else {
        postgres
    };
    Ok(vec![
        Reading::of(figure, value)
            .beside(name, limit)
            .aiming(Target::Share(share)),
    ])
}

/// Accepted per second, by the product.
pub async fn ours(bench: &Bench, callers: Callers) -> anyhow::Result<Rate> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let load = Load::new("noop", Channel::Email);
    // Connections are open and statements prepared in a node that runs.
    load.fill(&rig.central, 100, |_| {}).await?;
    location.settle().await?;
    let run_for = bench.scale.run_for;
    let rate = match callers {
        Callers::One => load.submit_for(&rig.central, 1, 1, run_for).await?,
        Callers::Many => load.submit_for(&rig.central, CLIENTS as u64, 1, run_for).await?,
        Callers::Bulk => load.submit_bulk(&rig.central, run_for).await?,
    };
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

async fn limit(bench: &Bench, callers: Callers) -> anyhow::Result<(&'static str, f64)> {
    let location = bench.fresh().await?;
    let run_for = bench.scale.run_for;
    let found = match (&location, callers) {
        (Location::Folder(folder, _), Callers::One) => (
            "one-row transactions",
            sqlite::one_by_one(folder, 1, run_for).await?,
        ),
        (Location::Folder(folder, _), Callers::Many) => {
            ("group commit prototype", sqlite::group(folder, run_for).await?)
        }
        (Location::Folder(folder, _), Callers::Bulk) => (
            "1,000-row transactions",
            sqlite::one_by_one(folder, 1_000, run_for).await?,
        ),
        (Location::Database(url), Callers::One) => {
            ("single-row inserts", postgres::one_by_one(url, run_for).await?)
        }
        (Location::Database(url), Callers::Many) => {
            ("group commit prototype", postgres::group(url, run_for).await?)
        }
        (Location::Database(url), Callers::Bulk) => {
            ("UNNEST on one connection", postgres::bulk(url, BULK_ROWS).await?)
        }
    };
    bench.database.remove(location).await?;
    Ok(found)
}
