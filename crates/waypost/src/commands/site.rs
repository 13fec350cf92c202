//! `waypost site`: one site's agent.

use crate::{
    cli::Global,
    config::{Loaded, Problems},
    output,
    wiring::{files, logging, metric_families, metrics, otlp, signals, site},
};
use anyhow::Context;
use domain::SystemClock;
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Run a site agent: take messages from scripts, keep them, send them when it is possible
///
/// Scripts reach it at site.listen; notifications go to central (site.central), calls and writes to the systems and
/// connections of the configuration. Runs until SIGTERM or SIGINT: attempts under way may finish, what waits stays
/// on disk. A second signal ends it at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the address it listens on to this file once it does (with port 0: the real one)
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
}

pub async fn run(args: Args, global: &Global) -> anyhow::Result<()> {
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
    let running = site::start(&config.site, Some(metrics), exporter.tracer.clone(), stop).await?;
    if let Some(file) = &args.port_file {
        files::write_whole(file, &format!("{}\n", running.address))?;
    }
    output::line(format_args!(
        "site {} is listening on http://{}",
        running.agent.site.settings.id, running.address
    ))?;
    let ended = running.finished().await;
    exporter.close().await;
    ended
}
