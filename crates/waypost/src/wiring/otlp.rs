//! Sends spans to a collector by OTLP: HTTP and JSON, as the OpenTelemetry protocol has it.
//!
//! Always true: who tells of a span never waits and never fails. What the queue has no room for, or the collector does
//! not take, is counted (`waypost_spans_dropped_total`) and gone; that the collector is away is logged once.

use crate::config::telemetry::Endpoint;
use anyhow::Context;
use bytes::Bytes;
use delivery::Outside;
use domain::{
    Clock,
    retry::slower,
    trace::{Span, SpanKind, SpanSink, Tracer},
};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, Uri, header};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

/// Spans that may wait to be sent; about a megabyte.
const QUEUE: usize = 4096;
/// Spans in one request.
const BATCH: usize = 512;
/// A request has a price of its own: the first span waits this long for others.
const GATHER_FOR: Duration = Duration::from_secs(1);
/// The longest a request may take.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest the last spans may take when the process stops.
const LAST_TIMEOUT: Duration = Duration::from_secs(2);
/// The wait after a request that failed, at first.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The most that is read of an answer.
const ANSWER_BYTES: usize = 64 << 10;
/// The wall clock was set, or drifted, when it is further than this from what the process counted.
const CLOCK_STEP_NANOS: u64 = 20_000_000;

/// Who tells: a node of central, or a site.
#[derive(Debug, Clone)]
pub struct Resource {
    pub service: &'static str,
    /// This process among its like.
    pub instance: String,
}

/// A collector being told.
#[derive(Debug)]
pub struct Exporter {
    pub tracer: Tracer,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Exporter {
    /// Without an endpoint nothing is told and nothing runs.
    pub fn start(
        endpoint: Option<&Endpoint>,
        resource: Resource,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let Some(endpoint) = endpoint else {
            return Ok(Self {
                tracer: Tracer::default(),
                stop,
                task: None,
            });
        };
        let (sender, queue) = mpsc::channel(QUEUE);
        let sending = Sending {
            uri: endpoint.traces(),
            shown: endpoint.to_string(),
            client: client(clock.clone()).context("traces cannot be sent")?,
            resource,
            times: Times::new(clock),
            down: None,
        };
        Ok(Self {
            tracer: Tracer::to(Arc::new(Queue(sender))),
            task: Some(tokio::spawn(sending.run(queue, stop.clone()))),
            stop,
        })
    }

    /// Sends what is left, for as long as that may take.
    pub async fn close(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

/// The near end of the queue.
#[derive(Debug)]
struct Queue(mpsc::Sender<Span>);

impl SpanSink for Queue {
    fn take(&self, span: Span) {
        if self.0.try_send(span).is_err() {
            dropped(1);
        }
    }
}

fn dropped(spans: usize) {
    metrics::counter!("waypost_spans_dropped_total").increment(spans as u64);
}

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

fn client(clock: Arc<dyn Clock>) -> anyhow::Result<HttpClient> {
    let tls = Outside::new(clock).tls(None).map_err(anyhow::Error::msg)?;
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// The far end of the queue.
struct Sending {
    uri: Uri,
    shown: String,
    client: HttpClient,
    resource: Resource,
    times: Times,
    /// How long to wait after the next failure; none while the collector takes what it is sent.
    down: Option<Duration>,
}

impl Sending {
    async fn run(mut self, mut queue: mpsc::Receiver<Span>, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                n = queue.recv_many(&mut batch, BATCH) => if n == 0 { return },
            }
            let more = async {
                tokio::time::sleep(GATHER_FOR).await;
                while batch.len() < BATCH
                    && let Ok(span) = queue.try_recv()
                {
                    batch.push(span);
                }
            };
            tokio::select! { biased; () = stop.cancelled() => break, () = more => {} }
            self.send(std::mem::take(&mut batch), SEND_TIMEOUT).await;
            if let Some(wait) = self.down {
                tokio::select! { biased; () = stop.cancelled() => break, () = tokio::time::sleep(wait) => {} }
            }
        }
        let last = async {
            loop {
                while batch.len() < BATCH
                    && let Ok(span) = queue.try_recv()
                {
                    batch.push(span);
                }
                if batch.is_empty() {
                    return;
                }
                self.send(std::mem::take(&mut batch), LAST_TIMEOUT).await;
            }
        };
        let _ = timeout(LAST_TIMEOUT, last).await;
    }

    async fn send(&mut self, batch: Vec<Span>, patience: Duration) {
        let body = document(&batch, &self.resource, &mut self.times).to_string();
        let sent = match timeout(patience, self.post(body)).await {
            Ok(sent) => sent,
            Err(_) => Err("no answer in time".to_owned()),
        };
        match (sent, self.down) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                tracing::info!(address = self.shown, "traces are sent again");
                self.down = None;
            }
            (Err(why), before) => {
                dropped(batch.len());
                if before.is_none() {
                    tracing::warn!(
                        address = self.shown,
                        reason = why,
                        "traces cannot be sent; they are dropped until the collector takes them"
                    );
                }
                self.down = Some(before.map_or(FIRST_WAIT, slower));
            }
        }
    }

    async fn post(&self, body: String) -> Result<(), String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.uri)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("Waypost/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(Bytes::from(body)))
            .map_err(|e| e.to_string())?;
        let answer = self
            .client
            .request(request)
            .await
            .map_err(|e| domain::chain(&e))?;
        let status = answer.status();
        // Read to its end, so that the connection can be used again.
        let _ = Limited::new(answer.into_body(), ANSWER_BYTES).collect().await;
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("it answered {status}")),
        }
    }
}

/// Moments of this process as times of the world. Read seldom, so that the spans of a trace stay in order.
struct Times {
    clock: Arc<dyn Clock>,
    at: Instant,
    unix_nanos: u64,
}

impl Times {
    fn new(clock: Arc<dyn Clock>) -> Self {
        let (at, unix_nanos) = (Instant::now(), unix_nanos(&*clock));
        Self {
            clock,
            at,
            unix_nanos,
        }
    }

    /// Follows the wall clock when it was set.
    fn check(&mut self) {
        let (now, wall) = (Instant::now(), unix_nanos(&*self.clock));
        if self.of(now).abs_diff(wall) > CLOCK_STEP_NANOS {
            (self.at, self.unix_nanos) = (now, wall);
        }
    }

    fn of(&self, moment: Instant) -> u64 {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        match moment.checked_duration_since(self.at) {
            Some(later) => self.unix_nanos.saturating_add(nanos(later)),
            None => self
                .unix_nanos
                .saturating_sub(nanos(self.at.duration_since(moment))),
        }
    }
}

fn unix_nanos(clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now().as_millis())
        .unwrap_or(0)
        .saturating_mul(1_000_000)
}

/// An `ExportTraceServiceRequest` as the protocol writes it in JSON.
fn document(batch: &[Span], resource: &Resource, times: &mut Times) -> Value {
    times.check();
    let spans: Vec<Value> = batch.iter().map(|span| shown(span, times)).collect();
    let about = [
        ("service.name", resource.service),
        ("service.instance.id", &resource.instance),
        ("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let about: Vec<Value> = about.iter().map(|(key, value)| attribute(key, value)).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": about},
        "scopeSpans": [{"scope": {"name": "waypost"}, "spans": spans}],
    }]})
}

fn shown(span: &Span, times: &Times) -> Value {
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    let attributes: Vec<Value> = span
        .attributes
        .iter()
        .map(|(key, value)| attribute(key, value))
        .collect();
    let status = match &span.failed {
        None => json!({"code": 1}),
        Some(why) => json!({"code": 2, "message": why}),
    };
    json!({
        "traceId": span.context.trace_id(),
        "spanId": span.context.span_id(),
        "parentSpanId": span.parent.map_or_else(String::new, |parent| parent.span_id()),
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": times.of(span.start).to_string(),
        "endTimeUnixNano": times.of(span.end).to_string(),
        "attributes": attributes,
        "status": status,
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}
