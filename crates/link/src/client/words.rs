//! What became of a connection, in words that a person can act on.

use crate::{
    address::Address,
    transport::{Io, write_through},
};
use domain::chain;
use std::{
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};
use tonic::Status;

const WRONG_PORT: &str = "a web server answers there, and no Waypost link; sites connect to central's server.link_listen \
    (port 7443 unless it was set), not to the address of its HTTP API";
const SPEAKS_TLS: &str = "TLS is spoken there; write https:// in site.central";
const SPEAKS_NO_TLS: &str = "no TLS is spoken there; check the port, and write http:// in site.central only if central \
    has no certificate";

/// What came back over a connection. The first bytes tell who is there when the link's own protocol cannot.
#[derive(Debug)]
pub(super) struct InboundActivity {
    first: OnceLock<Vec<u8>>,
    began: Instant,
    /// When something came last, in milliseconds after that.
    last: AtomicU64,
}

impl InboundActivity {
    fn note(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.first.get().is_none() {
            let _ = self.first.set(bytes[..bytes.len().min(8)].to_vec());
        }
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// How long nothing has come.
    fn silent_for(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(last)
    }
}

/// A connection that notes what comes back.
pub(super) struct Noted {
    io: Box<dyn Io>,
    heard: Arc<InboundActivity>,
}

impl Noted {
    pub(super) fn over(io: Box<dyn Io>) -> (Self, Arc<InboundActivity>) {
        let heard = Arc::new(InboundActivity {
            first: OnceLock::new(),
            began: Instant::now(),
            last: AtomicU64::default(),
        });
        let noted = Self {
            io,
            heard: heard.clone(),
        };
        (noted, heard)
    }
}

impl AsyncRead for Noted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        self.heard.note(&buf.filled()[before..]);
        read
    }
}

write_through!(Noted);

/// Why nobody was reached.
pub(super) fn not_reached(address: &Address, error: &io::Error) -> String {
    let tls: Option<&rustls::Error> = error.get_ref().and_then(|cause| cause.downcast_ref());
    match tls {
        Some(rustls::Error::InvalidMessage(_)) => format!("{address}: {SPEAKS_NO_TLS}"),
        _ if error.kind() == io::ErrorKind::ConnectionRefused => {
            format!("{address}: nobody listens there ({error})")
        }
        _ => format!("{address}: {error}"),
    }
}

/// Who answered instead of central, where it can be told.
pub(super) fn stranger(address: &Address, status: &Status, heard: &InboundActivity) -> Option<String> {
    // How the gRPC library puts an answer that is none.
    let no_answer = status.message().contains("grpc-status header missing");
    Some(match heard.first.get().map(Vec::as_slice) {
        // An alert or a handshake of TLS.
        Some([0x15 | 0x16, 0x03, ..]) => SPEAKS_TLS.into(),
        Some(bytes) if bytes.starts_with(b"HTTP/") => WRONG_PORT.into(),
        Some(_) if no_answer => WRONG_PORT.into(),
        Some(_) => return None,
        None if address.tls => return None,
        None => format!(
            "the connection was closed without a word ({}); if TLS is spoken there, write https:// in site.central",
            said(status)
        ),
    })
}

/// What central said, or what became of the connection.
pub(super) fn said(status: &Status) -> String {
    match std::error::Error::source(status) {
        Some(cause) => chain(cause),
        None => status.message().to_owned(),
    }
}

/// Why a link that was up is not any more. `keep_alive`: how often central is asked whether it is there.
pub(super) fn broke(status: &Status, heard: &InboundActivity, keep_alive: Duration) -> String {
    let silent = heard.silent_for();
    if silent >= keep_alive {
        return format!(
            "central has not answered for {} s; its machine or the network in between is gone",
            silent.as_secs()
        );
    }
    format!("the link broke: {}", said(status))
}
