//! One action on several notifications: what was chosen, a page that asks, then the deed. The question has an address, so that
//! reloading it and coming back to it ask again and do nothing.

use super::{
    failure::Result,
    filter::ListQuery,
    flash::{Flash, redirect},
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    request::RequestId,
    show::{counted, number, status_badge},
};
use crate::{
    access::Access, fields::parse_timestamp, problem::Problem, query::Params, reason, state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::{
    jobs::{Action, BulkAsk, COUNT_BOUND, Counted},
    operator::{Repeat, Resent},
};
use domain::{NotificationId, Status, Timestamp};
use store::operator::Acted;

/// Rows that can be chosen one by one: the address of the question names them, and many a proxy takes 8 KiB.
pub const MAX_CHOSEN_ROWS: usize = 150;
/// Rows the page that asks shows.
const SUBJECTS_SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "bulk/confirm.html")]
struct Confirm {
    frame: Frame,
    action: Action,
    verb: &'static str,
    /// Chosen one by one; empty when everything that matches is meant.
    ids: Vec<NotificationId>,
    shown: Vec<(NotificationId, String, Status)>,
    all: bool,
    count: u64,
    at_least: bool,
    /// When they were counted: what is done is done to these.
    as_of: Timestamp,
    /// Chosen, but in a state that does not allow it.
    others: u64,
    query: String,
    chips: Vec<(String, String)>,
    back: String,
    /// They never go out: the page asks why.
    gives_up: bool,
    needs_reason: bool,
    request: RequestId,
}
framed!(Confirm);

struct Chosen {
    action: Action,
    ids: Vec<NotificationId>,
    all: bool,
    asked: ListQuery,
    back: String,
    request: RequestId,
}

/// What an address or a form says.
struct BulkParams<'a> {
    action: Option<&'a str>,
    query: &'a str,
    ids: Vec<NotificationId>,
    all: bool,
    request: Option<&'a str>,
}

/// How an action is called on a button.
pub fn doing(action: &Action) -> &'static str {
    match action {
        Action::Retry => "Retry",
        Action::Discard => "Discard",
        Action::Cancel => "Cancel",
        Action::Resend => "Send again",
    }
}

/// What a row must be for the action.
fn wanted(action: Action) -> &'static str {
    match action {
        Action::Retry | Action::Discard => "parked",
        Action::Cancel => "waiting",
        Action::Resend => "ended",
    }
}

fn allows(action: Action, status: Status) -> bool {
    match action {
        Action::Retry | Action::Discard => status == Status::Parked,
        Action::Cancel => matches!(status, Status::Pending | Status::Retrying),
        Action::Resend => status.is_terminal(),
    }
}

fn chosen(said: BulkParams<'_>, signed: &Signed) -> Result<Chosen, Problem> {
    let action = said.action.and_then(Action::named);
    let action =
        action.ok_or_else(|| Problem::field("action", "must be retry, discard, cancel or resend"))?;
    if action != Action::Retry && !Access::Operate.allows(signed.caller.role) {
        return Err(Problem::forbidden(format!(
            "this needs the role {}; yours here is {}",
            Access::Operate.in_words(),
            signed.caller.role
        )));
    }
    let uri = format!("/notifications?{}", said.query);
    let uri = uri
        .parse()
        .map_err(|_| Problem::field("query", "is not a filter"))?;
    let mut params = Params::read(&uri)?;
    let asked = ListQuery::read(&mut params, &signed.zone);
    params.finish()?;
    let mut ids = said.ids;
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > MAX_CHOSEN_ROWS {
        return Err(Problem::field(
            "id",
            format!(
                "at most {MAX_CHOSEN_ROWS} rows can be chosen one by one; for more there is All that match"
            ),
        ));
    }
    Ok(Chosen {
        action,
        ids,
        all: said.all,
        back: format!("/notifications?{}", asked.query()),
        asked,
        request: RequestId::read(said.request),
    })
}

/// What was chosen on the page that asked.
fn confirmed(form: &Form, signed: &Signed) -> Result<Chosen, Problem> {
    let said = BulkParams {
        action: form.get("action"),
        query: form.get("query").unwrap_or_default(),
        ids: form.all("id").filter_map(|id| id.parse().ok()).collect(),
        all: form.get("scope") == Some("all"),
        request: form.get("request"),
    };
    chosen(said, signed)
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

/// Asks.
pub async fn confirm(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let (action, query) = (params.text("action"), params.text("query"));
    let (scope, request) = (params.text("scope"), params.text("request"));
    let said = BulkParams {
        action: action.as_deref(),
        query: query.as_deref().unwrap_or_default(),
        ids: params.several("id"),
        all: scope.as_deref() == Some("all"),
        request: request.as_deref(),
    };
    params.finish()?;
    let Chosen {
        action,
        ids,
        all,
        asked,
        back,
        request,
    } = chosen(said, &signed)?;
    let tenant = signed.caller.tenant;
    let verb = doing(&action);
    let frame = Frame::new(&state, &signed, format!("{verb}?"), Nav::Notifications).await?;
    let gives_up = matches!(action, Action::Discard | Action::Cancel);
    let mut page = Confirm {
        action,
        verb,
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
        gives_up,
        request,
        needs_reason: gives_up && state.central.settings.discard_needs_reason,
    };
    if all {
        let filter = match asked.bulk(action, page.frame.now) {
            Ok(filter) => filter,
            Err(why) => return Ok(Flash::bad(why).at(&page.back, &state.console)),
        };
        let counted = state.central.jobs.count(tenant, action, &filter).await?;
        (page.count, page.as_of) = (counted.total, counted.as_of);
        page.at_least = page.count >= COUNT_BOUND;
    } else {
        page.choose(&state, &signed, ids).await?;
    }
    if page.count == 0 {
        let wanted = wanted(action);
        let why = match (all, page.others) {
            (true, _) => format!("Nothing that matches is {wanted}, so there is nothing to do."),
            (false, 0) => "Choose some rows first: tick their boxes.".to_owned(),
            (false, _) => format!("None of the chosen notifications is {wanted}, as it must be for this."),
        };
        return Ok(Flash::bad(why).at(&page.back, &state.console));
    }
    Ok(page.show(&state))
}

impl Confirm {
    /// Those whose state allows it, and the first few by name.
    async fn choose(&mut self, state: &Shared, signed: &Signed, ids: Vec<NotificationId>) -> Result<()> {
        for id in ids {
            let Some(found) = state.central.store.get(signed.caller.tenant, id).await? else {
                continue;
            };
            if !allows(self.action, found.status) {
                self.others += 1;
                continue;
            }
            if self.shown.len() < SUBJECTS_SHOWN {
                self.shown
                    .push((id, found.submission.content.subject, found.status));
            }
            self.ids.push(id);
        }
        self.count = self.ids.len() as u64;
        Ok(())
    }
}

/// Does it.
pub async fn go(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let chosen = confirmed(&form, &signed)?;
    let said = form.get("reason");
    let reason = match chosen.action {
        Action::Discard | Action::Cancel => reason::checked(&state, said),
        Action::Retry | Action::Resend => Ok(None),
    };
    let reason = match reason {
        Ok(reason) => reason,
        Err(bad) => {
            let why = format!("Nothing was done: a reason {}.", bad.problem);
            return Ok(Flash::bad(why).at(&chosen.back, &state.console));
        }
    };
    if chosen.all {
        return start(&state, &signed, chosen, counted_when_asked(&form)?, reason).await;
    }
    let Tally {
        done,
        already,
        missed,
    } = act(&state, &signed, &chosen, reason.as_deref()).await?;
    let rows = counted(done, "notification", "notifications");
    let mut text = match chosen.action {
        Action::Retry => format!("{rows} sent round again."),
        Action::Discard => format!("{rows} given up."),
        Action::Cancel => format!("{rows} called off."),
        Action::Resend => format!("{rows} sent once more, as new ones."),
    };
    if already > 0 {
        let had = counted(already, "had", "had");
        text.push_str(&format!(" {had} been sent once more by this button already."));
    }
    if missed > 0 {
        let were = counted(missed, "was", "were");
        text.push_str(&format!(
            " {were} no longer {} and left alone.",
            wanted(chosen.action)
        ));
    }
    let flash = if done + already > 0 {
        Flash::good(text)
    } else {
        Flash::bad(text)
    };
    Ok(flash.at(&chosen.back, &state.console))
}

/// All that match, as a job.
async fn start(
    state: &Shared,
    signed: &Signed,
    chosen: Chosen,
    counted: Counted,
    reason: Option<String>,
) -> Result {
    // "The last hour" is the one they were asked about.
    let filter = match chosen.asked.bulk(chosen.action, counted.as_of) {
        Ok(filter) => filter,
        Err(why) => return Ok(Flash::bad(why).at(&chosen.back, &state.console)),
    };
    let query = chosen.asked.query();
    // The others find nothing to do the second time, unless there is something to do again.
    let once = chosen.action == Action::Resend;
    let id = once.then(|| {
        chosen
            .request
            .job(signed.caller.tenant, chosen.action.as_str(), &query)
    });
    let ask = BulkAsk {
        id,
        action: chosen.action,
        filter,
        counted: Some(counted),
        reason,
    };
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    match state.central.jobs.start(tenant, ask, actor).await {
        Ok(job) => {
            let place = format!("/jobs/{}", job.id);
            if job.created_at >= counted.as_of {
                return Ok(redirect(&place));
            }
            let words = "This was asked for already, and nothing more was sent. To send them once more, begin from the list.";
            Ok(Flash::bad(words).at(&place, &state.console))
        }
        Err(store::Error::Conflict(why)) => {
            let why = format!("Nothing was done: {why}.");
            Ok(Flash::bad(why).at(&chosen.back, &state.console))
        }
        Err(error) => Err(error.into()),
    }
}

/// To how many of the chosen ones it was done.
struct Tally {
    done: u64,
    /// By the same form, sent before.
    already: u64,
    missed: u64,
}

/// The chosen ones.
async fn act(state: &Shared, signed: &Signed, chosen: &Chosen, reason: Option<&str>) -> store::Result<Tally> {
    let (tenant, actor, ids) = (signed.caller.tenant, &signed.caller.actor, &chosen.ids);
    let operator = &state.central.operator;
    let acted = match chosen.action {
        Action::Retry => operator.requeue(tenant, ids, actor).await?,
        Action::Discard => operator.discard_noted(tenant, ids, actor, reason).await?,
        Action::Cancel => operator.cancel_noted(tenant, ids, actor, reason).await?,
        Action::Resend => return resend(state, signed, chosen).await,
    };
    let done = acted.iter().filter(|acted| **acted == Acted::Done).count() as u64;
    Ok(Tally {
        done,
        already: 0,
        missed: acted.len() as u64 - done,
    })
}

/// Each under a key of the request and the row: the same form sent again sends nothing again.
async fn resend(state: &Shared, signed: &Signed, chosen: &Chosen) -> store::Result<Tally> {
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let (mut done, mut already, mut missed) = (0, 0, 0);
    for id in &chosen.ids {
        let repeat = Repeat {
            key: Some(chosen.request.repeat_of(*id)),
            expires_at: None,
        };
        match state.central.operator.resend(tenant, *id, repeat, actor).await {
            Ok(Resent::As(_)) => done += 1,
            Ok(_) => missed += 1,
            Err(store::Error::Conflict(_)) => already += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(Tally {
        done,
        already,
        missed,
    })
}
