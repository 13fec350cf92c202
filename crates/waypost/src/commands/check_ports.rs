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
    /// It speaks TLS, and its name cannot be checked from here.
    Unknown,
    SomethingElse,
}

pub async fn check(server: &Server) -> anyhow::Result<()> {
    let api = match is_free(server.listen, "server.listen")? {
        true => Holder::Nobody,
        false if server.tls_cert_file.is_some() => Holder::Unknown,
        false if is_central(server.listen).await => Holder::Central,
        false => Holder::SomethingElse,
    };
    tell(server.listen, "server.listen", api)?;
    let link = match (is_free(server.link_listen, "server.link_listen")?, api) {
        (true, _) => Holder::Nobody,
        // A central has both.
        (false, Holder::Nobody) => Holder::SomethingElse,
        (false, api) => api,
    };
    tell(server.link_listen, "server.link_listen", link)
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

/// Whether it answers as central does.
async fn is_central(mut address: SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    let client = Client::builder(&format!("http://{address}"))
        .retrying(Again::tries(1))
        .build();
    let Ok(client) = client else { return false };
    let asked = tokio::time::timeout(ANSWER_TIMEOUT, client.readyz()).await;
    matches!(asked, Ok(Ok(_)))
}
