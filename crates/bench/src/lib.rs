//! `waypost bench`: how fast the product is, beside what the same machine can do at most.
//!
//! Everything goes through the parts that `serve` runs: [`rig`] wires them, [`load`] makes the messages, `workloads`
//! has one file per question, [`report`] the table. The limits are [`limits`], bare HTTP and bare SMTP.
//! Always true: a figure and its limit come from the same round; every measurement starts on a new database.

mod api;
mod bad_rows;
mod console;
mod context;
mod database;
mod drain;
mod enqueue;
mod event_commits;
mod event_outbox;
mod events;
mod far_end;
mod forward;
mod growth;
mod halves;
mod http;
mod lanes;
mod latency;
pub mod limits;
mod load;
mod machine;
mod memory;
mod noop;
mod pages;
mod peak;
mod peer;
mod reader;
mod reading;
mod receipts;
mod report;
mod rig;
mod site_load;
mod site_memory;
mod site_rig;
mod site_send;
mod smtp;
mod stopwatch;
pub mod wiring;
mod workload;

use context::{Bench, Scale};
use database::{Database, Name};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    fmt::Display,
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};
use wiring::Wiring;
use workload::Workload;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// What to measure; without any: enqueue, drain and latency. `all` is everything and takes a while
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<Workload>,
    /// `sqlite`, or the URL of a PostgreSQL server on which databases may be made and dropped; may be repeated
    #[arg(long, value_name = "DATABASE", default_value = "sqlite")]
    database: Vec<Name>,
    /// How often each figure and its limit are measured, turn by turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each enqueue runs
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many messages each drain delivers
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    rows: u64,
    /// Finished notifications that are kept while `growth` drains
    #[arg(long, value_delimiter = ',', default_value = "1000000,5000000")]
    kept: Vec<u64>,
    /// How long `reader` keeps its transaction open, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    hold: u64,
    /// Where embedded databases are made; a temporary folder if not given
    #[arg(long, value_name = "FOLDER", env = "SQLITE_DIR", hide_env_values = true)]
    folder: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Measure one workload and print lines that a comparison with other products reads
    Peer(peer::Args),
    /// Be the receiver that bodies are posted to, on a free port, until standard input ends
    #[command(hide = true)]
    Sink,
    /// Deliver what waits in a database and say how much memory that took
    #[command(hide = true)]
    Deliver(memory::Args),
}

/// Measures what `args` ask for.
pub async fn run(args: Args, wiring: &'static dyn Wiring) -> anyhow::Result<()> {
    match args.command {
        Some(Command::Peer(args)) => return peer::run(args, wiring).await,
        Some(Command::Sink) => return http::sink().await,
        Some(Command::Deliver(args)) => return memory::deliver(args, wiring).await,
        None => {}
    }
    start(wiring)?;
    let scale = Scale {
        run_for: Duration::from_secs(args.seconds),
        rows: args.rows,
        kept: args.kept,
        hold: Duration::from_secs(args.hold),
        folder: args.folder.clone(),
    };
    let mut benches = vec![];
    for name in &args.database {
        benches.push(
            Bench::new(
                Database::named(name, args.folder.as_deref()).await?,
                scale.clone(),
                wiring,
            )
            .await?,
        );
    }
    let machine = machine::describe(&benches).await?;
    let (mut readings, mut failed) = (vec![], vec![]);
    for workload in Workload::chosen(&args.workloads) {
        for round in 1..=workload.rounds(args.rounds) {
            for bench in &benches {
                bench.say(format!("{workload} on {}, round {round}", bench.database.name()));
                match Box::pin(workload.round(bench)).await {
                    Ok(found) => {
                        readings.extend(found.into_iter().map(|reading| (bench.database.name(), reading)))
                    }
                    // What was measured so far took long and is still true.
                    Err(error) => {
                        failed.push(error.context(format!("{workload} on {}", bench.database.name())))
                    }
                }
            }
        }
    }
    for bench in benches {
        bench.close().await;
    }
    let rows = report::rows(&readings);
    match args.json {
        true => line(serde_json::to_string_pretty(&report::json(&machine, &rows))?)?,
        false => report::print(&machine, &rows)?,
    }
    let first = failed.pop();
    for error in failed {
        // Nobody there to hear it is no reason to fail.
        let _ = writeln!(std::io::stderr().lock(), "{error:#}");
    }
    first.map_or(Ok(()), Err)
}

/// Counts as `serve` does. Only warnings are logged.
fn start(wiring: &dyn Wiring) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    wiring.count()
}

/// One line on standard output. A reader who has gone away is an error, not a panic.
fn line(text: impl Display) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// Something that takes long and shows it.
fn bar(total: u64, what: impl Into<String>) -> ProgressBar {
    let bar = ProgressBar::new(total).with_message(what.into());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}");
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}
