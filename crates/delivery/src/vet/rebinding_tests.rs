//! A name that changes its mind: the far end's owner also owns its name server.

use super::Vetting;
use crate::{
    adapter::Deadline,
    http::{Client, Names},
    outside::Outside,
};
use bytes::Bytes;
use domain::{HoldReason, SystemClock};
use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
};
use hyper::Request;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, UdpSocket},
};

/// Stands for a public address: the only one that may be connected to here.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Answers every question for an address with the one it holds, to be forgotten at once.
async fn name_server(says: Arc<Mutex<Ipv4Addr>>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut question = [0; 512];
        while let Ok((n, peer)) = socket.recv_from(&mut question).await {
            let now = *says.lock().unwrap();
            if let Some(answer) = answered(&question[..n], now) {
                let _ = socket.send_to(&answer, peer).await;
            }
        }
    });
    address
}

/// The answer to one question: an address where one of IPv4 was asked for, otherwise none.
fn answered(question: &[u8], address: Ipv4Addr) -> Option<Vec<u8>> {
    const HEADER: usize = 12;
    let name = question.get(HEADER..)?.iter().position(|byte| *byte == 0)?;
    let end = HEADER + name + 5;
    let asked = question.get(HEADER..end)?;
    let is_v4 = asked[name + 1..name + 3] == [0, 1];
    // A response to a recursive question, without an error.
    let mut answer = vec![
        question[0],
        question[1],
        0x81,
        0x80,
        0,
        1,
        0,
        u8::from(is_v4),
        0,
        0,
        0,
        0,
    ];
    answer.extend_from_slice(asked);
    if is_v4 {
        // The name of the question, type A, class IN, forgotten at once, four bytes.
        answer.extend_from_slice(&[0xc0, HEADER as u8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        answer.extend_from_slice(&address.octets());
    }
    Some(answer)
}

fn vetting(name_server: SocketAddr) -> Vetting {
    let mut udp = ConnectionConfig::udp();
    udp.port = name_server.port();
    let server = NameServerConfig::new(name_server.ip(), true, vec![udp]);
    let config = ResolverConfig::from_name_servers(vec![server]);
    let resolver = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    let vetting = Vetting::new(vec![IpAddr::from(PUBLIC).into()]);
    vetting.resolver.set(resolver.build().ok()).unwrap();
    vetting
}

/// Takes requests on every address of this machine, and closes each connection after the answer.
async fn far_end(taken: Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            taken.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .await;
        }
    });
    port
}

#[tokio::test]
async fn a_name_that_moves_from_a_public_to_a_loopback_address_is_refused_and_not_connected_to() {
    let (says, taken) = (Arc::new(Mutex::new(PUBLIC)), Arc::new(AtomicUsize::new(0)));
    let names = Names::Vetted(Arc::new(vetting(name_server(says.clone()).await)));
    let tls = Outside::new(Arc::new(SystemClock)).tls(None).unwrap();
    let client = Client::new(tls, names);
    let url = format!(
        "http://rebinding.example.com:{}/hook",
        far_end(taken.clone()).await
    );
    let send = async || {
        let request = Request::post(&url).body(Bytes::from_static(b"{}")).unwrap();
        client
            .send(request, Deadline::after(Duration::from_secs(10)))
            .await
    };
    assert_eq!(send().await.unwrap().status(), 200);
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    *says.lock().unwrap() = Ipv4Addr::LOCALHOST;
    let refused = send().await.unwrap_err();
    assert_eq!(refused.hold, Some(HoldReason::Config));
    assert!(
        refused
            .detail
            .contains("rebinding.example.com is at 127.0.0.1, which is not public"),
        "{}",
        refused.detail
    );
    assert_eq!(taken.load(Ordering::SeqCst), 1, "nothing connected");
}
