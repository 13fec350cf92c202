//! The list of notifications: filters in the address, pages by key, rows to act on.

use super::{
    failure::Result,
    filter::{Asked, Back, RANGES, back_suffix},
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{Badge, cut, number, status_badge},
};
use crate::{paging, query::Params, state::Shared};
use askama::Template;
use axum::{
    extract::State,
    response::{Html, IntoResponse},
};
use central::waiting;
use domain::{Channel, NotificationId, Status, Target, Timestamp, WaitReason, Waiting, kpi::is_stuck};
use store::query::{Notification, Page as Asking};

/// Rows of a page.
const LIMIT: u32 = 50;
/// Rows that are fetched again at once.
const MOST_ROWS: usize = 100;

/// One row, as it is shown.
pub struct Row {
    pub id: NotificationId,
    pub status: Status,
    pub stuck: bool,
    /// Why it waits, while it does.
    pub waiting: Option<Waiting>,
    pub subject: String,
    pub to: String,
    pub channel: Channel,
    pub provider: Option<String>,
    pub site: Option<String>,
    pub attempts: u32,
    pub code: Option<String>,
    pub error: Option<String>,
    pub created_at: Timestamp,
}

#[derive(Template)]
#[template(path = "notifications/page.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    rows: Vec<Row>,
    /// The address of the next page.
    older: Option<String>,
    /// This is not the first page.
    paged: bool,
    /// The page ended because too much was looked at.
    bounded: bool,
    query: String,
    /// What the address of a row carries, so that its page leads back to this view.
    back: String,
    /// Why there is no acting on all that match.
    no_bulk: Option<String>,
    providers: Vec<String>,
    lists: Vec<String>,
    sites: Vec<String>,
}
framed!(Page);

/// Only rows, to put in the place of those on the page.
#[derive(Template)]
#[template(path = "notifications/rows.html")]
struct Rows {
    frame: Frame,
    back: String,
    rows: Vec<Row>,
}

impl Row {
    pub async fn of(found: Notification, state: &Shared, now: Timestamp) -> Result<Self> {
        let waiting = waiting::of(&state.central.directory, &found, now).await?;
        let s = found.submission;
        Ok(Self {
            id: s.id,
            status: found.status,
            stuck: waiting.is_some()
                && is_stuck(found.waiting_since, now, state.central.settings.kpi.stuck_after),
            to: to(&s.content.target),
            channel: s.content.channel(),
            subject: s.content.subject,
            provider: found.provider.filter(|name| !name.is_empty()),
            site: s.provenance.site,
            attempts: found.retry_count,
            code: found.last_code,
            error: found.last_error,
            created_at: found.created_at,
            waiting,
        })
    }

    /// For the row's own words: what it is called when read aloud.
    pub fn name(&self) -> String {
        match self.subject.trim() {
            "" => format!("{} without a subject", self.channel),
            subject => cut(subject, 120),
        }
    }
}

/// Whom it goes to, in a few words.
pub fn to(target: &Target) -> String {
    match target {
        Target::List(name) => format!("list {name}"),
        Target::Recipients(to) => match to.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        },
        Target::Provider => String::new(),
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = Asked::read(&mut params);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let tenant = signed.caller.tenant;
    let frame = Frame::new(&state, &signed, "Notifications", Nav::Notifications)
        .await?
        .live();
    let store = &state.central.store;
    let filter = asked.filter(frame.now, state.central.settings.kpi.stuck_after);
    let paged = after.is_some();
    let found = store
        .list(tenant, &filter, Asking { limit: LIMIT, after })
        .await?;
    let query = asked.query();
    let older = found.next.map(|next| {
        let and = if query.is_empty() { "" } else { "&" };
        format!("/notifications?{query}{and}cursor={}", paging::print_cursor(next))
    });
    let bounded = older.is_some() && found.rows.len() < LIMIT as usize;
    let providers = store.providers(tenant).await?;
    let lists = store.lists(tenant).await?;
    let sites = store.kpis_by_site(tenant, state.central.settings.kpi).await?;
    let mut rows = Vec::with_capacity(found.rows.len());
    for row in found.rows {
        rows.push(Row::of(row, &state, frame.now).await?);
    }
    let page = Page {
        rows,
        no_bulk: asked.bulk(frame.now).err(),
        providers: providers.into_iter().map(|p| p.provider.id.to_string()).collect(),
        lists: lists.into_iter().map(|list| list.name).collect(),
        sites: sites
            .into_iter()
            .map(|(site, _)| site)
            .filter(|site| !site.is_empty())
            .collect(),
        frame,
        asked,
        older,
        paged,
        bounded,
        back: back_suffix(&query),
        query,
    };
    Ok(page.show(&state))
}

/// The rows of these ids as they are now.
pub async fn rows(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let frame = Frame::new(&state, &signed, "", Nav::Notifications).await?;
    let mut rows = vec![];
    let back = Back::read(&mut params).suffix();
    let ids = params.several::<NotificationId>("id");
    params.finish()?;
    for id in ids.into_iter().take(MOST_ROWS) {
        if let Some(found) = state.central.store.get(signed.caller.tenant, id).await? {
            rows.push(Row::of(found, &state, frame.now).await?);
        }
    }
    let text = Rows { frame, back, rows }.render().unwrap_or_default();
    Ok(Html(text).into_response())
}
