//! Background loops of this node: last run, how long, what came of it, when next.

use super::{
    failure::Result,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{number, ok_badge, took},
};
use crate::state::Shared;
use askama::Template;
use axum::extract::State;
use domain::{Timestamp, retry::human};
use store::directory::Role;

struct Row {
    name: &'static str,
    what: &'static str,
    ok: bool,
    result: String,
    at: Timestamp,
    running_since: Option<Timestamp>,
    next: Option<Timestamp>,
    took: String,
    every: String,
    runs: u64,
    panics: u64,
}

#[derive(Template)]
#[template(path = "loops/page.html")]
struct Page {
    frame: Frame,
    node: String,
    rows: Vec<Row>,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    let frame = Frame::new(&state, &signed, "Background loops", Nav::Loops)
        .await?
        .live();
    // The words of a failure are for those who run the place.
    let may_read = matches!(signed.caller.role, Role::Admin | Role::Ops);
    let rows = state.central.loops.reports().into_values().map(|report| Row {
        name: report.about.name,
        what: report.about.what,
        ok: report.result.is_ok(),
        at: report.at,
        running_since: report.running_since,
        next: report.next,
        took: took(u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX)),
        every: human(report.about.every),
        runs: report.runs,
        panics: report.panics,
        result: match report.result {
            Ok(words) => words,
            Err(words) if may_read => words,
            Err(_) => "failed; the cause is in the server's log".into(),
        },
    });
    let page = Page {
        rows: rows.collect(),
        node: state.central.settings.node.clone(),
        frame,
    };
    Ok(page.show(&state))
}
