//! Whether central, and a site's agent, could listen where the configuration says.

use crate::{
    config::{server::Server, site::Site},
    output,
};
use anyhow::{Context, bail};
use client::{Again, Client};
use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    time::Duration,
};

/// How long whoever holds the port may take to say who it is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Who is to listen.
#[derive(Debug, Clone, Copy)]
enum Program {
    Central,
    Agent,
}

/// Who holds a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// The program that is to listen there: most often the very one whose configuration this is.
    Itself,
    /// It speaks TLS, and its name cannot be checked from here; or it took too long to answer.
    Unknown,
    SomethingElse,
}

pub async fn check(server: &Server, site: &Site) -> anyhow::Result<()> {
    check_central(server, site.id.is_some()).await?;
    check_agent(site).await
}

/// With `site`, the file is about a site: unless it names ports for central too, nobody need run one here, and a port in use is noted.
async fn check_central(server: &Server, site: bool) -> anyhow::Result<()> {
    let default = Server::default();
    let unasked = site && (server.listen, server.link_listen) == (default.listen, default.link_listen);
    let or_note = |holder| match holder {
        Holder::SomethingElse if unasked => Holder::Unknown,
        holder => holder,
    };
    let by = Program::Central;
    let api = match is_free(server.listen, "server.listen")? {
        true => Holder::Nobody,
        false if server.tls_cert_file.is_some() => Holder::Unknown,
        false => holder(by, server.listen).await,
    };
    by.tell(server.listen, "server.listen", or_note(api))?;
    let link = holder_beside(api, server.link_listen, "server.link_listen")?;
    by.tell(server.link_listen, "server.link_listen", or_note(link))
}

/// Without an id no agent starts: unless the file names a port for one, nobody is to run it here.
async fn check_agent(site: &Site) -> anyhow::Result<()> {
    let other = site.replication.listen;
    if site.id.is_none() && other.is_none() && site.listen == Site::default().listen {
        return Ok(());
    }
    let by = Program::Agent;
    let api = match is_free(site.listen, "site.listen")? {
        true => Holder::Nobody,
        false => holder(by, site.listen).await,
    };
    by.tell(site.listen, "site.listen", api)?;
    let Some(other) = other else {
        return Ok(());
    };
    let answering = holder_beside(api, other, "site.replication.listen")?;
    by.tell(other, "site.replication.listen", answering)
}

fn is_free(address: SocketAddr, key: &str) -> anyhow::Result<bool> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AddrInUse => Ok(false),
        Err(e) => Err(e).with_context(|| format!("cannot listen on {address} ({key})")),
    }
}

/// Who holds the port that a program has besides that of its API, by who holds that one.
fn holder_beside(api: Holder, address: SocketAddr, key: &str) -> anyhow::Result<Holder> {
    Ok(match (is_free(address, key)?, api) {
        (true, _) => Holder::Nobody,
        // One that runs has both.
        (false, Holder::Nobody) => Holder::SomethingElse,
        (false, api) => api,
    })
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Agent => "a site's agent",
        }
    }

    fn tell(self, address: SocketAddr, key: &str, holder: Holder) -> anyhow::Result<()> {
        let name = self.name();
        match holder {
            Holder::Nobody => {}
            Holder::Itself => output::note(format_args!("{address} ({key}) is in use by {name}")),
            Holder::Unknown => output::note(format_args!(
                "{address} ({key}) is in use: by {name}, or by something else"
            )),
            Holder::SomethingElse => {
                bail!("cannot listen on {address} ({key}): something else that is not {name} uses it")
            }
        }
        Ok(())
    }
}

/// By how it answers.
async fn holder(by: Program, mut address: SocketAddr) -> Holder {
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
    let asked = async {
        match by {
            Program::Central => client.readyz().await.map(drop),
            Program::Agent => client::site::Site::from(client).health().await.map(drop),
        }
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, asked).await {
        Ok(Ok(())) => Holder::Itself,
        Ok(Err(_)) => Holder::SomethingElse,
        Err(_) => Holder::Unknown,
    }
}
