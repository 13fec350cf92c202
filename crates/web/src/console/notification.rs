//! One notification: what it is, whom it reached, what happened, what can be done.

use super::{
    events::communications_of,
    failure::{Result, Trouble},
    filter::Back,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    request::RequestId,
    show::{Badge, status_badge},
    timeline::{TimelineStep, steps},
};
use crate::{
    api::{PathId, lists::encode},
    problem::Problem,
    query::Params,
    reason,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::{
    operator::{Repeat, Resent},
    waiting,
};
use domain::{
    FieldError, NotificationId, RecipientState, Status, Target, Waiting, Zone, kpi::is_stuck, status::Change,
};
use store::{operator::Acted, query::Notification};

#[derive(Template)]
#[template(path = "notification/page.html")]
struct Page {
    frame: Frame,
    /// The view of the list it was opened from.
    back: Back,
    row: Notification,
    /// Why it waits, while it does.
    waiting: Option<Waiting>,
    stuck: bool,
    steps: Vec<TimelineStep>,
    type_data: Option<String>,
    /// What can be done, and why the rest cannot.
    can_decide: bool,
    can_cancel: bool,
    can_resend: bool,
    needs_reason: bool,
    why_not: String,
}
framed!(Page);

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
) -> Result {
    let back = Back::read(&mut params);
    params.finish()?;
    let tenant = signed.caller.tenant;
    let row = state.central.store.get(tenant, id).await?;
    let row = row.ok_or_else(|| Problem::not_found("notification"))?;
    let log = state
        .central
        .store
        .attempts(tenant, id)
        .await?
        .unwrap_or_default();
    let title = match row.submission.content.subject.trim() {
        "" => format!("Notification {id}"),
        subject => subject.to_owned(),
    };
    let frame = Frame::new(&state, &signed, title, Nav::Notifications)
        .await?
        .live();
    let waiting = waiting::of(&state.central.directory, &row, frame.now).await?;
    let page = Page {
        stuck: waiting.is_some()
            && is_stuck(
                row.waiting_since,
                frame.now,
                state.central.settings.kpi.stuck_after,
            ),
        steps: steps(&row, waiting.as_ref(), log),
        type_data: row.submission.content.type_data.as_deref().map(pretty),
        can_decide: row.status.allows(Change::Requeue),
        can_cancel: row.status.allows(Change::Cancel),
        can_resend: row.status.is_terminal(),
        needs_reason: state.central.settings.discard_needs_reason,
        why_not: why_not(row.status).into(),
        back,
        frame,
        waiting,
        row,
    };
    Ok(page.show(&state))
}

fn why_not(status: Status) -> &'static str {
    match status {
        Status::Parked => {
            "Retry goes to those it has not reached; Send again is a new notification to everybody. Cancel is for what still waits."
        }
        Status::Pending | Status::Retrying | Status::Forwarding => {
            "It still waits, so it cannot be retried or discarded: it goes out by itself, or is parked. Try now does not wait for the next attempt; Cancel calls it off."
        }
        Status::Delivered => "It was delivered, so there is nothing to retry, discard or cancel.",
        Status::Discarded => {
            "It was given up, and never changes again. Send again sends the same content as a new notification."
        }
    }
}

/// JSON that people can read; anything else as it is.
pub fn pretty(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}

fn state_badge(state: &RecipientState) -> Badge {
    match state {
        RecipientState::Open => Badge::OPEN,
        RecipientState::Accepted => Badge::ACCEPTED,
        RecipientState::Failed => Badge::FAILED,
        RecipientState::Suppressed => Badge::SUPPRESSED,
        RecipientState::Ambiguous => Badge::AMBIGUOUS,
    }
}

pub async fn retry(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
) -> Result {
    let back = Back::read(&mut params);
    let ids = [id];
    let acted = state
        .central
        .operator
        .requeue(signed.caller.tenant, &ids, &signed.caller.actor)
        .await?;
    told(
        &state,
        (id, &back),
        acted.first().copied(),
        "It goes round again.",
        "retried",
    )
}

/// What was said why; or the sentence that demands it.
fn reason(state: &Shared, form: &Form) -> std::result::Result<Option<String>, Flash> {
    reason::checked(state, form.get("reason"))
        .map_err(|bad| Flash::bad(format!("Nothing was done: a reason {}.", bad.problem)))
}

pub async fn discard(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
    form: Form,
) -> Result {
    let back = Back::read(&mut params);
    let reason = match reason(&state, &form) {
        Ok(reason) => reason,
        Err(flash) => return Ok(flash.at(&place(id, &back), &state.console)),
    };
    let acted = state
        .central
        .operator
        .discard_noted(
            signed.caller.tenant,
            &[id],
            &signed.caller.actor,
            reason.as_deref(),
        )
        .await?;
    let acted = acted.first().copied();
    told(&state, (id, &back), acted, "It is discarded.", "discarded")
}

pub async fn try_now(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
) -> Result {
    let back = Back::read(&mut params);
    let operator = &state.central.operator;
    let acted = operator
        .try_now(signed.caller.tenant, id, &signed.caller.actor)
        .await?;
    let done = "It is tried now, as soon as its provider lets it.";
    told(&state, (id, &back), Some(acted), done, "tried")
}

pub async fn cancel(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
    form: Form,
) -> Result {
    let back = Back::read(&mut params);
    let reason = match reason(&state, &form) {
        Ok(reason) => reason,
        Err(flash) => return Ok(flash.at(&place(id, &back), &state.console)),
    };
    let acted = state
        .central
        .operator
        .cancel_noted(
            signed.caller.tenant,
            &[id],
            &signed.caller.actor,
            reason.as_deref(),
        )
        .await?;
    let acted = acted.first().copied();
    told(&state, (id, &back), acted, "It is called off.", "cancelled")
}

pub async fn resend(
    State(state): State<Shared>,
    signed: Signed,
    PathId(id): PathId,
    mut params: Params,
    form: Form,
) -> Result {
    let back = Back::read(&mut params);
    let until = form.text("expiresAt");
    // In the zone that stands beside the field: by now the viewer's may be known to be another.
    let zone = form.text("zone").and_then(|name| Zone::named(&name));
    let zone = zone.unwrap_or_else(|| signed.zone.clone());
    let expires_at = until.as_deref().and_then(|text| zone.read(text));
    if until.is_some() && expires_at.is_none_or(|at| at <= state.central.clock.now()) {
        let why = "Nothing was sent: the time by which it is to be delivered must be in the future.";
        return Ok(Flash::bad(why).at(&place(id, &back), &state.console));
    }
    let key = RequestId::read(form.get("request")).repeat_of(id);
    let repeat = Repeat {
        key: Some(key.clone()),
        expires_at,
    };
    let tenant = signed.caller.tenant;
    let operator = &state.central.operator;
    let resent = match operator.resend(tenant, id, repeat, &signed.caller.actor).await {
        Err(store::Error::Conflict(_)) => {
            let known = place(NotificationId::from_key(tenant, &key), &back);
            let said = Flash::good("It was sent once more already, as this new notification.");
            return Ok(said.at(&known, &state.console));
        }
        resent => resent?,
    };
    let old = place(id, &back);
    Ok(match resent {
        Resent::As(new) => Flash::good("It is sent once more, as this new notification.")
            .at(&place(new, &back), &state.console),
        Resent::NotFound => return Err(Trouble(Problem::not_found("notification"))),
        Resent::WrongState(found) => Flash::bad(format!(
            "It is {found} by now; only one that has ended can be sent again."
        ))
        .at(&old, &state.console),
        Resent::Refused(problems) => Flash::bad(in_words(&problems)).at(&old, &state.console),
    })
}

fn place(id: NotificationId, back: &Back) -> String {
    format!("/notifications/{id}{}", back.suffix())
}

fn told(
    state: &Shared,
    (id, back): (NotificationId, &Back),
    acted: Option<Acted>,
    done: &str,
    verb: &str,
) -> Result {
    let flash = match acted {
        Some(Acted::Done) => Flash::good(done),
        Some(Acted::WrongState(found)) => Flash::bad(format!(
            "It is {found} by now, so it was not {verb}. Somebody or something was faster."
        )),
        Some(Acted::NotFound) | None => return Err(Trouble(Problem::not_found("notification"))),
    };
    Ok(flash.at(&place(id, back), &state.console))
}

/// Every bad field in one sentence.
pub fn in_words(problems: &[FieldError]) -> String {
    let all: Vec<_> = problems
        .iter()
        .map(|p| {
            if p.field.is_empty() {
                p.problem.clone()
            } else {
                format!("{} {}", p.field, p.problem)
            }
        })
        .collect();
    all.join("; ")
}
