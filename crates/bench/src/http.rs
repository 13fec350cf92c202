//! HTTP at its barest: a receiver that says ok, and a client that posts.

use crate::limits::{Handler, Sample, per_second};
use anyhow::ensure;
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use std::{convert::Infallible, sync::Arc, time::Instant};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
};

/// Connections of the bare client.
const CONNECTIONS: u64 = 64;

/// Says where it listens, then takes whatever is posted until standard input ends.
pub async fn sink() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    crate::line(format_args!("http://{}", listener.local_addr()?))?;
    let accept = async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(take(stream));
        }
    };
    let mut nothing = [0];
    let mut input = tokio::io::stdin();
    tokio::select! {
        failed = accept => failed,
        _ = input.read(&mut nothing) => Ok(()),
    }
}

async fn take(stream: TcpStream) {
    let service = service_fn(|request: Request<Incoming>| async move {
        let _ = request.into_body().collect().await;
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
    });
    let connection = hyper::server::conn::http1::Builder::new();
    // A client that goes away in the middle is its own business.
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

/// A client that keeps its connections and does nothing that is not needed.
#[derive(Debug, Clone)]
pub struct Bare {
    client: Client<HttpConnector, Full<Bytes>>,
    url: Arc<str>,
    headers: Vec<(&'static str, String)>,
}

impl Bare {
    pub fn new(url: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            url: url.into(),
            headers: vec![("content-type", "application/json".to_owned())],
        }
    }

    pub fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Posts a body and reads the answer to its end.
    pub async fn post(&self, body: Bytes) -> anyhow::Result<()> {
        let mut request = Request::post(&*self.url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let answer = self.client.request(request.body(Full::new(body))?).await?;
        let status = answer.status();
        let said = answer.into_body().collect().await?.to_bytes();
        ensure!(
            status.is_success(),
            "{status}: {}",
            String::from_utf8_lossy(&said)
        );
        Ok(())
    }

    /// Reads what is at a path, to its end.
    pub async fn get(&self, path: &str) -> anyhow::Result<()> {
        let mut request = Request::get(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let answer = self.client.request(request.body(Full::default())?).await?;
        let status = answer.status();
        answer.into_body().collect().await?;
        ensure!(status.is_success(), "{status}");
        Ok(())
    }

    /// Posts bodies as fast as it goes; requests per second.
    pub async fn blast(&self, requests: u64) -> anyhow::Result<f64> {
        let start = Instant::now();
        let mut tasks = vec![];
        for first in 0..CONNECTIONS {
            let client = self.clone();
            tasks.push(tokio::spawn(async move {
                for n in (first..requests).step_by(CONNECTIONS as usize) {
                    client.post(Bytes::from(Sample::payload(n))).await?;
                }
                anyhow::Ok(())
            }));
        }
        for task in tasks {
            task.await??;
        }
        Ok(per_second(requests, start.elapsed()))
    }

    /// For the prototypes, which know no HTTP.
    pub fn handler(&self) -> Handler {
        let client = self.clone();
        Arc::new(move |body| {
            let client = client.clone();
            async move {
                if let Err(error) = client.post(body).await {
                    tracing::error!(error = %error, "the sink did not take a body");
                }
            }
            .boxed()
        })
    }
}
