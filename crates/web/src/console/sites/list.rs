//! Every site: whether its agent is connected, what waits there, what came from it. A new site's key is shown
//! once: on the page that follows the form that made it known.

use super::known::{Known, known_sites};
use crate::{
    api::lists::encode,
    console::{
        download::{Column, Download},
        failure::Result,
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        once::Once,
        show::{age, number, number_if_known},
    },
    csv::Cell,
    origin,
    state::Shared,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::{FieldError, SiteId};

#[derive(Template)]
#[template(path = "sites/list.html")]
struct Page {
    frame: Frame,
    sites: Vec<Known>,
    bad: Vec<FieldError>,
    /// What was typed, to be corrected.
    id: String,
    /// Where its agent finds central, as far as this request tells.
    link: String,
}
framed!(Page);

/// Every site, and what came from none.
pub struct Sites;

impl Download for Sites {
    type Row = Known;
    type Filter = ();
    const FILE: &'static str = "sites.csv";
    const COLUMNS: &'static [Column<Known>] = &[
        ("id", |site| Cell::text(&site.id)),
        ("presence", |site| Cell::plain(site.link().badge.word())),
        ("since", |site| Cell::plain_or_empty(site.link().since)),
        ("reason", |site| Cell::text_or_empty(site.link().why)),
        ("conflict", |site| Cell::plain(site.in_conflict())),
        ("lastContactAt", |site| {
            Cell::plain_or_empty(site.agent.as_ref().and_then(|agent| agent.last_contact_at))
        }),
        ("bufferedThere", |site| Cell::plain_or_empty(site.backlog())),
        ("parkedThere", |site| Cell::plain_or_empty(site.parked_there())),
        ("queueDepth", |site| Cell::plain(site.kpis.queue_depth)),
        ("stuckCount", |site| Cell::plain(site.kpis.stuck_count)),
        ("parkedCount", |site| Cell::plain(site.kpis.parked_count)),
        ("deliveredLastInterval", |site| {
            Cell::plain(site.kpis.delivered_last_interval)
        }),
        ("oldestPendingAgeSeconds", |site| {
            Cell::plain_or_empty(site.kpis.oldest_pending_age_seconds)
        }),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Known>> {
        Ok(known_sites(state, signed.caller.tenant).await?)
    }
}

async fn show(state: &Shared, signed: &Signed, headers: &HeaderMap) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "Sites", Nav::Sites).await?.live(),
        sites: Sites::rows(state, signed, &()).await?,
        bad: vec![],
        id: String::new(),
        link: link_address(headers, state),
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed, headers: HeaderMap) -> Result {
    Ok(show(&state, &signed, &headers).await?.show(&state))
}

/// `https://central.example:7443`: the host as people reach it, with the port and the TLS that sites are let in by. A proxy in
/// front of it is known to nobody here.
fn link_address(headers: &HeaderMap, state: &Shared) -> String {
    let origin = origin::of(headers, &state.console);
    let rest = origin.split_once("://").map_or(origin.as_str(), |(_, rest)| rest);
    let host = match rest.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
        _ => rest,
    };
    let link = &state.console.link;
    let scheme = if link.tls { "https" } else { "http" };
    format!("{scheme}://{host}:{}", link.port)
}

pub async fn register(State(state): State<Shared>, signed: Signed, headers: HeaderMap, form: Form) -> Result {
    let text = form.text("id").unwrap_or_default();
    let made = match SiteId::parse(&text) {
        Ok(id) => {
            let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
            match state.central.sites.register(tenant, &id, actor).await {
                Ok(made) => Ok((made.site.id.to_string(), made.key)),
                Err(store::Error::Conflict(why)) => Err(why),
                Err(error) => return Err(error.into()),
            }
        }
        Err(problem) => Err(problem.to_string()),
    };
    match made {
        Ok((id, key)) => {
            let once = Once::new(&signed, state.central.clock.now(), "/sites", &id, key);
            Ok(once.go(&state.console, state.central.directory.sealer()))
        }
        Err(problem) => {
            let page = Page {
                bad: vec![FieldError::new("Name", problem)],
                id: text,
                ..show(&state, &signed, &headers).await?
            };
            Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}
