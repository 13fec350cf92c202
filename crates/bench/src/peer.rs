//! One workload for a comparison with other products: environment in, `RESULT` lines out.
//!
//! `RESULT<TAB>name<TAB>workload<TAB>value<TAB>unit<TAB>note`, first on the PostgreSQL of `DATABASE_URL` (if it is set;
//! a new, empty database), then as `waypost-sqlite` in `SQLITE_DIR`. `SINK_URL` takes the bodies; `N`, `SECS` and
//! `KEPT` say how much.

use super::{
    context::{Bench, Scale},
    database::Database,
    drain,
    enqueue::{self, Callers},
    growth, latency,
    wiring::Wiring,
};
use clap::ValueEnum;
use std::{path::PathBuf, time::Duration};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workload, in the words of the comparison
    workload: Peer,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Peer {
    /// Enqueue, one client one by one
    W1a,
    /// Enqueue, 32 clients one by one
    W1b,
    /// Enqueue, many at a time
    W1c,
    /// Drain, no-op handler
    W2,
    /// Drain, one HTTP POST each
    W2h,
    /// From enqueue to the start of the handler
    W3,
    /// Drain on an empty table and with finished rows kept
    W4,
}

pub async fn run(args: Args, wiring: &'static dyn Wiring) -> anyhow::Result<()> {
    super::start(wiring)?;
    let folder: Option<PathBuf> = std::env::var_os("SQLITE_DIR").map(Into::into);
    let scale = Scale {
        run_for: Duration::from_secs(number("SECS", 4)),
        rows: number("N", 20_000),
        kept: vec![number("KEPT", 1_000_000)],
        hold: Duration::from_secs(60),
        folder: folder.clone(),
    };
    if let Ok(url) = std::env::var("DATABASE_URL") {
        measure(
            "waypost",
            args.workload,
            Database::Given { url },
            scale.clone(),
            wiring,
        )
        .await?;
    }
    measure(
        "waypost-sqlite",
        args.workload,
        Database::Sqlite { folder },
        scale,
        wiring,
    )
    .await
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

async fn measure(
    name: &str,
    workload: Peer,
    database: Database,
    scale: Scale,
    wiring: &'static dyn Wiring,
) -> anyhow::Result<()> {
    let bench = Bench::new(database, scale, wiring).await?;
    let tell = |figure: &str, value: f64, unit: &str, note: &str| {
        crate::line(format_args!(
            "RESULT\t{name}\t{figure}\t{value:.2}\t{unit}\t{note}"
        ))
    };
    match workload {
        Peer::W1a => tell(
            "w1a",
            enqueue::ours(&bench, Callers::One).await?.per_second,
            "rows/s",
            "ingest.submit, 1 caller",
        )?,
        Peer::W1b => tell(
            "w1b",
            enqueue::ours(&bench, Callers::Many).await?.per_second,
            "rows/s",
            "ingest.submit, 32 callers",
        )?,
        Peer::W1c => {
            let rate = enqueue::ours(&bench, Callers::Bulk).await?.per_second;
            tell("w1c", rate, "rows/s", "ingest.submit, 1,000 at a time, 4 callers")?;
        }
        Peer::W2 => tell(
            "w2",
            drain::ours(&bench).await?.per_second,
            "jobs/s",
            "history and audit row each kept",
        )?,
        Peer::W2h => tell(
            "w2h",
            drain::ours_http(&bench).await?.per_second,
            "jobs/s",
            "kind webhook",
        )?,
        Peer::W3 => {
            let latencies = latency::ours(&bench).await?;
            tell("w3p50", latencies.percentile(0.5), "ms", "")?;
            tell("w3p99", latencies.percentile(0.99), "ms", "")?;
        }
        Peer::W4 => {
            for (kept, rate) in growth::three_times(&bench).await? {
                tell(
                    if kept == 0 { "w4-0" } else { "w4-1M" },
                    rate,
                    "jobs/s",
                    &format!("{kept} finished rows kept"),
                )?;
            }
        }
    }
    bench.close().await;
    Ok(())
}
