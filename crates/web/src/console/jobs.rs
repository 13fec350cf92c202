//! Bulk actions: all of them, how far one is, and stopping it. A page of one loads itself again until it is done.

use super::{
    bulk::doing,
    download::{Column, Download},
    failure::Result,
    flash::Flash,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{Badge, number},
};
use crate::{
    api::{PathText, jobs, lists::encode},
    csv::Cell,
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::jobs::{Action, COUNT_BOUND, REPLAY};
use domain::Zone;
use store::jobs::Job;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "jobs/page.html")]
struct Page {
    frame: Frame,
    job: Job,
    verb: &'static str,
    handled: u64,
    /// For the bar.
    most: u64,
    shown: u64,
    at_least: bool,
    filter: Vec<(String, String)>,
    /// The site whose messages it is about, where it is not about notifications here.
    at_site: Option<String>,
    /// The page of what a replay is about.
    replayed: Option<&'static str>,
    can_stop: bool,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let id = Uuid::try_parse(&id).ok();
    let job = match id {
        Some(id) => state.central.jobs.get(signed.caller.tenant, id).await?,
        None => None,
    };
    let job = job.ok_or_else(|| Problem::not_found("job"))?;
    let verb = verb(&job);
    let mut frame = Frame::new(&state, &signed, format!("{verb} in bulk"), Nav::Jobs)
        .await?
        .live();
    frame.refresh = (!job.progress.finished).then_some(2);
    let handled = job.progress.done + job.progress.skipped;
    let most = job.total.max(handled).max(1);
    let page = Page {
        shown: if job.progress.finished { most } else { handled },
        most,
        handled,
        at_least: job.total >= COUNT_BOUND || fields_of(&job).contains_key("atLeast"),
        filter: filter_of(&job, &frame.zone),
        at_site: fields_of(&job)
            .get("atSite")
            .and_then(|site| site.as_str())
            .map(str::to_owned),
        replayed: replayed(&job),
        can_stop: !job.progress.finished && jobs::may_stop(&signed.caller, &job),
        frame,
        verb,
        job,
    };
    Ok(page.show(&state))
}

#[derive(Template)]
#[template(path = "jobs/list.html")]
struct All {
    frame: Frame,
    jobs: Vec<(Job, Vec<(String, String)>)>,
}
framed!(All);

/// The newest jobs.
pub struct Jobs;

impl Download for Jobs {
    type Row = Job;
    type Filter = ();
    const FILE: &'static str = "jobs.csv";
    const COLUMNS: &'static [Column<Job>] = &[
        ("id", |job| Cell::plain(job.id)),
        ("action", |job| Cell::plain(&job.action)),
        ("state", |job| Cell::plain(state_badge(job).word())),
        ("total", |job| Cell::plain(job.total)),
        ("done", |job| Cell::plain(job.progress.done)),
        ("skipped", |job| Cell::plain(job.progress.skipped)),
        ("error", |job| Cell::text_or_empty(job.progress.error.as_ref())),
        ("filter", |job| Cell::text(&job.filter)),
        ("reason", |job| Cell::text_or_empty(job.reason.as_ref())),
        ("actor", |job| Cell::text(&job.actor)),
        ("stoppedBy", |job| Cell::text_or_empty(job.stopped_by.as_ref())),
        ("createdAt", |job| Cell::plain(job.created_at)),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Job>> {
        Ok(state.central.jobs.newest(signed.caller.tenant).await?)
    }
}

pub async fn list(State(state): State<Shared>, signed: Signed) -> Result {
    let jobs = Jobs::rows(&state, &signed, &()).await?;
    let mut frame = Frame::new(&state, &signed, "Bulk actions", Nav::Jobs)
        .await?
        .live();
    frame.refresh = jobs.iter().any(|job| !job.progress.finished).then_some(2);
    let page = All {
        jobs: jobs
            .into_iter()
            .map(|job| (filter_of(&job, &frame.zone), job))
            .map(|(f, j)| (j, f))
            .collect(),
        frame,
    };
    Ok(page.show(&state))
}

/// Ends it where it is.
pub async fn stop(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let (job, ended) = jobs::end(&state, &signed.caller, &id).await?;
    let flash = match ended {
        true => Flash::good("It is stopped. What was done stays done."),
        false => Flash::bad("It had ended before it could be stopped."),
    };
    Ok(flash.at(&format!("/jobs/{}", job.id), &state.console))
}

fn replayed(job: &Job) -> Option<&'static str> {
    match fields_of(job).get("replay")?.as_str()? {
        "events" => Some("/events?status=Failed"),
        _ => Some("/schedules?status=Failed"),
    }
}

fn verb(job: &Job) -> &'static str {
    if job.action == REPLAY {
        return "Replay";
    }
    Action::named(&job.action).map_or("Retry", |action| doing(&action))
}

/// What has become of each row.
fn done_word(job: &Job) -> &'static str {
    match job.action.as_str() {
        "discard" => "discarded",
        "cancel" => "called off",
        "resend" => "sent once more",
        REPLAY => "worked on again",
        _ => "sent round again",
    }
}

fn state_badge(job: &Job) -> Badge {
    match (&job.stopped_by, &job.progress.error, job.progress.finished) {
        (Some(_), _, _) => Badge::STOPPED,
        (None, Some(_), _) => Badge::FAILED,
        (None, None, true) => Badge::DONE,
        (None, None, false) => Badge::WORKING,
    }
}

type JsonFields = serde_json::Map<String, serde_json::Value>;

fn fields_of(job: &Job) -> JsonFields {
    serde_json::from_str(&job.filter).unwrap_or_default()
}

/// What it acts on, in the words and the zone of whoever looks.
fn filter_of(job: &Job, zone: &Zone) -> Vec<(String, String)> {
    let mut fields = fields_of(job);
    // Of a job at a site the filter stands a level deeper, and its moment means nothing to people.
    if let Some(serde_json::Value::Object(inner)) = fields.remove("filter") {
        fields.extend(inner);
        fields.remove("until");
        fields.remove("atLeast");
    }
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut fields: Vec<_> = fields.iter().collect();
    // What it was about comes first, when that was counted last.
    fields.sort_by_key(|(name, _)| name.as_str() == "asOf");
    fields
        .into_iter()
        .map(|(name, value)| (label(name).to_owned(), readable(name, text(value), zone)))
        .collect()
}

/// The filter's name as the list of notifications has it.
fn label(name: &str) -> &str {
    if let Some(filter) = domain::TextFilter::named(name) {
        return filter.label;
    }
    match name {
        "type" => "Type",
        "from" => "Created after",
        "to" => "Created before",
        "q" => "Search",
        "id" => "Id",
        "status" => "Status",
        "asOf" => "As of",
        "atSite" => "Parked at the site",
        "target" => "Goes to",
        "category" => "Category",
        "instance" => "Instance",
        "replay" => "What",
        "eventType" => "Event type",
        "newTemplates" => "Newer templates too",
        "across" => "Tenants",
        other => other,
    }
}

/// Moments as everywhere else, the rest as it is.
fn readable(name: &str, text: String, zone: &Zone) -> String {
    match text.parse() {
        Ok(at) if name == "asOf" => zone.minute(at),
        Ok(at) if matches!(name, "from" | "to") => zone.exact(at),
        _ => text,
    }
}
