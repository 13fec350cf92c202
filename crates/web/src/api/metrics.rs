//! Prometheus text: what was counted, and the state of the outbox a few seconds ago at most.
//!
//! Always true: it is open to everybody who can reach it, so it costs no more the more often it is read, and nothing in
//! it belongs to one tenant.

use crate::state::Shared;
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::kpi::Kpis;
use std::fmt::Write;

pub async fn scrape(State(state): State<Shared>) -> Response {
    let mut text = state
        .metrics
        .as_ref()
        .map(|handle| handle.render())
        .unwrap_or_default();
    // Counted once every few seconds, however often somebody asks: nobody is asked who they are.
    write_gauges(&mut text, state.central.watched_kpis.get(None).await);
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response()
}

/// Without figures the gauges are left out rather than shown as zero.
fn write_gauges(text: &mut String, kpis: Option<Kpis>) {
    let mut gauge = |name: &str, help: &str, value: u64| {
        let _ = write!(
            text,
            "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"
        );
    };
    gauge(
        "waypost_store_up",
        "Whether the store answered this scrape.",
        u64::from(kpis.is_some()),
    );
    let Some(kpis) = kpis else { return };
    gauge(
        "waypost_queue_depth",
        "Notifications that wait, all tenants.",
        kpis.queue_depth,
    );
    gauge(
        "waypost_parked",
        "Notifications that are parked, all tenants.",
        kpis.parked_count,
    );
    gauge(
        "waypost_stuck",
        "Notifications that wait longer than the threshold, all tenants.",
        kpis.stuck_count,
    );
    let oldest = kpis.oldest_pending_age_seconds.unwrap_or(0);
    gauge(
        "waypost_oldest_pending_seconds",
        "Age of the oldest notification that waits.",
        oldest,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_does_not_answer_shows_no_figures() {
        let mut text = String::new();
        write_gauges(&mut text, None);
        assert!(text.contains("waypost_store_up 0") && !text.contains("waypost_queue_depth"));
        let mut text = String::new();
        write_gauges(
            &mut text,
            Some(Kpis {
                queue_depth: 3,
                ..Kpis::default()
            }),
        );
        assert!(text.contains("\nwaypost_queue_depth 3\n") && text.contains("\nwaypost_parked 0\n"));
    }
}
