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
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::events::{
    bulk::{ReplayBulk, ReplayFilter, ReplayStatus, Replays},
    views::{MessageView, ScheduleView},
};
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

/// A replay of all that the list's address asks for; of those that failed where it asks for any.
pub(super) fn replay_of(params: &mut Params) -> Result<ReplayBulk, Problem> {
    let asked: Option<ScheduleStatus> = params.parsed("status");
    let status = asked.unwrap_or(ScheduleStatus::Failed);
    match ReplayStatus::named(status.as_str()) {
        Some(status) => {
            let filter = ReplayFilter {
                status: Some(status),
                ..ReplayFilter::default()
            };
            Ok(ReplayBulk::new(Replays::Schedules, filter))
        }
        None => Err(Problem::field("status", "must be Failed, Completed or Cancelled")),
    }
}

impl Page {
    /// Whether there may be something to replay among what is shown.
    fn can_replay(&self) -> bool {
        let wanted = self.asked.unwrap_or(ScheduleStatus::Failed);
        let may = ReplayStatus::named(wanted.as_str()).is_some();
        let some = self.rows.iter().any(|row| row.status == wanted);
        may && self.frame.may_replay() && (some || self.older.is_some())
    }
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
    let tenant = signed.caller.tenant;
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
