//! `waypost site`: one site's agent.

use crate::{
    cli::Global,
    config::{Loaded, Problems},
    connect::ConnectSite,
    output::{self, Cells, table, time::short},
    wiring::{files, logging, machine::Machine, metric_families, metrics, otlp, signals},
};
use ::site::pair::LeaseState;
use anyhow::Context;
use comfy_table::Cell;
use domain::SystemClock;
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Run a site agent: take messages from scripts, keep them, send them when it is possible
///
/// Scripts reach it at site.listen; notifications go to central (site.central), calls and writes to the systems and
/// connections of the configuration. Runs until SIGTERM or SIGINT: attempts under way may finish, what waits stays
/// on disk. A second signal ends it at once.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Write the address it listens on to this file once it does (with port 0: the real one)
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show what the agent of this machine found damaged and nobody has acknowledged
    Damage(Damage),
    /// Say that somebody has seen what was damaged
    Acknowledge(Acknowledge),
    /// Bring messages back from a buffer that was set aside
    ///
    /// Reads what can be read, says what cannot, and takes in only what the agent does not know by its id: nothing is sent
    /// twice. The file has to be beside the agent's buffer and stays as it is.
    Recover(Recover),
    /// Show which of the site's two machines this is, and how far the copy is
    Pair(super::site_pair::Show),
    /// Make this machine the active one of the two
    ///
    /// The other one hands over: it begins nothing, lets attempts end, and this one fetches what it still had. Where the other
    /// cannot be asked nothing is done, unless --force says that it is certain that it does not run.
    Promote(super::site_pair::Promote),
    /// Have the other machine take over from this one
    Demote(super::site_pair::Demote),
}

#[derive(Debug, clap::Args)]
pub struct Damage {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    agent: ConnectSite,
}

#[derive(Debug, clap::Args)]
pub struct Acknowledge {
    /// Which entry, as `waypost site damage` shows it; without it all of them
    id: Option<i64>,
    #[command(flatten)]
    agent: ConnectSite,
}

#[derive(Debug, clap::Args)]
pub struct Recover {
    /// The file that was set aside, as `waypost site damage` shows it
    file: PathBuf,
    #[command(flatten)]
    agent: ConnectSite,
}

pub async fn run(args: Args, global: &Global) -> anyhow::Result<()> {
    match args.command {
        Some(Command::Damage(damage)) => return show(&damage).await,
        Some(Command::Acknowledge(seen)) => return acknowledge(&seen).await,
        Some(Command::Recover(from)) => return recover(&from).await,
        Some(Command::Pair(show)) => return super::site_pair::show(&show).await,
        Some(Command::Promote(promote)) => return super::site_pair::promote(&promote).await,
        Some(Command::Demote(demote)) => return super::site_pair::demote(&demote).await,
        None => {}
    }
    let loaded = Loaded::read(global.config.as_deref())?;
    let config = &loaded.config;
    logging::start(&config.log)?;
    let stop = CancellationToken::new();
    signals::watch(stop.clone()).context("signals cannot be watched")?;
    let metrics = metrics::install(metric_families::SITE)?;
    let resource = otlp::Resource {
        service: "waypost-site",
        instance: config.site.id.clone().unwrap_or_default(),
    };
    let endpoint = config.telemetry.endpoint().map_err(|p| Problems(vec![p]))?;
    let exporter = otlp::Exporter::start(endpoint.as_ref(), resource, Arc::new(SystemClock))?;
    let machine = Machine {
        config: config.site.clone(),
        metrics: Some(metrics),
        tracer: exporter.tracer.clone(),
        leases: LeaseState::started(config.site.replication.lease, Arc::new(SystemClock)),
    };
    let mut announced = false;
    let ended = machine
        .run(stop, |running| {
            if let Some(file) = &args.port_file {
                files::write_whole(file, &format!("{}\n", running.address))?;
            }
            if !std::mem::replace(&mut announced, true) {
                output::line(format_args!(
                    "site {} is listening on http://{}",
                    running.agent.site.settings.id, running.address
                ))?;
            }
            Ok(())
        })
        .await;
    exporter.close().await;
    ended
}

async fn show(args: &Damage) -> anyhow::Result<()> {
    let found = args.agent.site()?.damage().await?;
    if args.format.json {
        return output::json(&found);
    }
    let rows = found.iter().map(|d| -> Cells {
        vec![
            Cell::new(d.id),
            Cell::new(short(d.at)),
            Cell::new(&d.what),
            Cell::new(d.file.as_deref().unwrap_or("")),
        ]
    });
    output::line(table(&["id", "found", "what", "file"], rows).trim_fmt())
}

async fn acknowledge(args: &Acknowledge) -> anyhow::Result<()> {
    let n = args.agent.site()?.acknowledge_damage(args.id).await?;
    output::note(format_args!("{n} acknowledged"));
    Ok(())
}

async fn recover(args: &Recover) -> anyhow::Result<()> {
    // The agent has another working directory than this command.
    let file = std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone());
    let done = args.agent.site()?.recover(&file.to_string_lossy()).await?;
    output::line(format_args!(
        "{} brought back, {} known already, {} cannot be read",
        done.recovered, done.known, done.lost
    ))?;
    if let Some(trouble) = done.trouble {
        output::note(format_args!("not everything could be looked at: {trouble}"));
    }
    Ok(())
}
