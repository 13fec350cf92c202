//! One HTTP request to a loopback address, and the status of its answer.

use super::shapes::Call;
use std::{net::IpAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// A node that stands still for a while takes it all the same: only one that never answers has refused it.
const POST_TIMEOUT: Duration = Duration::from_secs(120);

/// None where nobody answers, or where it would leave this machine.
pub(super) async fn post(call: &Call) -> Option<u16> {
    let (host, path) = split(&call.url)?;
    let mut head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n",
        call.body.len()
    );
    for (name, value) in &call.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let asking = async {
        let mut stream = TcpStream::connect(host).await.ok()?;
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(call.body.as_bytes()).await.ok()?;
        let mut start = [0_u8; 12];
        stream.read_exact(&mut start).await.ok()?;
        std::str::from_utf8(&start).ok()?.rsplit(' ').next()?.parse().ok()
    };
    timeout(POST_TIMEOUT, asking).await.ok()?
}

/// Whether it is an address of this machine, to which receipts may be sent.
pub(crate) fn stays_here(url: &str) -> bool {
    split(url).is_some()
}

/// The host with its port, and the path, of an address of this machine.
fn split(url: &str) -> Option<(&str, &str)> {
    let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_loopback = |address: IpAddr| address.is_loopback();
    let allowed = name == "localhost" || name.trim_matches(['[', ']']).parse().is_ok_and(is_loopback);
    (allowed && !path.contains(char::is_whitespace)).then_some((host, path))
}
