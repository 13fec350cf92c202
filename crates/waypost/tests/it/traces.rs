//! Traces, from the caller's `traceparent` to a collector: real processes, and a collector on a real socket.

use crate::{
    harness::{Place, Server, serving},
    http::ask,
};
use serde_json::Value;
use simulator::{HttpOptions, HttpReceiver};
use std::{collections::BTreeMap, process::Stdio};
use testkit::until;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn traceparent() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

/// One span as the collector got it.
#[derive(Debug, Clone)]
struct Got {
    service: String,
    name: String,
    trace: String,
    id: String,
    parent: String,
    start: u64,
    end: u64,
}

/// Takes OTLP over HTTP and keeps what it is sent.
struct Collector {
    receiver: HttpReceiver,
}

impl Collector {
    async fn start() -> Self {
        let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
        Self { receiver }
    }

    fn url(&self) -> String {
        self.receiver.url("")
    }

    fn spans(&self) -> Vec<Got> {
        let requests = self.receiver.requests();
        let told = requests.iter().filter(|request| request.path == "/v1/traces");
        told.flat_map(|request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            body["resourceSpans"].as_array().unwrap().clone()
        })
        .flat_map(|resource| {
            let service = resource["resource"]["attributes"][0]["value"]["stringValue"].clone();
            let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap().clone();
            spans.into_iter().map(move |span| {
                let text = |name: &str| span[name].as_str().unwrap().to_owned();
                Got {
                    service: service.as_str().unwrap().to_owned(),
                    name: text("name"),
                    trace: text("traceId"),
                    id: text("spanId"),
                    parent: text("parentSpanId"),
                    start: text("startTimeUnixNano").parse().unwrap(),
                    end: text("endTimeUnixNano").parse().unwrap(),
                }
            })
        })
        .collect()
    }

    /// The spans of the caller's trace, once there are so many, by service and name.
    async fn trace(&self, n: usize) -> BTreeMap<(String, String), Got> {
        let mut found = BTreeMap::new();
        until("the spans", async || {
            let spans = self.spans().into_iter().filter(|span| span.trace == TRACE);
            found = spans
                .map(|span| ((span.service.clone(), span.name.clone()), span))
                .collect();
            found.len() >= n
        })
        .await;
        assert_eq!(found.len(), n, "{found:?}");
        for span in found.values() {
            assert!(span.start <= span.end, "{span:?}");
        }
        found
    }
}

/// Each is a child of the one before; the first of the caller.
fn is_chain(trace: &BTreeMap<(String, String), Got>, chain: &[(&str, &str)]) {
    let mut parent = CALLER.to_owned();
    for (service, name) in chain {
        let span = &trace[&(String::from(*service), String::from(*name))];
        assert_eq!(span.parent, parent, "the parent of {service} {name}: {trace:?}");
        parent.clone_from(&span.id);
    }
}

fn server(endpoint: &str) -> Server {
    Server::in_place(Place::new().with("WAYPOST_TELEMETRY__OTLP_ENDPOINT", endpoint))
}

fn submit(server: &Server, body: &str) {
    let headers = format!(
        "authorization: Bearer {}\r\ntraceparent: {}\r\n",
        crate::harness::KEY,
        traceparent()
    );
    let answer = ask(server.url(), "POST", "/api/notifications", &headers, body);
    assert!(answer.starts_with("HTTP/1.0 202"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn submit_claim_attempt_and_record_are_one_trace_which_a_webhook_gets_to_go_on_with() {
    let collector = Collector::start().await;
    let server = server(&collector.url());
    let hook = format!("url={}", collector.receiver.url("/hook"));
    server
        .run(&[
            "provider", "add", "--kind", "webhook", "--id", "hook", "--set", &hook,
        ])
        .done();
    submit(&server, r#"{"providerId":"hook","body":"x"}"#);
    let trace = collector.trace(4).await;
    is_chain(
        &trace,
        &["submit", "claim", "attempt", "record"].map(|name| ("waypost", name)),
    );
    let attempt = &trace[&("waypost".to_owned(), "attempt".to_owned())];
    let requests = collector.receiver.requests();
    let hooked = requests.iter().find(|request| request.path == "/hook").unwrap();
    assert_eq!(
        hooked.header("traceparent"),
        Some(format!("00-{TRACE}-{}-01", attempt.id).as_str())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_goes_on_across_the_link_of_a_site() {
    let collector = Collector::start().await;
    let server = server(&collector.url());
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    let key = server.run(&["sites", "add", "north"]).done().out();
    let site = Place::new().with("WAYPOST_TELEMETRY__OTLP_ENDPOINT", &collector.url());
    let config = format!(
        "[site]\nid = \"north\"\nlisten = \"127.0.0.1:0\"\nkey = {:?}\ncentral = [\"http://{}\"]\n",
        key.lines().last().unwrap(),
        server.link_address(),
    );
    site.write("waypost.toml", &config);
    let mut command = site.command(&["site"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let (_agent, url) = serving(command, "site north is listening on ");
    let headers = format!("traceparent: {}\r\n", traceparent());
    let body = r#"{"type":"Capture","providerId":"cap","body":"x"}"#;
    let answer = ask(&url, "POST", "/notify", &headers, body);
    assert!(answer.starts_with("HTTP/1.0 202"), "{answer}");
    is_chain(
        &collector.trace(6).await,
        &[
            ("waypost-site", "submit"),
            ("waypost-site", "forward"),
            ("waypost", "submit"),
            ("waypost", "claim"),
            ("waypost", "attempt"),
            ("waypost", "record"),
        ],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_costs_no_delivery_is_told_once_and_what_is_dropped_is_counted() {
    let server = server("http://127.0.0.1:9");
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    let dropped = || {
        let metrics = ask(server.url(), "GET", "/metrics", "", "");
        let line = metrics
            .lines()
            .find_map(|l| l.strip_prefix("waypost_spans_dropped_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    for round in 1..=2 {
        server
            .run(&["notify", "--provider", "cap", "--body", "x", "--wait"])
            .done();
        until("spans to be dropped", async || dropped() >= round * 4).await;
    }
    let log = server.terminate_and_read_log();
    assert_eq!(log.matches("traces cannot be sent").count(), 1, "{log}");
}
