//! From an address to a welcomed session: dial, TLS, hello.

use super::{
    Options,
    session::Session,
    words::{self, InboundActivity, Noted},
};
use crate::{
    PROTOCOL,
    address::Address,
    transport::Io,
    wire::v1::{self, from_central::What as CentralSays, from_site::What as SiteSays, link_client},
};
use domain::{chain, site::DatabaseIdentity};
use hyper_util::rt::TokioIo;
use secrecy::ExposeSecret;
use std::{io, sync::Arc};
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Code, Status, Streaming,
    transport::{Channel, Endpoint},
};

pub(super) struct Welcomed {
    pub session: Arc<Session>,
    pub inbound: Streaming<v1::FromCentral>,
    pub database: DatabaseIdentity,
    pub central: String,
    pub heard: Arc<InboundActivity>,
}

/// Why there is no session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missed {
    pub why: String,
    /// Central answered and said no: asking again soon does not help.
    pub refused: bool,
}

impl Missed {
    fn unreachable(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            refused: false,
        }
    }
}

pub(super) async fn connect(options: &Options, address: &Address) -> Result<Welcomed, Missed> {
    let within = options.pace.connect;
    let connected = timeout(within, open(options, address)).await;
    connected.unwrap_or_else(|_| {
        let why = format!("{address} did not answer within {} s", within.as_secs());
        Err(Missed::unreachable(why))
    })
}

/// A connection, and what is heard on it.
pub(super) async fn channel(
    options: &Options,
    address: &Address,
) -> Result<(Channel, Arc<InboundActivity>), String> {
    let io = dial(options, address)
        .await
        .map_err(|e| words::not_reached(address, &e))?;
    let (io, heard) = Noted::over(io);
    // The connection is made already; the endpoint only needs a name to call it by.
    let ping = options.pace.keep_alive;
    let endpoint = Endpoint::from_static("http://central")
        .http2_keep_alive_interval(ping)
        .keep_alive_timeout(ping)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(8 << 20);
    let mut io = Some(TokioIo::new(io));
    let once = tower::service_fn(move |_| {
        let io = io.take().ok_or_else(|| io::Error::other("the link is over"));
        async move { io }
    });
    let channel = endpoint
        .connect_with_connector(once)
        .await
        .map_err(|e| format!("{address}: {}", chain(&e)))?;
    Ok((channel, heard))
}

async fn open(options: &Options, address: &Address) -> Result<Welcomed, Missed> {
    let (channel, heard) = channel(options, address).await.map_err(Missed::unreachable)?;
    let mut client = link_client::LinkClient::new(channel)
        .max_decoding_message_size(crate::sizes::MESSAGE_BYTES)
        .max_encoding_message_size(crate::sizes::MESSAGE_BYTES);

    let (out, frames) = mpsc::channel(64);
    let hello = v1::Hello {
        protocol: PROTOCOL,
        site: options.site.to_string(),
        node: options.node.clone(),
        key: options.key.expose_secret().to_owned(),
        version: options.version.clone(),
        buffer: options.buffer.as_bytes().to_vec(),
        run: options.run.as_bytes().to_vec(),
        turn: options.turn.map(Into::into),
    };
    out.try_send(v1::FromSite {
        call: 0,
        what: Some(SiteSays::Hello(hello)),
    })
    .map_err(|_| Missed::unreachable("the link broke"))?;
    let answer = client.connect(ReceiverStream::new(frames)).await;
    let mut inbound = answer.map_err(|s| missed(address, &s, &heard))?.into_inner();
    let frame = inbound.message().await.map_err(|s| missed(address, &s, &heard))?;
    let Some(CentralSays::Welcome(welcome)) = frame.and_then(|f| f.what) else {
        return Err(Missed::unreachable(format!("{address} did not say welcome")));
    };
    if welcome.protocol != PROTOCOL {
        return Err(Missed {
            why: format!(
                "{address} answers in link version {}, this site speaks {PROTOCOL}; update one of the two",
                welcome.protocol
            ),
            refused: true,
        });
    }
    let database = welcome.database.unwrap_or_default();
    let database = database
        .try_into()
        .map_err(|why| Missed::unreachable(format!("{address}: {why}")))?;
    let window = options.window.min(welcome.window as usize);
    Ok(Welcomed {
        session: Arc::new(Session::new(out, window, options.pace.answer)),
        inbound,
        database,
        central: format!("{} ({})", welcome.node, welcome.version),
        heard,
    })
}

async fn dial(options: &Options, address: &Address) -> io::Result<Box<dyn Io>> {
    if !options.insecure
        && let Some(danger) = address.danger()
    {
        return Err(io::Error::other(danger));
    }
    let io = options.dial.dial(address).await?;
    match (&options.tls, address.tls) {
        (_, false) => Ok(io),
        (Some(tls), true) => tls.connect(&address.host, io).await,
        (None, true) => Err(io::Error::other("TLS is not set up")),
    }
}

/// What a gRPC status means to a site.
fn missed(address: &Address, status: &Status, heard: &InboundActivity) -> Missed {
    if let Some(who) = words::stranger(address, status, heard) {
        return Missed::unreachable(format!("{address}: {who}"));
    }
    let refused = matches!(
        status.code(),
        Code::Unauthenticated | Code::PermissionDenied | Code::FailedPrecondition | Code::InvalidArgument
    );
    Missed {
        why: format!("{address}: {}", words::said(status)),
        refused,
    }
}
