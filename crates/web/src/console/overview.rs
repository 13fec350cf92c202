//! Everything at a glance: the figures, how they go, what is held, what fails.

use super::{
    failure::Result,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    live::is_live_refresh,
    show::{
        Badge, Chart, LaneShown, Spark, counted, cut, human_age, number, number_if_known, ok_badge,
        status_badge,
    },
    sites::known::{Known, known_sites},
};
use crate::{api::lists::encode, query::Params, state::Shared};
use askama::Template;
use axum::{extract::State, http::HeaderMap};
use central::lanes::LaneNow;
use domain::{Status, Zone, kpi::Kpis};
use std::time::Duration;
use store::{
    directory::Provider,
    loops::LoopReport,
    outbox::Lane,
    stats::{FailureGroup, Point, Series, Span},
};

/// One figure, where it leads, and which way it goes.
pub struct Tile {
    pub id: &'static str,
    pub name: &'static str,
    pub value: String,
    pub note: String,
    pub place: &'static str,
    pub spark: Spark,
    /// Worth a look.
    pub alarming: bool,
}

#[derive(Template)]
#[template(path = "overview/page.html")]
struct Page {
    frame: Frame,
    tiles: Vec<Tile>,
    /// Name, word, whether it is shown.
    spans: Vec<(&'static str, &'static str, bool)>,
    charts: Vec<Chart>,
    lanes: Vec<(Lane, LaneShown)>,
    sites: Vec<Known>,
    failures: Vec<FailureGroup>,
    more_failures: u64,
    loops: Vec<(&'static str, LoopReport)>,
    empty: bool,
}
framed!(Page);

const SHOWN_FAILURES: usize = 12;
const SHOWN_SITES: usize = 12;

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    headers: HeaderMap,
    mut params: Params,
) -> Result {
    let asked = params.text("span");
    let span = span_named(asked.as_deref());
    if span.is_none() {
        let known = Span::ALL.map(span_name).join(", ");
        params.problem("span", format!("must be one of {known}"));
    }
    params.finish()?;
    let span = span.unwrap_or_default();
    let tenant = signed.caller.tenant;
    let central = &state.central;
    let store = &central.store;
    let mut frame = Frame::new(&state, &signed, "Overview", Nav::Overview)
        .await?
        .live();
    let kpis = match is_live_refresh(&headers) {
        true => central.watched_kpis.get(Some(tenant)).await,
        false => None,
    };
    let kpis = match kpis {
        Some(kpis) => kpis,
        // Somebody came here, perhaps from what they have just done.
        None => central.watched_kpis.now(tenant).await?,
    };
    frame.parked = Some(kpis.parked_count);
    let hour = store.series(tenant, Span::Hour).await?;
    let series = match span {
        Span::Hour => hour.clone(),
        other => store.series(tenant, other).await?,
    };
    let lanes = central.lanes(tenant).await?;
    let providers = store.providers(tenant).await?;
    let mut failures = store.failures(tenant).await?;
    let more_failures = failures.len().saturating_sub(SHOWN_FAILURES) as u64;
    failures.truncate(SHOWN_FAILURES);
    let mut sites = known_sites(&state, tenant).await?;
    sites.truncate(SHOWN_SITES);
    let empty = providers.is_empty();
    let page = Page {
        tiles: tiles(
            &kpis,
            &hour,
            central.settings.kpi.delivered_window,
            central.settings.kpi.stuck_after,
        ),
        charts: charts(&series, &frame.zone),
        lanes: shown_lanes(lanes, &providers),
        loops: central.loops.reports().into_iter().collect(),
        spans: Span::ALL
            .map(|one| (span_name(one), span_word(one), one == span))
            .to_vec(),
        frame,
        sites,
        failures,
        more_failures,
        empty,
    };
    Ok(page.show(&state))
}

/// Lanes that somebody has to know of, what is wrong first. One outlives its provider, and some have none.
fn shown_lanes(mut lanes: Vec<LaneNow>, providers: &[Provider]) -> Vec<(Lane, LaneShown)> {
    let has_provider = |lane: &Lane| {
        let mut providers = providers.iter();
        providers.any(|one| one.provider.id.as_str() == lane.provider)
    };
    lanes.sort_by_key(|now| {
        let waiting = now.lane.waiting;
        (!now.report.is_wrong(waiting), waiting == 0)
    });
    lanes
        .into_iter()
        .filter(|now| now.lane.waiting > 0 || has_provider(&now.lane))
        .map(|now| (now.lane, now.report.into()))
        .collect()
}

fn span_named(asked: Option<&str>) -> Option<Span> {
    let Some(name) = asked else {
        return Some(Span::Hour);
    };
    Span::ALL.into_iter().find(|span| span_name(*span) == name)
}

fn span_name(span: Span) -> &'static str {
    match span {
        Span::Hour => "hour",
        Span::Day => "day",
        Span::Week => "week",
    }
}

fn span_word(span: Span) -> &'static str {
    match span {
        Span::Hour => "1 hour",
        Span::Day => "24 hours",
        Span::Week => "7 days",
    }
}

fn failure_badge(group: &FailureGroup) -> Badge {
    status_badge(if group.parked {
        &Status::Parked
    } else {
        &Status::Retrying
    })
}

fn spark(hour: &Series, figure: impl Fn(&Point) -> u64) -> Spark {
    Spark(hour.points.iter().map(figure).map(Some).collect())
}

/// Of what is sampled once a minute: the minute that has begun ends where things are now. A minute in which nobody looked is no
/// minute in which there was nothing.
fn sampled(hour: &Series, now: u64, figure: impl Fn(&Point) -> u64) -> Spark {
    let known = hour
        .points
        .iter()
        .map(|point| point.sampled.then(|| figure(point)));
    let mut line = Spark(known.collect());
    if let Some(last) = line.0.last_mut() {
        *last = Some(now);
    }
    line
}

fn tiles(kpis: &Kpis, hour: &Series, window: Duration, stuck_after: Duration) -> Vec<Tile> {
    let oldest = kpis.oldest_pending_age_seconds.map(Duration::from_secs);
    let tile = |id, name, value: String, place| Tile {
        id,
        name,
        value,
        note: String::new(),
        place,
        spark: Spark::default(),
        alarming: false,
    };
    vec![
        Tile {
            spark: sampled(hour, kpis.queue_depth, |p| p.depth),
            note: "pending and retrying".into(),
            ..tile(
                "waiting",
                "Waiting",
                number(kpis.queue_depth),
                "/notifications?status=Pending&status=Retrying",
            )
        },
        Tile {
            spark: sampled(hour, kpis.stuck_count, |p| p.stuck),
            note: format!("waiting longer than {}", human_age(stuck_after)),
            alarming: kpis.stuck_count > 0,
            ..tile(
                "stuck",
                "Stuck",
                number(kpis.stuck_count),
                "/notifications?stuck=true",
            )
        },
        Tile {
            spark: sampled(hour, kpis.parked_count, |p| p.parked_now),
            note: "given up until somebody decides".into(),
            alarming: kpis.parked_count > 0,
            ..tile(
                "parked",
                "Parked",
                number(kpis.parked_count),
                "/notifications?status=Parked",
            )
        },
        Tile {
            spark: spark(hour, |p| p.delivered),
            note: format!("in the last {}", human_age(window)),
            ..tile(
                "delivered",
                "Delivered",
                number(kpis.delivered_last_interval),
                "/notifications?status=Delivered",
            )
        },
        Tile {
            spark: sampled(hour, oldest.unwrap_or_default().as_secs(), |p| p.oldest_seconds),
            note: "age of what waits longest".into(),
            alarming: oldest.is_some_and(|age| age > stuck_after),
            ..tile(
                "oldest",
                "Oldest waiting",
                oldest.map_or("–".into(), human_age),
                "/notifications?status=Pending&status=Retrying",
            )
        },
    ]
}

fn charts(series: &Series, zone: &Zone) -> Vec<Chart> {
    let chart = |name, tone, list, figure: fn(&Point) -> u64| Chart {
        name,
        tone,
        start: series.start,
        step: series.step,
        values: series.points.iter().map(figure).collect(),
        zone: zone.clone(),
        list,
    };
    vec![
        // What happened then has any status by now, and came in at any time: what was done at that time is told in the log.
        chart(
            "Delivered",
            "good",
            "/audit?kind=NotifyDeliver&amp;status=Delivered&amp;",
            |p| p.delivered,
        ),
        chart(
            "Failed and parked",
            "bad",
            "/audit?kind=NotifyDeliver&amp;status=Parked&amp;",
            |p| p.parked,
        ),
        chart("Retried", "busy", "/audit?retried=true&amp;", |p| p.retried),
        chart("Accepted", "quiet", "/notifications?", |p| p.accepted),
    ]
}
