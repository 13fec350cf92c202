//! The outbox: every event as it was handed in, and what keeps it if something does.

use super::{TABS, communications_of, csv, entity_type, older};
use crate::{
    console::{
        failure::Result,
        filter::{Query, RANGES, Times},
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{cut, event_badge},
    },
    paging,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::events::bulk::{Across, ReplayBulk, ReplayFilter, ReplayStatus, Replays};
use domain::{EventStatus, TenantId, Timestamp};
use store::{
    directory::Role,
    events::{Event, EventFilter},
    query::Page as PageRequest,
};

const ROWS: u32 = 50;

/// What the address asks for.
#[derive(Debug, Clone, Default)]
struct EventsQuery {
    status: Option<EventStatus>,
    event_type: Option<String>,
    entity_id: Option<String>,
    times: Times,
    /// Of all tenants, also of those there are not.
    everywhere: bool,
}

#[derive(Template)]
#[template(path = "events/outbox.html")]
struct Page {
    frame: Frame,
    asked: EventsQuery,
    rows: Vec<Event>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

impl EventsQuery {
    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn read(params: &mut Params, signed: &Signed) -> Self {
        let asked = Self {
            status: params.parsed("status"),
            event_type: params.text("eventType"),
            entity_id: params.text("entityId"),
            times: Times::read(params, &signed.zone),
            everywhere: params.boolean("everywhere").unwrap_or(false),
        };
        if asked.everywhere && signed.caller.role != Role::Ops {
            params.problem("everywhere", "takes the role ops");
        }
        asked
    }

    fn filter(&self, now: Timestamp) -> EventFilter {
        EventFilter {
            status: self.status,
            event_type: self.event_type.clone(),
            entity_id: self.entity_id.clone(),
            from: self.times.start(now),
            to: self.times.end(),
            across: self.everywhere,
        }
    }

    fn tenant(&self, signed: &Signed) -> Option<TenantId> {
        (!self.everywhere).then_some(signed.caller.tenant)
    }

    fn query(&self) -> String {
        let mut query = Query::default();
        query.add("status", self.status.map(EventStatus::as_str));
        query.add("eventType", self.event_type.as_deref());
        query.add("entityId", self.entity_id.as_deref());
        self.times.add(&mut query);
        query.add("everywhere", self.everywhere.then_some("true"));
        self.times.add_zone(&mut query);
        query.0
    }

    /// Each filter in words, with the address of the list without it.
    fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: Option<String>, without: EventsQuery| {
            let place = format!("/events?{}", without.query());
            chips.extend(text.map(|text| (text, place)));
        };
        let of = |label: &str, text: &Option<String>| text.as_ref().map(|text| format!("{label}: {text}"));
        let all = || self.clone();
        chip(
            self.status.map(|one| one.to_string()),
            EventsQuery {
                status: None,
                ..all()
            },
        );
        chip(
            of("Type", &self.event_type),
            EventsQuery {
                event_type: None,
                ..all()
            },
        );
        chip(
            of("About", &self.entity_id),
            EventsQuery {
                entity_id: None,
                ..all()
            },
        );
        let everywhere = self.everywhere.then(|| "All tenants".to_owned());
        chip(
            everywhere,
            EventsQuery {
                everywhere: false,
                ..all()
            },
        );
        for (text, times) in self.times.chips() {
            chip(Some(text), EventsQuery { times, ..all() });
        }
        chips
    }
}

/// A replay of all that the list's address asks for.
pub(super) fn replay_of(params: &mut Params, signed: &Signed, now: Timestamp) -> Result<ReplayBulk, Problem> {
    let asked = EventsQuery::read(params, signed);
    let status = asked.status.map(|status| ReplayStatus::named(status.as_str()));
    let status = status.map(|known| known.filter(|status| status.is_of(Replays::Events)));
    if status == Some(None) {
        let why = "must be Failed or Deferred: nothing else is worked on again";
        return Err(Problem::field("status", why));
    }
    let filter = ReplayFilter {
        status: status.flatten(),
        event_type: asked.event_type,
        entity_id: asked.entity_id,
        from: asked.times.start(now),
        to: asked.times.end(),
        ..ReplayFilter::default()
    };
    Ok(ReplayBulk {
        across: asked.everywhere.then_some(Across::All),
        ..ReplayBulk::new(Replays::Events, filter)
    })
}

impl Page {
    /// Whether there may be something to replay among what is shown.
    fn can_replay(&self) -> bool {
        let may = self.asked.status.is_none_or(EventStatus::may_be_replayed);
        let some = self.rows.iter().any(|row| row.status.may_be_replayed());
        may && self.frame.may_replay() && (some || self.older.is_some())
    }

    /// The page of what the event is about; none where that is another tenant's.
    fn about(&self, event: &Event) -> Option<String> {
        let here = event.tenant == Some(self.frame.tenant);
        here.then(|| communications_of(entity_type(event), &event.entity_id))
    }

    fn is_ops(&self) -> bool {
        self.frame.role == Role::Ops
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = EventsQuery::read(&mut params, &signed);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let frame = Frame::new(&state, &signed, "Events", Nav::Events)
        .await?
        .watched();
    let filter = asked.filter(frame.now);
    let asking = PageRequest { limit: ROWS, after };
    let store = &state.central.store;
    let found = store.events(asked.tenant(&signed), &filter, asking).await?;
    let query = asked.query();
    let page = Page {
        rows: found.rows,
        older: found.next.map(|next| older("/events", &query, next)),
        paged: after.is_some(),
        frame,
        asked,
        query,
    };
    Ok(page.show(&state))
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = EventsQuery::read(&mut params, &signed);
    params.finish()?;
    let filter = asked.filter(state.central.clock.now());
    Ok(csv::events(state, asked.tenant(&signed), filter).await?)
}
