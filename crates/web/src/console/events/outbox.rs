//! The outbox: every event as it was handed in, and what keeps it if something does.

use super::{TABS, communications_of, csv, entity_type, older};
use crate::{
    console::{
        failure::Result,
        filter::{Query, RANGES, since},
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{cut, event_badge},
    },
    paging,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::{EventStatus, TenantId, Timestamp, Zone};
use store::{
    directory::Role,
    events::{Event, EventFilter},
    query::Page as Asking,
};

const ROWS: u32 = 50;

/// What the address asks for.
#[derive(Debug, Default)]
struct Asked {
    status: Option<EventStatus>,
    event_type: Option<String>,
    entity_id: Option<String>,
    range: Option<String>,
    /// Of all tenants, also of those there are not.
    everywhere: bool,
}

#[derive(Template)]
#[template(path = "events/outbox.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    rows: Vec<Event>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

impl Asked {
    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn read(params: &mut Params, signed: &Signed) -> Self {
        let asked = Self {
            status: params.parsed("status"),
            event_type: params.text("eventType"),
            entity_id: params.text("entityId"),
            range: params.text("range"),
            everywhere: params.boolean("everywhere").unwrap_or(false),
        };
        let known = |name: &str| RANGES.iter().any(|(one, ..)| *one == name);
        if asked.range.as_deref().is_some_and(|name| !known(name)) {
            params.problem("range", "is not one of the times to choose from");
        }
        if asked.everywhere && signed.caller.role != Role::Ops {
            params.problem("everywhere", "takes the role ops");
        }
        asked
    }

    fn filter(&self, now: Timestamp, zone: &Zone) -> EventFilter {
        EventFilter {
            status: self.status,
            event_type: self.event_type.clone(),
            entity_id: self.entity_id.clone(),
            from: self.range.as_deref().and_then(|name| since(name, now, zone)),
            across: self.everywhere,
            ..EventFilter::default()
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
        query.add("range", self.range.as_deref());
        query.add("everywhere", self.everywhere.then_some("true"));
        query.0
    }
}

impl Page {
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
    let asked = Asked::read(&mut params, &signed);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let frame = Frame::new(&state, &signed, "Events", Nav::Events).await?;
    let filter = asked.filter(frame.now, &signed.zone);
    let asking = Asking { limit: ROWS, after };
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
    let asked = Asked::read(&mut params, &signed);
    params.finish()?;
    let filter = asked.filter(state.central.clock.now(), &signed.zone);
    Ok(csv::events(state, asked.tenant(&signed), filter).await?)
}
