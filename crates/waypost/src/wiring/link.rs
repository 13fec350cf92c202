//! The door for sites: listens where the configuration says, and serves central's gateway there.

use crate::config::server::{LinkListen, Server};
use anyhow::Context;
use central::Central;
use link::{
    ServerTls,
    server::{self, Identity},
};
use std::{io, net::SocketAddr};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Sites are being served.
#[derive(Debug)]
pub struct Link {
    pub address: SocketAddr,
    scheme: &'static str,
    pub serving: JoinHandle<io::Result<()>>,
}

impl Link {
    /// What a site has as `site.central`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }
}

/// None when the configuration says that no sites connect here.
pub async fn start(
    config: &Server,
    central: &Central,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Link>> {
    let LinkListen::At(address) = config.link_listen else {
        return Ok(None);
    };
    let tls = match config.link_tls() {
        None => None,
        Some((cert, key)) => Some(
            ServerTls::from_files(cert, key, config.link_tls_client_ca_file.as_deref())
                .context("TLS for sites cannot be set up")?,
        ),
    };
    let listener =
        server::listen(address, tls.is_some(), config.insecure).context("sites cannot be served")?;
    let address = listener.local_addr()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    central.sites.begin().await.context("sites cannot be served")?;
    let identity = Identity {
        node: central.settings.node.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let incoming = server::tcp(listener, tls)?;
    let serving = tokio::spawn(server::serve(
        incoming,
        identity,
        central.sites.gateway(),
        stop.clone(),
    ));
    Ok(Some(Link {
        address,
        scheme,
        serving,
    }))
}
