//! The list of notifications: filters in the address, pages by key, rows to act on.

use super::{
    bulk::doing,
    failure::Result,
    filter::{Back, ListQuery, RANGES, back_suffix},
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    live::is_live_refresh,
    show::{Badge, cut, number, status_badge},
    total,
};
use crate::{api::export, paging, query::Params, state::Shared};
use askama::Template;
use axum::{
    extract::State,
    http::HeaderMap,
    response::{Html, IntoResponse},
};
use central::{jobs::Action, search, waiting};
use domain::{
    Channel, NotificationId, Status, Target, TenantId, Timestamp, WaitReason, Waiting,
    kpi::{Kpis, is_stuck},
};
use store::{
    query::{Counted, Filter, Notification, Page as PageRequest},
    users::SavedFilter,
};

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
    asked: ListQuery,
    rows: Vec<Row>,
    /// The address of the next page.
    older: Option<String>,
    /// This is not the first page.
    paged: bool,
    /// The search looked at the last days only, because nothing else was said.
    cut: bool,
    /// The page ended because too much was looked at.
    bounded: bool,
    query: String,
    /// What the address of a row carries, so that its page leads back to this view.
    back: String,
    /// How many there are in all, in words.
    total: String,
    /// What can be done to all that match.
    actions: Vec<Action>,
    /// Views that the viewer keeps.
    saved: Vec<SavedFilter>,
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

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    headers: HeaderMap,
    mut params: Params,
) -> Result {
    let asked = ListQuery::read(&mut params, &signed.zone);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let tenant = signed.caller.tenant;
    let mut frame = Frame::new(&state, &signed, "Notifications", Nav::Notifications)
        .await?
        .live();
    let store = &state.central.store;
    let filter = asked.filter(frame.now, state.central.settings.kpi.stuck_after);
    let paged = after.is_some();
    let asking = PageRequest { limit: LIMIT, after };
    // A search was cut to the last days if nothing else was said.
    let open = filter.from.is_none();
    let filter = search::resolve(&**store, tenant, filter, frame.now).await?;
    let cut = open && filter.from.is_some();
    let found = store.list(tenant, &filter, asking).await?;
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
    frame.parked = Some(sites.iter().map(|(_, kpis)| kpis.parked_count).sum());
    let counted = (!paged)
        .then(|| total::of_first_page(rows.len(), older.is_some(), bounded))
        .flatten();
    let view = View {
        tenant,
        asked: &asked,
        filter: &filter,
        live: is_live_refresh(&headers),
    };
    let page = Page {
        total: total(&state, &view, &sites, counted).await?,
        rows,
        actions: asked.actions(frame.now),
        saved: store.saved_filters(signed.user.id, tenant).await?,
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
        cut,
        bounded,
        back: back_suffix(&query),
        query,
    };
    Ok(page.show(&state))
}

/// How many there are in all, in words; `counted` if the page has told already.
async fn total(
    state: &Shared,
    view: &View<'_>,
    sites: &[(String, Kpis)],
    counted: Option<Counted>,
) -> Result<String> {
    if let Some(counted) = counted {
        return Ok(total::in_words(counted));
    }
    if let Some(words) = total::in_figures(view.asked, sites) {
        return Ok(words);
    }
    let (counts, words) = (&state.central.watched_counts, view.asked.query());
    let counted = match view.live {
        true => counts.get(view.tenant, &words, view.filter).await?,
        false => counts.now(view.tenant, &words, view.filter).await?,
    };
    Ok(total::in_words(counted))
}

/// What is counted, and for whom.
struct View<'a> {
    tenant: TenantId,
    asked: &'a ListQuery,
    filter: &'a Filter,
    /// The page asks for itself again.
    live: bool,
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = ListQuery::read(&mut params, &signed.zone);
    params.finish()?;
    let now = state.central.clock.now();
    let filter = asked.filter(now, state.central.settings.kpi.stuck_after);
    Ok(export::csv(state, signed.caller.tenant, filter, None, None).await?)
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
