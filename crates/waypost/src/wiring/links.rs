//! Where sites connect to a central node.

use crate::config::server::Server;
use anyhow::Context;
use central::Central;
use link::{
    ServerTls,
    server::{self, Identity},
};
use std::{io, net::SocketAddr};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Sites are let in.
#[derive(Debug)]
pub struct Links {
    pub address: SocketAddr,
    /// Ends after the stop, when batches under way have been answered.
    pub server: JoinHandle<io::Result<()>>,
}

/// Begins a new epoch of the database and lets sites in until `stop`.
pub async fn start(config: &Server, central: &Central, stop: CancellationToken) -> anyhow::Result<Links> {
    central
        .sites
        .begin()
        .await
        .context("the database cannot say which one it is")?;
    listen(config, central, stop)
}

/// The certificate that sites are shown, and whose they must show, read from the files.
pub fn tls(config: &Server) -> anyhow::Result<Option<ServerTls>> {
    let (Some(cert), Some(key)) = (&config.link_tls_cert_file, &config.link_tls_key_file) else {
        return Ok(None);
    };
    let client_ca = config.link_tls_client_ca_file.as_deref();
    let tls = ServerTls::from_files(cert, key, client_ca).context("TLS for sites cannot be set up")?;
    Ok(Some(tls))
}

/// Lets sites in until `stop`.
pub fn listen(config: &Server, central: &Central, stop: CancellationToken) -> anyhow::Result<Links> {
    let tls = tls(config)?;
    let listener = server::listen(config.link_listen, tls.is_some(), config.insecure)?;
    let address = listener.local_addr()?;
    let incoming = server::tcp(listener, tls)?;
    let identity = Identity {
        node: central.settings.node.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let serving = server::serve(incoming, identity, central.sites.gateway(), stop);
    tracing::info!(%address, "sites can connect");
    Ok(Links {
        address,
        server: tokio::spawn(serving),
    })
}
