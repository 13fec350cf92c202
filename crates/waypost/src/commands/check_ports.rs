//! Whether central could listen where its configuration says.

use crate::{config::server::Server, output};
use anyhow::{Context, bail};
use client::{Again, Client};
use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    time::Duration,
};

/// How long whoever holds the port may take to say who it is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Who holds a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// Most often the very one whose configuration this is.
    Central,
    /// It speaks TLS, and its name cannot be checked from here; or it took too long to answer.
    Unknown,
    SomethingElse,
}

/// With `site`, the file is about a site: unless it names ports for central too, nobody need run one here, and a port in use is noted.
pub async fn check(server: &Server, site: bool) -> anyhow::Result<()> {
    let default = Server::default();
    let unasked = site && (server.listen, server.link_listen) == (default.listen, default.link_listen);
    let or_note = |holder| match holder {
        Holder::SomethingElse if unasked => Holder::Unknown,
        holder => holder,
    };
    let api = match is_free(server.listen, "server.listen")? {
        true => Holder::Nobody,
        false if server.tls_cert_file.is_some() => Holder::Unknown,
        false => holder(server.listen).await,
    };
    tell(server.listen, "server.listen", or_note(api))?;
    let link = match (is_free(server.link_listen, "server.link_listen")?, api) {
        (true, _) => Holder::Nobody,
        // A central has both.
        (false, Holder::Nobody) => Holder::SomethingElse,
        (false, api) => api,
    };
    tell(server.link_listen, "server.link_listen", or_note(link))
}

fn is_free(address: SocketAddr, key: &str) -> anyhow::Result<bool> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AddrInUse => Ok(false),
        Err(e) => Err(e).with_context(|| format!("cannot listen on {address} ({key})")),
    }
}

fn tell(address: SocketAddr, key: &str, holder: Holder) -> anyhow::Result<()> {
    match holder {
        Holder::Nobody => {}
        Holder::Central => output::note(format_args!("{address} ({key}) is in use by central")),
        Holder::Unknown => output::note(format_args!(
            "{address} ({key}) is in use: by central, or by something else"
        )),
        Holder::SomethingElse => {
            bail!("cannot listen on {address} ({key}): something else that is not central uses it")
        }
    }
    Ok(())
}

/// By how it answers.
async fn holder(mut address: SocketAddr) -> Holder {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    let client = Client::builder(&format!("http://{address}"))
        .retrying(Again::tries(1))
        .build();
    let Ok(client) = client else {
        return Holder::Unknown;
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.readyz()).await {
        Ok(Ok(_)) => Holder::Central,
        Ok(Err(_)) => Holder::SomethingElse,
        Err(_) => Holder::Unknown,
    }
}
