//! Retry or discard of several notifications: what was chosen, a page that asks, then the deed.

use super::{
    failure::Result,
    filter::Asked,
    flash::{Flash, redirect},
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{counted, number, status_badge},
};
use crate::{access::Access, fields::parse_timestamp, problem::Problem, query::Params, state::Shared};
use askama::Template;
use axum::extract::State;
use central::jobs::{Action, COUNT_BOUND, Counted};
use domain::{NotificationId, Status, Timestamp};
use store::operator::Acted;

/// Rows that can be chosen one by one.
const MAX_CHOSEN_ROWS: usize = 500;
/// Rows the page that asks shows.
const SUBJECTS_SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "bulk/confirm.html")]
struct Confirm {
    frame: Frame,
    action: &'static str,
    verb: &'static str,
    /// Chosen one by one; empty when everything that matches is meant.
    ids: Vec<NotificationId>,
    shown: Vec<(NotificationId, String, Status)>,
    all: bool,
    count: u64,
    at_least: bool,
    /// When they were counted: what is done is done to these.
    as_of: Timestamp,
    /// Chosen, but not parked any more.
    others: u64,
    query: String,
    chips: Vec<(String, String)>,
    back: String,
}
framed!(Confirm);

struct Chosen {
    action: Action,
    ids: Vec<NotificationId>,
    all: bool,
    asked: Asked,
    back: String,
}

fn chosen(form: &Form, signed: &Signed) -> Result<Chosen, Problem> {
    let action = match form.get("action") {
        Some("retry") => Action::Retry,
        Some("discard") if Access::Operate.allows(signed.caller.role) => Action::Discard,
        Some("discard") => {
            return Err(Problem::forbidden(format!(
                "discarding needs the role {}; yours here is {}",
                Access::Operate.in_words(),
                signed.caller.role
            )));
        }
        _ => return Err(Problem::field("action", "must be retry or discard")),
    };
    let query = form.get("query").unwrap_or_default();
    let uri = format!("/notifications?{query}");
    let uri = uri
        .parse()
        .map_err(|_| Problem::field("query", "is not a filter"))?;
    let mut params = Params::read(&uri)?;
    let asked = Asked::read(&mut params);
    params.finish()?;
    let mut ids: Vec<NotificationId> = form.all("id").filter_map(|id| id.parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > MAX_CHOSEN_ROWS {
        return Err(Problem::field(
            "id",
            format!("at most {MAX_CHOSEN_ROWS} rows can be chosen one by one"),
        ));
    }
    Ok(Chosen {
        action,
        ids,
        all: form.get("scope") == Some("all"),
        back: format!("/notifications?{}", asked.query()),
        asked,
    })
}

/// What the page that asked said.
fn counted_when_asked(form: &Form) -> Result<Counted, Problem> {
    let as_of = form.get("asOf").and_then(parse_timestamp);
    let total = form.get("count").and_then(|text| text.parse().ok());
    match (as_of, total) {
        (Some(as_of), Some(total)) => Ok(Counted { total, as_of }),
        _ => Err(Problem::field("asOf", "is missing; go back and choose again")),
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Retry => "Retry",
        Action::Discard => "Discard",
    }
}

/// Asks.
pub async fn confirm(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let Chosen {
        action,
        ids,
        all,
        asked,
        back,
    } = chosen(&form, &signed)?;
    let tenant = signed.caller.tenant;
    let title = format!("{} notifications?", verb(action));
    let frame = Frame::new(&state, &signed, title, Nav::Notifications).await?;
    let mut page = Confirm {
        action: action.as_str(),
        verb: verb(action),
        all,
        count: 0,
        at_least: false,
        as_of: frame.now,
        others: 0,
        shown: vec![],
        query: asked.query(),
        chips: asked.chips(),
        ids: vec![],
        frame,
        back,
    };
    if all {
        let filter = match asked.bulk(page.frame.now) {
            Ok(filter) => filter,
            Err(why) => return Ok(Flash::bad(why).at(&page.back, &state.console)),
        };
        let counted = state.central.jobs.count(tenant, &filter).await?;
        (page.count, page.as_of) = (counted.total, counted.as_of);
        page.at_least = page.count >= COUNT_BOUND;
    } else {
        for id in ids {
            let Some(found) = state.central.store.get(tenant, id).await? else {
                continue;
            };
            if found.status != Status::Parked {
                page.others += 1;
                continue;
            }
            if page.shown.len() < SUBJECTS_SHOWN {
                page.shown
                    .push((id, found.submission.content.subject, found.status));
            }
            page.ids.push(id);
        }
        page.count = page.ids.len() as u64;
    }
    if page.count == 0 {
        let why = match (all, page.others) {
            (true, _) => "Nothing that matches is parked, so there is nothing to do.".to_owned(),
            (false, 0) => "Choose some rows first: tick their boxes.".to_owned(),
            (false, _) => {
                "None of the chosen notifications is parked; only parked ones can be retried or discarded."
                    .to_owned()
            }
        };
        return Ok(Flash::bad(why).at(&page.back, &state.console));
    }
    Ok(page.show(&state))
}

/// Does it.
pub async fn go(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let chosen = chosen(&form, &signed)?;
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let central = &state.central;
    if chosen.all {
        let counted = counted_when_asked(&form)?;
        // "The last hour" is the one they were asked about.
        let filter = match chosen.asked.bulk(counted.as_of) {
            Ok(filter) => filter,
            Err(why) => return Ok(Flash::bad(why).at(&chosen.back, &state.console)),
        };
        let started = central
            .jobs
            .start(tenant, chosen.action, filter, Some(counted), actor)
            .await;
        return match started {
            Ok(job) => Ok(redirect(&format!("/jobs/{}", job.id))),
            Err(store::Error::Conflict(why)) => {
                let why = format!("Nothing was done: {why}.");
                Ok(Flash::bad(why).at(&chosen.back, &state.console))
            }
            Err(error) => Err(error.into()),
        };
    }
    let acted = match chosen.action {
        Action::Retry => central.operator.requeue(tenant, &chosen.ids, actor).await?,
        Action::Discard => central.operator.discard(tenant, &chosen.ids, actor).await?,
    };
    let done = acted.iter().filter(|acted| **acted == Acted::Done).count();
    let missed = acted.len() - done;
    let what = match chosen.action {
        Action::Retry => "round again",
        Action::Discard => "given up",
    };
    let mut text = match chosen.action {
        Action::Retry => format!(
            "{} sent {what}.",
            counted(done as u64, "notification was", "notifications were")
        ),
        Action::Discard => format!(
            "{} {what}.",
            counted(done as u64, "notification was", "notifications were")
        ),
    };
    if missed > 0 {
        text.push_str(&format!(
            " {} no longer parked and left alone.",
            counted(missed as u64, "was", "were")
        ));
    }
    let flash = if done > 0 {
        Flash::good(text)
    } else {
        Flash::bad(text)
    };
    Ok(flash.at(&chosen.back, &state.console))
}
