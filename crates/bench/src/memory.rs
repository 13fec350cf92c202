//! How much memory a node needs to deliver a backlog, and whether that grows with the backlog.

use super::{
    bar,
    context::Bench,
    database::Location,
    drain,
    load::Load,
    peak,
    reading::{Reading, Target, Unit},
    rig::Rig,
    wiring::Wiring,
};
use anyhow::{Context, ensure};
use domain::Channel;
use tokio::process::Command;

const SMALL: u64 = 100_000;
const LARGE: u64 = 1_000_000;

/// What the hidden command is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder with an embedded database, or a PostgreSQL URL
    place: String,
    /// How many messages wait there
    rows: u64,
}

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let small = peak(bench, SMALL).await?;
    let large = peak(bench, LARGE).await?;
    Ok(vec![
        Reading::new("memory, 1,000,000 waiting", Unit::MiB, large)
            .beside("100,000 waiting", small)
            .aiming(Target::AtMost(150.0)),
    ])
}

/// The most memory, in MiB, that a process of its own takes to deliver so many.
async fn peak(bench: &Bench, rows: u64) -> anyhow::Result<f64> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let bar = bar(rows, "submitting");
    Load::new("noop", Channel::Email)
        .fill(&rig.central, rows, |n| bar.set_position(n))
        .await?;
    bar.finish_and_clear();
    rig.close().await;
    location.settle().await?;
    let delivering = Command::new(std::env::current_exe()?)
        .args(["bench", "deliver", &location.name(), &rows.to_string()])
        .kill_on_drop(true)
        .output();
    let output = delivering
        .await
        .context("cannot start the process that delivers")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    bench.database.remove(location).await?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// Delivers what waits and prints the peak of this process's memory, in MiB.
pub async fn deliver(args: Args, wiring: &dyn Wiring) -> anyhow::Result<()> {
    super::start(wiring)?;
    let rig = Rig::on(&Location::named(&args.place)).await?;
    drain::sweep(&mut rig.dispatcher(), args.rows).await?;
    crate::line(peak::of(std::process::id())?.peak)?;
    rig.close().await;
    Ok(())
}
