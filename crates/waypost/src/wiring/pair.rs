//! The other machine of a site, from the configuration.

use super::site::secret;
use crate::config::{Problem, Problems, replication, site::Site as Config};
use anyhow::Context;
use domain::Clock;
use link::{
    ClientTls, Options, ServerTls, StandbyClient, WitnessClient,
    peer::{self, PeerOptions},
    server,
};
use secrecy::SecretString;
use site::{
    Agent, Pair, Settings,
    pair::{Automatic, Host, LeaseState, PairSettings, Turn},
};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};
use store::Buffer;
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

/// How long questions of the other machine may take to be answered at a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// This machine's part in the pair, before it answers.
pub struct JoinedPair {
    pub pair: Arc<Pair>,
    key: SecretString,
    listen: SocketAddr,
    tls: Option<ServerTls>,
    insecure: bool,
}

/// The same, answering.
#[derive(Debug)]
pub struct RunningPair {
    pair: Arc<Pair>,
    server: JoinHandle<std::io::Result<()>>,
    stop: CancellationToken,
}

/// What the standby needs to take over by itself: central. What was promised outlives a change of roles, so the leases are made once
/// in a process.
pub fn automatic(link: Option<&Options>, leases: Option<&Arc<LeaseState>>) -> Option<Automatic> {
    let link = link?;
    Some(Automatic {
        leases: leases?.clone(),
        witness: Arc::new(WitnessClient::new(link.clone())),
        central: Arc::new(StandbyClient::new(link.clone())),
    })
}

/// Finds out which of the two this machine is. None where the site has one.
pub async fn join(
    config: &Config,
    settings: &Settings,
    buffer: &Arc<Buffer>,
    clock: &Arc<dyn Clock>,
    automatic: Option<Automatic>,
) -> anyhow::Result<Option<JoinedPair>> {
    let of = &config.replication;
    let (Some(listen), Some(address)) = (of.listen, of.peer.as_deref()) else {
        return Ok(None);
    };
    let bad = |why: String| Problems(vec![Problem::new(replication::PEER.name, why)]);
    let address: link::Address = address.parse().map_err(bad)?;
    let key = SecretString::from(secret(config.key().read())?.unwrap_or_default());
    let tls = match address.tls {
        true => Some(ClientTls::from_files(of.ca_file.as_deref(), None).context("TLS cannot be set up")?),
        false => None,
    };
    let (targets, local_targets) = targets(config, &key).map_err(bad)?;
    let pair = PairSettings {
        site: settings.id.clone(),
        name: settings.node.clone(),
        peer: PeerOptions {
            tls,
            insecure: config.insecure,
            ..PeerOptions::new(settings.id.clone(), key.clone(), address)
        },
        targets,
        local_targets,
        wait_for_standby: of.wait_for_standby,
        automatic,
        relief: domain::pair::ReliefTerms::default(),
    };
    let pair = Pair::join(pair, buffer.clone(), clock.clone()).await?;
    pair.give_way_to_newer().await?;
    let tls = match (&of.tls_cert_file, &of.tls_key_file) {
        (Some(cert), Some(key)) => {
            Some(ServerTls::from_files(cert, key, None).context("TLS cannot be set up")?)
        }
        _ => None,
    };
    Ok(Some(JoinedPair {
        pair,
        key,
        listen,
        tls,
        insecure: config.insecure,
    }))
}

type Targets = (BTreeMap<String, Vec<u8>>, Vec<String>);

/// What scripts may reach, by a digest of its settings; and what of it is this very machine.
fn targets(config: &Config, key: &SecretString) -> Result<Targets, String> {
    let (mut all, mut local) = (BTreeMap::new(), vec![]);
    for system in &config.system {
        let name = format!("system {}", system.name);
        all.insert(name.clone(), peer::digest(key, &system.fingerprint()?));
        local.extend(system.is_local().then_some(name));
    }
    for connection in &config.connection {
        let name = format!("connection {}", connection.name);
        all.insert(name.clone(), peer::digest(key, &connection.fingerprint()?));
        local.extend(connection.is_local()?.then_some(name));
    }
    Ok((all, local))
}

impl JoinedPair {
    /// Answers the other machine from here on.
    pub fn serve(self, agent: &Arc<Agent>) -> anyhow::Result<RunningPair> {
        self.pair.attach(agent);
        let listener = peer::listen(self.listen, self.tls.is_some(), self.insecure)?;
        let incoming = server::tcp(listener, self.tls)?;
        let stop = CancellationToken::new();
        let host = Arc::new(Host(self.pair.clone()));
        let site = agent.site.settings.id.clone();
        let server = tokio::spawn(peer::serve(incoming, site, self.key, host, stop.clone()));
        Ok(RunningPair {
            pair: self.pair,
            server,
            stop,
        })
    }
}

impl RunningPair {
    pub async fn stop(self) {
        self.stop.cancel();
        let mut server = self.server;
        if !server.is_finished() && timeout(STOP_TIMEOUT, &mut server).await.is_err() {
            server.abort();
        }
    }
}

/// Completes when the agent has to be started anew, or when the other machine is not answered any more.
pub async fn turned(pair: Option<&mut RunningPair>) -> anyhow::Result<Turn> {
    let Some(running) = pair else {
        return std::future::pending().await;
    };
    tokio::select! {
        turn = running.pair.turned() => Ok(turn),
        ended = &mut running.server => {
            ended.context("answering the other machine broke")?.context("answering the other machine ended")?;
            anyhow::bail!("answering the other machine ended before it was told to")
        }
    }
}
