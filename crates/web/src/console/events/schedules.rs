//! Schedules: what events are to become and when, and what became of them.

use super::{TABS, communications_of, csv, older};
use crate::{
    console::{
        failure::Result,
        filter::Query,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{cut, message_badge, schedule_badge},
    },
    paging,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::events::views::{MessageView, ScheduleView};
use domain::ScheduleStatus;
use store::{events::ScheduleFilter, query::Page as Asking};

const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "events/schedules.html")]
struct Page {
    frame: Frame,
    asked: Option<ScheduleStatus>,
    rows: Vec<ScheduleView>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

/// Why a message is not there, or did not arrive.
fn why(view: &MessageView) -> Option<&str> {
    let missing = view.message.is_missing();
    let reason = view.message.reason.as_deref().filter(|_| missing);
    reason.or(view.last_error.as_deref())
}

fn filter(asked: Option<ScheduleStatus>) -> ScheduleFilter {
    ScheduleFilter {
        status: asked,
        ..ScheduleFilter::default()
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = params.parsed("status");
    let after = paging::cursor(&mut params);
    params.finish()?;
    let asking = Asking { limit: ROWS, after };
    let tenant = Some(signed.caller.tenant);
    let events = &state.central.events;
    let (rows, next) = events.schedule_views(tenant, &filter(asked), asking).await?;
    let mut query = Query::default();
    query.add("status", asked.map(ScheduleStatus::as_str));
    let page = Page {
        frame: Frame::new(&state, &signed, "Schedules", Nav::Events).await?,
        older: next.map(|next| older("/schedules", &query.0, next)),
        paged: after.is_some(),
        query: query.0,
        asked,
        rows,
    };
    Ok(page.show(&state))
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = params.parsed("status");
    params.finish()?;
    Ok(csv::schedules(state, signed.caller.tenant, filter(asked)).await?)
}
