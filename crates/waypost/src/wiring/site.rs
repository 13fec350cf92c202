//! A site agent, from its configuration.

use super::pair::{self, RunningPair};
use crate::config::{Problem, Problems, site::Site as Config};
use anyhow::Context;
use delivery::Outside;
use domain::{Clock, SiteId, SystemClock, Tracer};
use link::{Address, ClientTls, LinkClient, Options};
use metrics_exporter_prometheus::PrometheusHandle;
use site::{
    Agent, Commands, Settings, Site,
    api::{self, Access, Api, Listening},
    categories::{CachedDbWrites, ExternalSystems, Targets},
    pair::{LeaseState, Turn},
};
use std::{net::SocketAddr, sync::Arc};
use store::{Buffer, buffer};
use tokio_util::sync::CancellationToken;

/// A site at work.
#[derive(Debug)]
pub struct RunningSite {
    pub agent: Arc<Agent>,
    pub address: SocketAddr,
    http: tokio::task::JoinHandle<std::io::Result<()>>,
    /// Requests are no longer taken.
    stop: CancellationToken,
    /// The link goes last: what was under way may still be answered.
    unlink: CancellationToken,
    link: Option<tokio::task::JoinHandle<()>>,
    pair: Option<RunningPair>,
}

/// Opens the buffer, dials central, listens. Runs until `stop`; see [`RunningSite::finished`].
pub async fn start(
    config: &Config,
    metrics: Option<PrometheusHandle>,
    tracer: Tracer,
    stop: CancellationToken,
) -> anyhow::Result<RunningSite> {
    start_leased(config, metrics, tracer, None, stop).await
}

/// The same for a machine of a pair: what it holds and has promised outlives each start.
pub async fn start_leased(
    config: &Config,
    metrics: Option<PrometheusHandle>,
    tracer: Tracer,
    leases: Option<&Arc<LeaseState>>,
    stop: CancellationToken,
) -> anyhow::Result<RunningSite> {
    let missing = config.missing();
    if !missing.is_empty() {
        return Err(Problems(missing).into());
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let settings = Settings {
        tracer,
        ..settings(config)?
    };
    let targets = targets(config, &clock)?;
    let access = match secret(config.api_token().read())? {
        Some(token) => Access::token(token),
        None => Access::local(),
    };
    let link = link_options(config, &settings, &clock)?;
    let options = buffer::Options {
        path: config.database.clone(),
        node: settings.node.clone(),
        max_bytes: config.max_buffer_bytes,
        reserve_bytes: buffer::RESERVE,
        inline: false,
    };
    let opening = clock.clone();
    let buffer = tokio::task::spawn_blocking(move || Buffer::open(&options, opening))
        .await?
        .with_context(|| format!("cannot open {} (site.database)", config.database.display()))?;
    let buffer = Arc::new(buffer);
    let buffer_id = buffer.id();
    let automatic = pair::automatic(link.as_ref(), leases);
    let pair = pair::join(config, &settings, &buffer, &clock, automatic).await?;
    let site = Site::new(settings, buffer, targets.handlers(), clock);
    if let Some(joined) = &pair {
        site.join(joined.pair.clone());
    }
    let unlink = CancellationToken::new();
    let turn = site.pair().map(|pair| pair.standing().history.rank());
    // A standby has nothing to hand over.
    let link = link.filter(|_| !site.is_standby()).map(|options| {
        let link = LinkClient::new(Options {
            buffer: buffer_id,
            turn,
            ..options
        });
        site.connect(Arc::new(link.clone()));
        tokio::spawn(link.run(Arc::new(Commands(site.clone())), unlink.clone()))
    });
    let agent = Arc::new(Agent::start(site).await.context("the buffer cannot be used")?);
    let pair = pair.map(|joined| joined.serve(&agent)).transpose()?;
    let local = Api {
        agent: agent.clone(),
        targets,
        metrics,
        access,
    };
    let Listening { address, server } = api::serve(local, config.listen, stop.clone()).await?;
    Ok(RunningSite {
        agent,
        address,
        http: server,
        stop,
        unlink,
        link,
        pair,
    })
}

impl RunningSite {
    /// Completes when the site was stopped and everything is in order, or when something broke. Says why it has to be
    /// started anew, if it has.
    pub async fn finished(mut self) -> anyhow::Result<Option<Turn>> {
        let mut poisoned = self.agent.site.buffer.poisoned();
        let mut turned = None;
        let broke = tokio::select! {
            // First: once the stop is asked for, the others end as they should.
            biased;
            () = self.stop.cancelled() => None,
            ended = &mut self.http => {
                let ended = ended.context("the HTTP server broke")?;
                let early = || Err(anyhow::anyhow!("the HTTP server ended before it was told to"));
                Some(ended.context("the HTTP server ended").and_then(|()| early()))
            }
            gone = self.agent.loops.failed() => {
                Some(Err(anyhow::anyhow!("a part that this agent cannot do without is gone ({gone}); it has to be started again")))
            }
            died = link_died(self.link.as_mut()) => Some(Err(died)),
            turn = pair::turned(self.pair.as_mut()) => match turn {
                Ok(turn) => {
                    turned = Some(turn);
                    None
                }
                Err(died) => Some(Err(died)),
            },
            _ = poisoned.wait_for(|poisoned| *poisoned) => {
                Some(Err(anyhow::anyhow!(
                    "the disk failed under the buffer; nothing was acknowledged after that, start again when it is well"
                )))
            }
        };
        self.stop.cancel();
        let patience = self.agent.site.settings.shutdown_wait * 3;
        let orderly = async {
            self.agent.finish().await;
            if let Some(pair) = self.pair.take() {
                pair.stop().await;
            }
            self.agent.stop().await;
            if broke.is_none() {
                let _ = (&mut self.http).await;
            }
            self.unlink.cancel();
            if let Some(link) = self.link.take().filter(|link| !link.is_finished()) {
                let _ = link.await;
            }
        };
        if tokio::time::timeout(patience, orderly).await.is_err() {
            tracing::warn!("not everything ended in time; what was under way counts as interrupted");
        }
        broke.unwrap_or(Ok(())).map(|()| turned)
    }
}

/// Completes when the link is no longer looked after; it is until it is told otherwise.
async fn link_died(link: Option<&mut tokio::task::JoinHandle<()>>) -> anyhow::Error {
    match link {
        None => std::future::pending().await,
        Some(link) => match link.await {
            Err(panicked) => anyhow::Error::new(panicked).context("the link to central broke"),
            Ok(()) => anyhow::anyhow!("the link to central ended before it was told to"),
        },
    }
}

fn settings(config: &Config) -> anyhow::Result<Settings> {
    let id = SiteId::parse(config.id.as_deref().unwrap_or_default())
        .map_err(|why| Problems(vec![Problem::new("site.id", format!("the id {why}"))]))?;
    let host = || gethostname::gethostname().to_string_lossy().into_owned();
    let node = config.node.clone().filter(|node| !node.trim().is_empty());
    Ok(Settings {
        node: node.unwrap_or_else(host),
        retry_interval: config.default_retry_interval,
        max_retries: config.default_max_retries,
        notification_max_retries: config.notification_max_retries,
        timer: config.retry_timer_interval,
        tracking_retention: config.tracking_retention,
        ..Settings::of(id)
    })
}

fn targets(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Targets> {
    let outside = Outside::new(clock.clone());
    let bad =
        |key: &str, name: &str, why: String| Problems(vec![Problem::new(key, format!("{name:?}: {why}"))]);
    let systems = config
        .system
        .iter()
        .map(|s| {
            Ok((
                s.name.clone(),
                s.build(&outside)
                    .map_err(|why| bad("site.system", &s.name, why))?,
            ))
        })
        .collect::<Result<_, Problems>>()?;
    let connections = config
        .connection
        .iter()
        .map(|c| {
            Ok((
                c.name.clone(),
                c.build().map_err(|why| bad("site.connection", &c.name, why))?,
            ))
        })
        .collect::<Result<_, Problems>>()?;
    Ok(Targets {
        systems: Arc::new(ExternalSystems::new(systems, clock.clone())),
        connections: Arc::new(CachedDbWrites::new(connections)),
    })
}

fn link_options(
    config: &Config,
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Options>> {
    if config.central.is_empty() {
        return Ok(None);
    }
    let central: Vec<Address> = config
        .central
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()
        .map_err(|why| Problems(vec![Problem::new("site.central", why)]))?;
    let key = secret(config.key().read())?.unwrap_or_default();
    let identity = match (&config.tls_cert_file, &config.tls_key_file) {
        (Some(cert), Some(key)) => Some((cert.as_path(), key.as_path())),
        _ => None,
    };
    let tls = match central.iter().any(|address| address.tls) {
        true => {
            Some(ClientTls::from_files(config.ca_file.as_deref(), identity).context("TLS cannot be set up")?)
        }
        false => None,
    };
    let options = Options {
        node: settings.node.clone(),
        tls,
        insecure: config.insecure,
        clock: clock.clone(),
        ..Options::new(settings.id.clone(), key.into(), central)
    };
    let bad = options.problems();
    if !bad.is_empty() {
        let named = bad.into_iter().map(|(key, why)| Problem::new(key, why));
        return Err(Problems(named.collect()).into());
    }
    Ok(Some(options))
}

pub(super) fn secret(
    read: Result<Option<crate::config::secret::Secret>, Problem>,
) -> Result<Option<String>, Problems> {
    read.map(|found| found.map(|secret| secret.expose().to_owned()))
        .map_err(|problem| Problems(vec![problem]))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn a_site(folder: &std::path::Path, stop: &CancellationToken) -> RunningSite {
        let config = Config {
            id: Some("north".into()),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            database: folder.join("north.db"),
            ..Config::default()
        };
        start(&config, None, Tracer::default(), stop.clone())
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn an_agent_that_lost_a_part_it_cannot_do_without_ends_and_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let site = a_site(folder.path(), &CancellationToken::new()).await;
        let part = site
            .agent
            .loops
            .watch("telling central the news", async { panic!("on purpose") });
        let _ = tokio::spawn(part).await;
        let why = site.finished().await.unwrap_err().to_string();
        assert!(
            why.contains("telling central the news") && why.contains("started again"),
            "{why}"
        );
    }

    #[tokio::test]
    async fn an_agent_that_is_told_to_stop_ends_well() {
        let folder = tempfile::tempdir().unwrap();
        let stop = CancellationToken::new();
        let site = a_site(folder.path(), &stop).await;
        stop.cancel();
        site.finished().await.unwrap();
    }
}
