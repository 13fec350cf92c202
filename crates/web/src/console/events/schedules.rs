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
use store::{events::ScheduleFilter, query::Page as PageRequest};

const ROWS: u32 = 50;

/// What the address asks for.
#[derive(Debug, Clone, Default)]
struct SchedulesQuery {
    status: Option<ScheduleStatus>,
    event_type: Option<String>,
}

#[derive(Template)]
#[template(path = "events/schedules.html")]
struct Page {
    frame: Frame,
    asked: SchedulesQuery,
    rows: Vec<ScheduleView>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

impl SchedulesQuery {
    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn read(params: &mut Params) -> Self {
        Self {
            status: params.parsed("status"),
            event_type: params.text("eventType"),
        }
    }

    fn filter(&self) -> ScheduleFilter {
        ScheduleFilter {
            status: self.status,
            event_type: self.event_type.clone(),
            ..ScheduleFilter::default()
        }
    }

    fn query(&self) -> String {
        let mut query = Query::default();
        query.add("status", self.status.map(ScheduleStatus::as_str));
        query.add("eventType", self.event_type.as_deref());
        query.0
    }

    /// Each filter in words, with the address of the list without it.
    fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: Option<String>, without: SchedulesQuery| {
            let place = format!("/schedules?{}", without.query());
            chips.extend(text.map(|text| (text, place)));
        };
        let of_type = self.event_type.as_ref().map(|name| format!("Type: {name}"));
        chip(
            self.status.map(|one| one.to_string()),
            SchedulesQuery {
                status: None,
                ..self.clone()
            },
        );
        chip(
            of_type,
            SchedulesQuery {
                event_type: None,
                ..self.clone()
            },
        );
        chips
    }
}

/// Why a message is not there, or did not arrive.
fn why(view: &MessageView) -> Option<&str> {
    let missing = view.message.is_missing();
    let reason = view.message.reason.as_deref().filter(|_| missing);
    reason.or(view.last_error.as_deref())
}

/// A replay of all that the list's address asks for; of those that failed where it asks for any.
pub(super) fn replay_of(params: &mut Params) -> Result<ReplayBulk, Problem> {
    let asked = SchedulesQuery::read(params);
    let status = asked.status.unwrap_or(ScheduleStatus::Failed);
    match ReplayStatus::named(status.as_str()) {
        Some(status) => {
            let filter = ReplayFilter {
                status: Some(status),
                event_type: asked.event_type,
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
        let wanted = self.asked.status.unwrap_or(ScheduleStatus::Failed);
        let may = ReplayStatus::named(wanted.as_str()).is_some();
        let some = self.rows.iter().any(|row| row.status == wanted);
        may && self.frame.may_replay() && (some || self.older.is_some())
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = SchedulesQuery::read(&mut params);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let asking = PageRequest { limit: ROWS, after };
    let tenant = signed.caller.tenant;
    let events = &state.central.events;
    let (rows, next) = events.schedule_views(tenant, &asked.filter(), asking).await?;
    let query = asked.query();
    let page = Page {
        frame: Frame::new(&state, &signed, "Schedules", Nav::Events)
            .await?
            .watched(),
        older: next.map(|next| older("/schedules", &query, next)),
        paged: after.is_some(),
        query,
        asked,
        rows,
    };
    Ok(page.show(&state))
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = SchedulesQuery::read(&mut params);
    params.finish()?;
    Ok(csv::schedules(state, signed.caller.tenant, asked.filter()).await?)
}
