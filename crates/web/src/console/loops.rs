//! Background loops of this node: last run, how long, what came of it, when next.

use super::{
    download::{Column, Download},
    failure::Result,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{number, ok_badge, took},
};
use crate::{csv::Cell, state::Shared};
use askama::Template;
use axum::extract::State;
use domain::{Timestamp, retry::human};
use store::{directory::Role, loops::Worked};

pub struct Row {
    name: &'static str,
    what: &'static str,
    ok: bool,
    result: String,
    /// What it did when it last had something to do.
    worked: Option<Worked>,
    at: Timestamp,
    running_since: Option<Timestamp>,
    next: Option<Timestamp>,
    duration_ms: u64,
    every: String,
    runs: u64,
    panics: u64,
}

impl Row {
    /// What it last did, where that was not in its last run.
    fn before(&self) -> Option<&Worked> {
        self.worked.as_ref().filter(|worked| worked.at != self.at)
    }
}

#[derive(Template)]
#[template(path = "loops/page.html")]
struct Page {
    frame: Frame,
    node: String,
    rows: Vec<Row>,
}
framed!(Page);

/// The loops of this node.
pub struct Loops;

impl Download for Loops {
    type Row = Row;
    type Filter = ();
    const FILE: &'static str = "loops.csv";
    const COLUMNS: &'static [Column<Row>] = &[
        ("name", |row| Cell::plain(row.name)),
        ("ok", |row| Cell::plain(row.ok)),
        ("result", |row| Cell::text(&row.result)),
        ("at", |row| Cell::plain_or_empty((row.runs > 0).then_some(row.at))),
        ("durationMs", |row| {
            Cell::plain_or_empty((row.runs > 0).then_some(row.duration_ms))
        }),
        ("lastWorkAt", |row| {
            Cell::plain_or_empty(row.worked.as_ref().map(|worked| worked.at))
        }),
        ("lastWork", |row| {
            Cell::text_or_empty(row.worked.as_ref().map(|worked| &worked.did))
        }),
        ("runningSince", |row| Cell::plain_or_empty(row.running_since)),
        ("nextRun", |row| Cell::plain_or_empty(row.next)),
        ("every", |row| Cell::plain(&row.every)),
        ("runs", |row| Cell::plain(row.runs)),
        ("panics", |row| Cell::plain(row.panics)),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Row>> {
        Ok(rows(state, signed))
    }
}

fn rows(state: &Shared, signed: &Signed) -> Vec<Row> {
    // The words of a failure are for those who run the place.
    let may_read = matches!(signed.caller.role, Role::Admin | Role::Ops);
    let rows = state.central.loops.reports().into_values().map(|report| Row {
        name: report.about.name,
        what: report.about.what,
        ok: report.result.is_ok(),
        worked: report.worked,
        at: report.at,
        running_since: report.running_since,
        next: report.next,
        duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
        every: human(report.about.every),
        runs: report.runs,
        panics: report.panics,
        result: match report.result {
            Ok(words) => words,
            Err(words) if may_read => words,
            Err(_) => "failed; the cause is in the server's log".into(),
        },
    });
    rows.collect()
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    let frame = Frame::new(&state, &signed, "Background loops", Nav::Loops)
        .await?
        .live();
    let page = Page {
        rows: rows(&state, &signed),
        node: state.central.settings.node.clone(),
        frame,
    };
    Ok(page.show(&state))
}
