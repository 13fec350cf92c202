//! `waypost serve`: one central node.

use crate::{
    cli::Global,
    config::{Loaded, Problems, server::Server},
    output,
    wiring::{
        bootstrap, files, links, logging, metric_families, metrics, node, otlp, signals,
        store::{self, Health},
    },
};
use anyhow::Context;
use central::Central;
use domain::SystemClock;
use std::{net::TcpListener, path::PathBuf, sync::Arc, time::Duration};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use web::{
    Tls, WebState,
    console::{ConsoleSettings, LinkPlace, oidc::Oidc},
};

/// Run central: take notifications in, deliver them, answer the API
///
/// Runs until SIGTERM or SIGINT: then it takes no new work, lets what is under way finish, and exits 0. A second
/// signal ends it at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the address it listens on to this file once it does (with port 0: the real one)
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// The same for the address that sites connect to
    #[arg(long, value_name = "FILE")]
    link_port_file: Option<PathBuf>,
}

/// What a stop waits for beyond the grace of sends and requests, to write down what came of them.
const WRITING_DOWN: Duration = Duration::from_secs(15);

pub async fn run(args: Args, global: &Global) -> anyhow::Result<()> {
    let loaded = Loaded::read(global.config.as_deref())?;
    let config = &loaded.config;
    logging::start(&config.log)?;
    let place = config.database.place().map_err(|p| Problems(vec![p]))?;
    if let Some(missing) = config.secrets.missing(&place) {
        return Err(Problems(vec![missing]).into());
    }
    let tls = match (&config.server.tls_cert_file, &config.server.tls_key_file) {
        (Some(cert), Some(key)) => Some(Tls::from_files(cert, key).context("TLS cannot be set up")?),
        _ => None,
    };
    let stop = CancellationToken::new();
    signals::watch(stop.clone()).context("signals cannot be watched")?;
    let name = node::name();
    let opened = tokio::select! {
        opened = store::to_serve(&place, &name) => opened?,
        () = stop.cancelled() => return Ok(()),
    };
    // After the store: its folder exists now, and nobody else serves it.
    let sealer = config.secrets.sealer(&place).map_err(|p| Problems(vec![p]))?;
    let metrics = metrics::install(metric_families::CENTRAL)?;
    let resource = otlp::Resource {
        service: "waypost",
        instance: name.clone(),
    };
    let endpoint = config.telemetry.endpoint().map_err(|p| Problems(vec![p]))?;
    let exporter = otlp::Exporter::start(endpoint.as_ref(), resource, Arc::new(SystemClock))?;
    let central = node::central(
        config,
        opened.store.clone(),
        sealer,
        name,
        exporter.tracer.clone(),
    );
    bootstrap::first_key(&central, &config.server).await?;
    bootstrap::first_user(&central, &config.server).await?;
    bootstrap::seal_stored_secrets(&central).await?;

    let listener = TcpListener::bind(config.server.listen)
        .with_context(|| format!("cannot listen on {} (server.listen)", config.server.listen))?;
    let address = listener.local_addr()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut console = console(&config.server, tls.is_some())?;
    let links = links::start(&config.server, &central, stop.clone()).await?;
    console.link = LinkPlace {
        port: links.address.port(),
        tls: config.server.link_tls_cert_file.is_some(),
    };
    let state = WebState::new(central.clone())
        .with_metrics(metrics)
        .with_console(console)
        .with_stop(stop.clone());
    if let Some(file) = &args.link_port_file {
        files::write_whole(file, &links.address.to_string())?;
    }
    let running = Running {
        links: links.server,
        loops: central.start(&stop),
        http: tokio::spawn(web::serve_within(
            listener,
            tls,
            web::router(state),
            web::Limits::behind(&config.server.trusted_proxies),
            stop.clone(),
        )),
        central,
        stop,
        health: opened.health,
    };
    if let Some(file) = &args.port_file {
        files::write_whole(file, &address.to_string())?;
    }
    tracing::info!(node = running.central.settings.node, %address, database = place.shown(), "central is up");
    output::line(format_args!("waypost is listening on {scheme}://{address}"))?;
    let ended = running.until_stopped().await;
    exporter.close().await;
    ended
}

/// How the console is to behave, from where it is reached.
fn console(server: &Server, tls: bool) -> anyhow::Result<ConsoleSettings> {
    let oidc = server.oidc().map_err(Problems)?;
    let oidc = oidc.map(|settings| Oidc::new(settings).map(Arc::new)).transpose();
    let public_https = server
        .public_url
        .as_deref()
        .is_some_and(|url| url.starts_with("https://"));
    Ok(ConsoleSettings {
        secure: tls || public_https,
        public_url: server.public_url.clone(),
        trusted_proxies: server.trusted_proxies.clone(),
        link: LinkPlace::default(),
        oidc: oidc.map_err(|why| anyhow::anyhow!("signing in through an identity provider: {why}"))?,
    })
}

/// A node at work.
struct Running {
    links: tokio::task::JoinHandle<std::io::Result<()>>,
    central: Central,
    loops: TaskTracker,
    http: tokio::task::JoinHandle<std::io::Result<()>>,
    stop: CancellationToken,
    health: Health,
}

impl Running {
    async fn until_stopped(mut self) -> anyhow::Result<()> {
        tokio::select! {
            // First: once the stop is asked for, the others end as they should.
            biased;
            () = self.stop.cancelled() => {}
            ended = &mut self.links => {
                self.stop.cancel();
                self.loops.wait().await;
                ended.context("the server for sites broke")?.context("the server for sites ended")?;
                anyhow::bail!("the server for sites ended before it was told to");
            }
            ended = &mut self.http => {
                self.stop.cancel();
                self.loops.wait().await;
                ended.context("the HTTP server broke")?.context("the HTTP server ended")?;
                anyhow::bail!("the HTTP server ended before it was told to");
            }
            why = self.health.failed() => {
                // Nothing is acknowledged any more; the next process starts from what is really on disk.
                self.stop.cancel();
                anyhow::bail!("{why}");
            }
            gone = self.central.loops.failed() => {
                // Waiting for the rest could take for ever; what is under way counts as interrupted.
                self.stop.cancel();
                anyhow::bail!("a part that this node cannot do without is gone ({gone}); it has to be started again");
            }
        }
        let finish = async {
            let (http, _, ()) = tokio::join!(self.http, self.links, self.loops.wait());
            self.central.store.close().await;
            http
        };
        let grace = self.central.settings.dispatch.grace + WRITING_DOWN;
        match tokio::time::timeout(grace, finish).await {
            Ok(http) => http
                .context("the HTTP server broke")?
                .context("the HTTP server ended badly")?,
            Err(_) => {
                tracing::warn!("not everything ended in time; what was under way counts as interrupted")
            }
        }
        tracing::info!("central has stopped");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use central::{Settings, secrets::Sealer};
    use std::{future::pending, io};
    use testkit::TempStore;
    use tokio::sync::watch;

    /// A node whose servers never end, and of which nothing else runs yet. What keeps its store well is dropped with the sender.
    fn idle(temp: &TempStore) -> (Running, watch::Sender<bool>) {
        let (well, poisoned) = watch::channel(false);
        let registry = delivery::Registry::default();
        let clock = temp.clock.clone();
        let settings = Settings::named("node-1");
        let central = Central::new(temp.store.clone(), registry, Sealer::ephemeral(), clock, settings);
        let stop = CancellationToken::new();
        let running = Running {
            links: tokio::spawn(pending()),
            loops: TaskTracker::new(),
            http: tokio::spawn(pending()),
            central,
            stop,
            health: Health::Embedded(poisoned),
        };
        (running, well)
    }

    fn running(temp: &TempStore) -> (Running, watch::Sender<bool>) {
        let (mut running, well) = idle(temp);
        running.loops = running.central.start(&running.stop);
        (running, well)
    }

    #[tokio::test]
    async fn a_part_that_panics_takes_the_process_with_it() {
        let temp = TempStore::open();
        let (running, _well) = running(&temp);
        let stop = running.stop.clone();
        let dying = running
            .central
            .loops
            .watch("recording attempts", async { panic!("on purpose") });
        tokio::spawn(dying);
        let failed = running.until_stopped().await.unwrap_err();
        assert!(
            failed.to_string().contains("recording attempts: panicked"),
            "{failed}"
        );
        assert_eq!(exit::code(&failed), exit::FAILED);
        assert!(stop.is_cancelled());
    }

    #[test]
    fn a_recorder_that_panics_takes_the_process_with_it() {
        // The recorder waits for more to record, and cannot where there are no timers: it panics with its first step.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let temp = TempStore::open();
        let (failed, stop) = runtime.block_on(async {
            let (running, _well) = idle(&temp);
            let stop = running.stop.clone();
            let _dispatcher = running.central.dispatcher();
            (running.until_stopped().await.unwrap_err(), stop)
        });
        assert!(
            failed.to_string().contains("recording attempts: panicked"),
            "{failed}"
        );
        assert_eq!(exit::code(&failed), exit::FAILED);
        assert!(stop.is_cancelled());
    }

    #[tokio::test]
    async fn a_server_that_ends_before_it_was_told_to_is_a_failure() {
        let temp = TempStore::open();
        let (mut running, _well) = running(&temp);
        running.http = tokio::spawn(async { io::Result::Ok(()) });
        let failed = running.until_stopped().await.unwrap_err();
        assert!(failed.to_string().contains("the HTTP server ended"), "{failed}");
    }
}
