//! Over real sockets, encrypted.

use crate::world::{Admitting, World, a_forward, down_because, up};
use link::{
    Ack, ClientTls, Options, ServerTls, Uplink,
    server::{self, Identity},
    transport::Tcp,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

struct Papers {
    folder: tempfile::TempDir,
}

impl Papers {
    /// An authority, and certificates for central and for one site.
    fn issue() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let papers = Self { folder };
        std::fs::write(papers.path("ca.pem"), ca.pem()).unwrap();
        for name in ["central", "site"] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["localhost".into()]).unwrap();
            let cert = params.signed_by(&key, &ca).unwrap();
            std::fs::write(papers.path(&format!("{name}.pem")), cert.pem()).unwrap();
            std::fs::write(papers.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        papers
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn server(&self, client_ca: Option<&Path>) -> ServerTls {
        ServerTls::from_files(&self.path("central.pem"), &self.path("central.key"), client_ca).unwrap()
    }
}

fn start(world: &World, tls: ServerTls) -> String {
    let listener = server::listen("127.0.0.1:0".parse().unwrap(), true, false).unwrap();
    let port = listener.local_addr().unwrap().port();
    let identity = Identity {
        node: "c1".into(),
        version: "0.1.0".into(),
    };
    let incoming = server::tcp(listener, Some(tls)).unwrap();
    let gateway = Arc::new(Admitting(world.central.clone()));
    tokio::spawn(server::serve(
        incoming,
        identity,
        gateway,
        CancellationToken::new(),
    ));
    format!("https://localhost:{port}")
}

fn options(world: &World, address: &str, tls: ClientTls) -> Options {
    Options {
        dial: Arc::new(Tcp),
        tls: Some(tls),
        insecure: false,
        ..world.options(&[address])
    }
}

#[tokio::test]
async fn a_site_that_trusts_the_authority_gets_through() {
    let (world, papers) = (World::new(), Papers::issue());
    let address = start(&world, papers.server(None));
    let tls = ClientTls::from_files(Some(&papers.path("ca.pem")), None).unwrap();
    let link = world.link_with(options(&world, &address, tls));
    up(&link).await;
    assert_eq!(link.submit(vec![a_forward()]).await.unwrap(), [Ack::Accepted]);
}

#[tokio::test]
async fn a_site_that_trusts_only_the_public_roots_does_not_say_its_key() {
    let (world, papers) = (World::new(), Papers::issue());
    let address = start(&world, papers.server(None));
    let tls = ClientTls::from_files(None, None).unwrap();
    let link = world.link_with(options(&world, &address, tls));
    down_because(&link, "certificate").await;
    assert!(world.central.site.lock().unwrap().is_none());
}

#[tokio::test]
async fn where_central_asks_for_a_certificate_a_site_without_one_stays_out() {
    let (world, papers) = (World::new(), Papers::issue());
    let ca = papers.path("ca.pem");
    let address = start(&world, papers.server(Some(&ca)));
    let without = ClientTls::from_files(Some(&ca), None).unwrap();
    let link = world.link_with(options(&world, &address, without));
    let why = down_because(&link, &address).await;
    assert!(why.contains("CertificateRequired"), "{why}");
    assert!(world.central.site.lock().unwrap().is_none());

    let (cert, key) = (papers.path("site.pem"), papers.path("site.key"));
    let with = ClientTls::from_files(Some(&ca), Some((&cert, &key))).unwrap();
    up(&world.link_with(options(&world, &address, with))).await;
}

#[tokio::test]
async fn a_wrong_scheme_is_told_with_the_one_to_write() {
    let (world, papers) = (World::new(), Papers::issue());
    let with_tls = start(&world, papers.server(None));
    let trusting = || ClientTls::from_files(Some(&papers.path("ca.pem")), None).unwrap();
    let plain = with_tls.replace("https://", "http://");
    let link = world.link_with(options(&world, &plain, trusting()));
    let why = down_because(&link, &plain).await;
    assert!(why.contains("write https:// in site.central"), "{why}");

    let without_tls = stranger(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00").await;
    let secure = without_tls.replace("http://", "https://");
    let link = world.link_with(options(&world, &secure, trusting()));
    let why = down_because(&link, &secure).await;
    assert!(why.contains("no TLS is spoken there"), "{why}");
}

#[tokio::test]
async fn the_port_of_a_web_server_is_told_from_that_of_the_link() {
    let (world, papers) = (World::new(), Papers::issue());
    let web = stranger(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    let tls = ClientTls::from_files(Some(&papers.path("ca.pem")), None).unwrap();
    let link = world.link_with(options(&world, &web, tls));
    let why = down_because(&link, &web).await;
    assert!(why.contains("server.link_listen"), "{why}");
}

/// Somebody else's server: says something to whatever it is told, and hangs up.
async fn stranger(says: &'static [u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut heard = [0; 1024];
            let _ = socket.read(&mut heard).await;
            let _ = socket.write_all(says).await;
            let _ = socket.shutdown().await;
        }
    });
    format!("http://localhost:{port}")
}

#[test]
fn a_bad_file_is_named() {
    let papers = Papers::issue();
    let missing = papers.path("none.pem");
    let why = ServerTls::from_files(&missing, &papers.path("central.key"), None).unwrap_err();
    assert!(why.to_string().contains("none.pem"), "{why}");
    let why = ClientTls::from_files(Some(&papers.path("site.key")), None).unwrap_err();
    assert!(why.to_string().contains("there is no certificate in it"), "{why}");
}
