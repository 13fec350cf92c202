//! `GET /`: how this site is doing, for a person with a browser. Plain HTML, no script.

use super::{
    Api, Problem,
    lists::{QueryParams, only},
    page_pair,
};
use crate::{Site, parked};
use axum::{
    extract::{Query, State},
    http::header,
    response::{Html, IntoResponse, Response},
};
use domain::{Timestamp, retry};
use link::{LinkState, ParkedPage};
use std::fmt::Write;

const SHOWN: u32 = 50;

const HEAD: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="5"><title>Waypost site</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c2330;background:#fff}
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}th,td{text-align:left;padding:.3rem .8rem .3rem 0;
border-bottom:1px solid #d8dde6;vertical-align:top}th{font-weight:600}code{font-size:.9em}.bad{color:#a3180d;font-weight:600}
.good{color:#0c6b2e;font-weight:600}td.long{overflow-wrap:anywhere}</style></head><body><main>"#;

pub async fn page(State(api): State<Api>, Query(asked): QueryParams) -> Result<Response, Problem> {
    let site = &api.agent.site;
    only(&asked, &["message"])?;
    let followed = asked.get("message").map(String::as_str).unwrap_or("").trim();
    let now = site.clock.now();
    let mut html = String::from(HEAD);
    let _ = write!(
        html,
        "<h1>Site {}</h1><p>Node {}, Waypost {}. {}</p>",
        escaped(site.settings.id.as_str()),
        escaped(&site.settings.node),
        env!("CARGO_PKG_VERSION"),
        if site.is_standby() {
            String::new()
        } else {
            link(site.link(), now)
        }
    );
    if let Some(pair) = site.pair() {
        html.push_str(&page_pair::shown(&pair.status().await, now));
    }
    html.push_str(&trouble(site).await?);
    html.push_str(&buffer(site));
    html.push_str(&waiting(site).await?);
    html.push_str(&parked_here(site).await?);
    html.push_str(&events(site, followed).await?);
    html.push_str(&loops(&api));
    html.push_str("</main></body></html>");
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'self'";
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response())
}

/// What somebody has to see to.
async fn trouble(site: &Site) -> Result<String, Problem> {
    let mut html = String::new();
    if let Some(why) = site.buffer.refusing() {
        let _ = write!(
            html,
            "<p class=\"bad\">Messages are refused: {}</p>",
            escaped(&why)
        );
    }
    for damage in site.buffer.damage().await? {
        let file = damage
            .file
            .map(|file| format!(" File: {file}."))
            .unwrap_or_default();
        let _ = write!(
            html,
            "<p class=\"bad\">Damaged, {}: {}.{} <code>waypost site acknowledge {}</code> says that you have seen this.</p>",
            damage.at,
            escaped(&damage.what),
            escaped(&file),
            damage.id
        );
    }
    if let Some(until) = site.shorter_memory() {
        let _ = write!(
            html,
            "<p class=\"bad\">Room was needed: what central acknowledged up to {until} is not remembered here any more.</p>"
        );
    }
    Ok(html)
}

fn buffer(site: &Site) -> String {
    let depth = site.buffer.depth();
    let mut html =
        String::from("<h2>Buffer</h2><table><tr><th>Category</th><th>Waiting</th><th>Parked</th></tr>");
    for (category, waiting) in &depth.pending {
        let parked = depth.parked.get(category).copied().unwrap_or(0);
        let _ = write!(
            html,
            "<tr><td>{category}</td><td>{waiting}</td><td>{parked}</td></tr>"
        );
    }
    html.push_str("</table>");
    for ((category, target), n) in site.engine.without_handler() {
        let _ = write!(
            html,
            "<p class=\"bad\">{n} {category} messages wait for {0}, which is not configured. They stay until it is; <code>waypost parked discard --removed {0}</code> gives them up.</p>",
            escaped(&target)
        );
    }
    for ((category, target), down) in site.engine.down() {
        let _ = write!(
            html,
            "<p class=\"bad\">{category} {} does not answer since {}: {}. It is asked again at {}; what waits for it is not counted as tried.</p>",
            escaped(&target),
            down.since,
            escaped(&down.why),
            down.next_try_at
        );
    }
    html
}

async fn waiting(site: &Site) -> Result<String, Problem> {
    let waiting = site.buffer.waiting(None, 0, SHOWN).await?;
    let mut html = format!("<h2>Waiting ({})</h2>", site.buffer.depth().waiting());
    html.push_str("<table><tr><th>Id</th><th>For</th><th>Retries</th><th>Due</th><th>Why</th><th></th></tr>");
    for m in &waiting {
        let _ = write!(
            html,
            "<tr><td><code>{}</code></td><td>{} {}</td><td>{}</td><td>{}</td><td class=\"long\">{}</td>\
             <td><form method=\"post\" action=\"/waiting/{}/try\"><button>Try now</button></form></td></tr>",
            m.id,
            m.category,
            escaped(&m.target),
            m.retry_count,
            m.due_at,
            escaped(m.last_error.as_deref().unwrap_or("")),
            m.id
        );
    }
    html.push_str("</table><p>The oldest are shown. <code>waypost waiting try ID</code> tries one now, <code>waypost waiting discard ID</code> gives it up.</p>");
    Ok(html)
}

async fn parked_here(site: &Site) -> Result<String, Problem> {
    let page = ParkedPage {
        limit: SHOWN,
        ..ParkedPage::default()
    };
    let parked = site.parked(&page).await?;
    let mut html = format!("<h2>Parked ({})</h2>", parked.total);
    html.push_str(
        "<table><tr><th>Id</th><th>For</th><th>What</th><th>Retries</th><th>Since</th><th>Why</th></tr>",
    );
    for m in &parked.messages {
        let _ = write!(
            html,
            "<tr><td><code>{}</code></td><td>{} {}</td><td class=\"long\">{}</td><td>{}</td><td>{}</td><td class=\"long\">{}</td></tr>",
            escaped(&m.id),
            m.category,
            escaped(&m.target),
            escaped(m.summary.as_deref().unwrap_or("")),
            m.retry_count,
            m.parked_at.map(|at| at.to_string()).unwrap_or_default(),
            escaped(m.last_error.as_deref().unwrap_or(""))
        );
    }
    html.push_str("</table><p><code>waypost parked retry ID</code> sends one round again, <code>waypost parked discard ID</code> gives it up; <code>--all</code> or <code>--filter target=NAME</code> means many.</p>");
    Ok(html)
}

/// The newest events, or those of one message.
async fn events(site: &Site, followed: &str) -> Result<String, Problem> {
    let events = match followed.parse() {
        Ok(id) => site.buffer.events_of(id, parked::PAGE).await?,
        Err(_) => site.buffer.events(None, SHOWN).await?,
    };
    let mut html = format!(
        "<h2>Events</h2><form><label>Of one message, by its id: <input name=\"message\" size=\"36\" value=\"{}\"></label> \
         <button>Show</button></form>",
        escaped(followed)
    );
    html.push_str("<table><tr><th>At</th><th>What</th><th>For</th><th>Message</th><th>Detail</th></tr>");
    for e in &events {
        let about = e.message.map_or_else(|| how_many(e.n), |id| id.to_string());
        let by = e.actor.as_deref().map(|a| format!("by {a} ")).unwrap_or_default();
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{} {}</td><td><code>{}</code></td><td class=\"long\">{}{}</td></tr>",
            e.at,
            e.what.as_str(),
            e.category.map(|c| c.as_str()).unwrap_or_default(),
            escaped(&e.target),
            about,
            escaped(&by),
            escaped(e.detail.as_deref().unwrap_or(""))
        );
    }
    html.push_str("</table>");
    Ok(html)
}

/// What runs in the background here.
fn loops(api: &Api) -> String {
    let mut html = String::from(
        "<h2>Background loops</h2><table><tr><th>Loop</th><th>Last run</th><th>Took</th><th>Result</th><th>Next</th>\
         <th>Runs</th><th>Panics</th></tr>",
    );
    for report in api.agent.loops.reports().into_values() {
        let (class, result) = match &report.result {
            Ok(did) => ("", did),
            Err(why) => (" class=\"bad\"", why),
        };
        let next = match (report.running_since, report.next) {
            (Some(since), _) => format!("runs, since {since}"),
            (None, Some(next)) => next.to_string(),
            (None, None) => "when there is something to do".into(),
        };
        let _ = write!(
            html,
            "<tr><td>{}: {}</td><td>{}</td><td>{} ms</td><td{class}>{}</td><td>{next}</td><td>{}</td><td>{}</td></tr>",
            report.about.name,
            report.about.what,
            report.at,
            report.duration.as_millis(),
            escaped(result),
            report.runs,
            report.panics
        );
    }
    html.push_str("</table>");
    html
}

fn link(state: Option<LinkState>, now: Timestamp) -> String {
    let ago = |since: Timestamp| retry::human(std::time::Duration::from_secs(now.since(since).as_secs()));
    match state {
        Some(LinkState::Up { since, address, .. }) => format!(
            "<span class=\"good\">Central is reachable</span> at {}, since {}.",
            escaped(&address),
            ago(since)
        ),
        Some(LinkState::Down { since, why }) => format!(
            "<span class=\"bad\">Central is not reachable</span> since {}: {}. Messages wait here.",
            ago(since),
            escaped(&why)
        ),
        None => "<span class=\"bad\">No central is configured.</span> Notifications stay here.".into(),
    }
}

fn how_many(n: u64) -> String {
    match n {
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    }
}

pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
