//! `/healthz` and `/metrics`.

use super::Api;
use crate::gauges;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::Timestamp;
use link::LinkState;
use serde_json::json;
use std::{collections::BTreeMap, time::Duration};
use store::loops::LoopReport;

/// Loops that talk to another machine: that it cannot be reached is told with the link and the pair.
const ABOUT_OTHERS: [&str; 3] = ["forward-own", "lease", "pair"];
/// A run that has lasted so long has got past whatever ended the one before it.
const STEADY_AFTER: Duration = Duration::from_secs(10);

/// 503 when messages are refused, the disk has failed or a part of the agent is gone. Damage that nobody has acknowledged is
/// `degraded`, and so is a loop whose last run failed: messages are taken. A link that is down is what a site is for, and is only
/// told.
pub async fn healthz(State(api): State<Api>) -> Response {
    let site = &api.agent.site;
    let broken = site.buffer.check().err().map(|e| domain::chain(&e));
    let broken = broken.or_else(|| api.agent.loops.ended().map(|gone| gone.to_string()));
    let refusing = broken.or_else(|| site.buffer.refusing());
    let link = match site.link() {
        Some(LinkState::Up { since, .. }) => json!({"up": true, "since": since}),
        Some(LinkState::Down { since, why }) => json!({"up": false, "since": since, "why": why}),
        None if site.is_standby() => json!({"up": false, "why": "this machine is the standby"}),
        None => json!({"up": false, "why": "no central is configured"}),
    };
    let depth = site.buffer.depth();
    let damage = super::damage::shown(site.buffer.damage().await.unwrap_or_default());
    let failing = failing_loops(&api.agent.loops.reports(), site.clock.now());
    let word = match (&refusing, damage.is_empty() && failing.is_empty()) {
        (Some(_), _) => "refusing",
        (None, false) => "degraded",
        (None, true) => "ok",
    };
    let down: Vec<_> = site
        .engine
        .down()
        .into_iter()
        .map(|((category, target), down)| {
            json!({"category": category.as_str(), "target": target, "since": down.since, "nextTryAt": down.next_try_at})
        })
        .collect();
    // Without the words: whoever can reach the address may ask this.
    let loops: Vec<_> = api
        .agent
        .loops
        .reports()
        .into_values()
        .map(|report| {
            json!({
                "name": report.about.name,
                "ok": report.result.is_ok(),
                "at": report.at,
                "durationMs": u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
                "runs": report.runs,
                "panics": report.panics,
                "runningSince": report.running_since,
                "nextRun": report.next,
            })
        })
        .collect();
    let pair = match site.pair() {
        Some(pair) => Some(super::pair::shown(&pair.status().await)),
        None => None,
    };
    let body = json!({
        "status": word,
        "pair": pair,
        "damage": damage,
        "failing": failing,
        "forgottenUntil": site.shorter_memory(),
        "refusing": refusing,
        "site": site.settings.id.as_str(),
        "node": site.settings.node,
        "link": link,
        "waiting": depth.waiting(),
        "parked": depth.all_parked(),
        "withoutHandler": site.without_handler(),
        "down": down,
        "bufferBytes": depth.bytes,
        "loops": loops,
    });
    let status = match refusing {
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
        None => StatusCode::OK,
    };
    (status, Json(body)).into_response()
}

/// The names of loops whose last run failed.
fn failing_loops(reports: &BTreeMap<&'static str, LoopReport>, now: Timestamp) -> Vec<&'static str> {
    let steady = |since: Timestamp| now.since(since) >= STEADY_AFTER;
    reports
        .values()
        .filter(|report| report.result.is_err() && !report.running_since.is_some_and(steady))
        .map(|report| report.about.name)
        .filter(|name| !ABOUT_OTHERS.contains(name))
        .collect()
}

pub async fn metrics(State(api): State<Api>) -> Response {
    let Some(metrics) = &api.metrics else {
        return super::Problem::not_found("figures are not gathered in this process").into_response();
    };
    gauges::set(&api.agent.site);
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, metrics.render()).into_response()
}
