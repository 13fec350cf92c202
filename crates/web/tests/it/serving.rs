//! The server itself: plain, with TLS, and its end.

use crate::world::World;
use rustls::pki_types::{CertificateDer, ServerName};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use web::{Limits, Tls, WebState};

struct Served {
    addr: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

fn start(world: &World, tls: Option<Tls>) -> Served {
    within(world, tls, Limits::default())
}

fn within(world: &World, tls: Option<Tls>, limits: Limits) -> Served {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let router = web::router(WebState::new(world.central.clone()).with_stop(stop.clone()));
    let task = tokio::spawn(web::serve_within(listener, tls, router, limits, stop.clone()));
    Served { addr, stop, task }
}

async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin, path: &str, key: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    // A TLS peer that closes without saying goodbye has still answered.
    let _ = stream.read_to_string(&mut text).await;
    text
}

#[tokio::test]
async fn the_server_answers_until_it_is_told_to_stop() {
    let world = World::new().await;
    let served = start(&world, None);
    let answer = get(TcpStream::connect(served.addr).await.unwrap(), "/healthz", "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
    assert!(TcpStream::connect(served.addr).await.is_err());
}

#[tokio::test]
async fn an_open_stream_does_not_hold_the_stop_up() {
    let world = World::new().await;
    let served = start(&world, None);
    let mut stream = TcpStream::connect(served.addr).await.unwrap();
    let key = world.key(store::directory::Role::Viewer);
    let request = format!("GET /api/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 64];
    stream.read_exact(&mut first).await.unwrap();
    assert!(first.starts_with(b"HTTP/1.1 200"));
    served.stop.cancel();
    // Connections that do not end by themselves are cut after a grace; this one is told to end, and says its last word.
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}");
    served.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn with_a_certificate_the_server_speaks_tls() {
    let world = World::new().await;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let served = start(&world, Some(Tls::from_files(&cert, &key).unwrap()));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(made.cert.der().to_vec())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tcp = TcpStream::connect(served.addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let tls = tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
        .unwrap();
    let answer = get(tls, "/healthz", "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_never_finishes_its_request_is_let_go() {
    let world = World::new().await;
    let served = start(&world, None);
    let mut stream = TcpStream::connect(served.addr).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: ")
        .await
        .unwrap();
    tokio::time::pause();
    let mut rest = vec![];
    stream.read_to_end(&mut rest).await.unwrap();
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
}

/// The server closes what it does not take, with or without a word.
async fn is_closed(mut stream: TcpStream) -> bool {
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .ok();
    let mut first = [0; 1];
    matches!(stream.read(&mut first).await, Ok(0) | Err(_))
}

#[tokio::test]
async fn the_server_takes_so_many_connections_in_all_and_from_one_address() {
    let world = World::new().await;
    let in_all = Limits {
        connections: 1,
        ..Limits::default()
    };
    let from_one = Limits {
        per_address: 1,
        without_share: vec![],
        ..Limits::default()
    };
    for limits in [in_all, from_one] {
        let served = within(&world, None, limits);
        let connect = async || TcpStream::connect(served.addr).await.unwrap();
        let mut first = connect().await;
        first
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let mut answer = [0; 12];
        first.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        assert!(is_closed(connect().await).await);
        drop(first);
        testkit::until("its place to be free", async || !is_closed(connect().await).await).await;
        served.stop.cancel();
        served.task.await.unwrap().unwrap();
    }
}

/// What HTTP/2 begins with, an empty frame of settings, and a ping that is answered with the same.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
const PING: &[u8] = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00abcdefgh";

#[tokio::test]
async fn a_connection_of_http_2_that_only_answers_pings_is_let_go() {
    let world = World::new().await;
    let limits = Limits {
        idle: std::time::Duration::from_millis(200),
        ..Limits::default()
    };
    let served = within(&world, None, limits);
    // Each is closed, also one that a slow machine closes before it was read from.
    testkit::until("the server to speak HTTP/2", async || {
        let mut stream = TcpStream::connect(served.addr).await.unwrap();
        let _ = stream.write_all(PREFACE).await;
        let (mut read, mut write) = stream.into_split();
        let pings = tokio::spawn(async move {
            while write.write_all(PING).await.is_ok() {
                tokio::task::yield_now().await
            }
        });
        let mut answers = vec![];
        let _ = read.read_to_end(&mut answers).await;
        pings.await.unwrap();
        !answers.is_empty()
    })
    .await;
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
}

#[test]
fn a_bad_certificate_is_told_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let missing = Tls::from_files(&cert, &key).unwrap_err().to_string();
    assert!(missing.contains("cert.pem"), "{missing}");
    std::fs::write(&cert, "not a certificate").unwrap();
    let empty = Tls::from_files(&cert, &key).unwrap_err().to_string();
    assert!(
        empty.contains("cert.pem") && empty.contains("no certificate"),
        "{empty}"
    );
}
