//! Replaying all events, or schedules, that a list shows: a page that asks, with an address of its own, then a job. What is done is done to those that
//! were counted; what fails while somebody makes up their mind is left alone.

use super::{outbox, schedules};
use crate::{
    console::{
        failure::Result,
        flash::{Flash, redirect},
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{counted, number},
    },
    fields::parse_timestamp,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::{
    events::bulk::{ReplayBulk, Replays},
    jobs::{Counted, ReplayAsk, ReplayCount},
};
use domain::Timestamp;

#[derive(Template)]
#[template(path = "events/replay.html")]
struct Confirm {
    frame: Frame,
    place: &'static str,
    events: bool,
    found: ReplayCount,
    query: String,
    back: String,
}
framed!(Confirm);

struct Chosen {
    bulk: ReplayBulk,
    place: &'static str,
    query: String,
    back: String,
}

/// The list as its address had it. `as_of`: what "the last hour" was counted from.
fn chosen(signed: &Signed, query: &str, replays: Replays, as_of: Timestamp) -> Result<Chosen, Problem> {
    let place = match replays {
        Replays::Events => "/events",
        Replays::Schedules => "/schedules",
    };
    let uri = format!("{place}?{query}");
    let uri = uri
        .parse()
        .map_err(|_| Problem::field("query", "is not a filter"))?;
    let mut params = Params::read(&uri)?;
    let bulk = match replays {
        Replays::Events => outbox::replay_of(&mut params, signed, as_of)?,
        Replays::Schedules => schedules::replay_of(&mut params)?,
    };
    params.finish()?;
    Ok(Chosen {
        bulk,
        place,
        back: uri.to_string(),
        query: query.to_owned(),
    })
}

pub async fn confirm_events(state: State<Shared>, signed: Signed, params: Params) -> Result {
    confirm(state, signed, params, Replays::Events).await
}

pub async fn confirm_schedules(state: State<Shared>, signed: Signed, params: Params) -> Result {
    confirm(state, signed, params, Replays::Schedules).await
}

/// Asks.
async fn confirm(
    State(state): State<Shared>,
    signed: Signed,
    mut params: Params,
    replays: Replays,
) -> Result {
    let query = params.text("query").unwrap_or_default();
    params.finish()?;
    let frame = Frame::new(&state, &signed, "Replay?", Nav::Events).await?;
    let chosen = chosen(&signed, &query, replays, frame.now)?;
    let jobs = &state.central.jobs;
    let found = jobs.count_replay(signed.caller.tenant, &chosen.bulk).await?;
    if found.total == 0 && !found.at_least {
        let words = match replays {
            Replays::Events => "Nothing that matches is Failed or Deferred, so there is nothing to replay.",
            Replays::Schedules => "Nothing that matches can be replayed.",
        };
        return Ok(Flash::bad(words).at(&chosen.back, &state.console));
    }
    let page = Confirm {
        frame,
        place: chosen.place,
        events: replays == Replays::Events,
        found,
        query: chosen.query,
        back: chosen.back,
    };
    Ok(page.show(&state))
}

pub async fn go_events(state: State<Shared>, signed: Signed, form: Form) -> Result {
    go(state, signed, form, Replays::Events).await
}

pub async fn go_schedules(state: State<Shared>, signed: Signed, form: Form) -> Result {
    go(state, signed, form, Replays::Schedules).await
}

/// Does it.
async fn go(State(state): State<Shared>, signed: Signed, form: Form, replays: Replays) -> Result {
    let as_of = form.get("asOf").and_then(parse_timestamp);
    let total = form.get("count").and_then(|text| text.parse().ok());
    let (Some(as_of), Some(total)) = (as_of, total) else {
        return Err(Problem::field("asOf", "is missing; go back and choose again").into());
    };
    let query = form.get("query").unwrap_or_default();
    let mut chosen = chosen(&signed, query, replays, as_of)?;
    chosen.bulk.new_templates = form.get("newTemplates").is_some();
    let ask = ReplayAsk {
        bulk: chosen.bulk,
        counted: Some(Counted { total, as_of }),
        reason: None,
    };
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    match state.central.jobs.start_replay(tenant, ask, actor).await {
        Ok(job) => Ok(redirect(&format!("/jobs/{}", job.id))),
        Err(store::Error::Conflict(why)) => {
            let why = format!("Nothing was done: {why}.");
            Ok(Flash::bad(why).at(&chosen.back, &state.console))
        }
        Err(error) => Err(error.into()),
    }
}
