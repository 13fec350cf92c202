//! The local API has so many connections and not one more.

use crate::{api::api, central::Central};
use simulator::{HttpReceiver, http::HttpOptions};
use site::api::{Access, serve_within};
use std::{net::SocketAddr, sync::Arc};
use testkit::{Folder, eventually};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

/// A connection on which one request was made. None: it was closed unanswered.
async fn asked(address: SocketAddr) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    // The other end may be gone already.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.ok()?;
    assert_eq!(&first, b"HTTP/1.1 200");
    Some(stream)
}

#[tokio::test]
async fn beyond_its_connections_the_api_closes_new_ones_until_one_ends() {
    let folder = Folder::of_this_test();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let api = api(&folder, &erp, Arc::new(Central::new()), Access::local()).await;
    let any = "127.0.0.1:0".parse().unwrap();
    let listening = serve_within(api, any, 2, CancellationToken::new()).await.unwrap();
    let first = asked(listening.address).await;
    let second = asked(listening.address).await;
    assert!(first.is_some() && second.is_some());
    assert!(asked(listening.address).await.is_none());
    drop(first);
    eventually("a place", async || asked(listening.address).await).await;
}
