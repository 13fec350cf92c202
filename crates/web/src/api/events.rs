//! Events: handing them in, seeing what became of them, and what is said about their types.

use super::PathText;
use crate::{
    auth::Caller,
    body::{EventBody, JsonObject},
    dto::{
        event::{EventAnswer, EventView, read_event},
        event_type::{EventTypeView, read_event_type},
        page::Paged,
    },
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    raw_json,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use central::events::EventError;
use domain::EventId;
use store::events::EventFilter;

pub async fn emit(
    State(state): State<Shared>,
    caller: Caller,
    EventBody { fields, json }: EventBody,
) -> Result<(StatusCode, Json<EventAnswer>)> {
    let tenant = tenant_name(&state, &caller).await?;
    let payload = raw_json::member(&json, "payload");
    let event = read_event(fields, tenant, payload).map_err(Problem::fields)?;
    let emitted = state.central.events.emit(event).await?;
    let answer = EventAnswer {
        event_id: emitted.id,
        duplicate: emitted.duplicate,
    };
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

async fn tenant_name(state: &Shared, caller: &Caller) -> Result<String> {
    let name = state.central.events.tenant_name(caller.tenant).await?;
    name.ok_or_else(|| Problem::not_found("tenant"))
}

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<EventView>>> {
    let filter = filter_of(&mut params);
    let page = paging::page(&mut params);
    params.finish()?;
    let found = state
        .central
        .store
        .events(Some(caller.tenant), &filter, page)
        .await?;
    Ok(Json(Paged {
        items: found.rows.into_iter().map(EventView::from).collect(),
        next_cursor: found.next.map(paging::print_cursor),
    }))
}

/// The filters of a list of events.
pub fn filter_of(params: &mut Params) -> EventFilter {
    EventFilter {
        status: params.parsed("status"),
        event_type: params.text("eventType"),
        entity_id: params.text("entityId"),
        from: params.timestamp("from"),
        to: params.timestamp("to"),
        ..EventFilter::default()
    }
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<EventView>> {
    let found = state.central.store.event(caller.tenant, event_id(&id)?).await?;
    found
        .map(|event| Json(EventView::whole(event)))
        .ok_or_else(|| Problem::not_found("event"))
}

/// The tenant's own; who runs the installation has `/ops/outbox`.
pub async fn replay(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    let (id, tenant) = (event_id(&id)?, Some(caller.tenant));
    state
        .central
        .events
        .replay_event(tenant, id, &caller.actor)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is not a UUID names nothing.
pub fn event_id(text: &str) -> Result<EventId> {
    text.parse().map_err(|_| Problem::not_found("event"))
}

pub async fn types(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<EventTypeView>>> {
    let types = state.central.store.event_types(caller.tenant).await?;
    paging::page_whole(types, params, |one| one.name.clone(), EventTypeView::from).map(Json)
}

pub async fn get_type(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
) -> Result<Json<EventTypeView>> {
    let found = state.central.store.event_type(caller.tenant, &name).await?;
    found
        .map(|row| Json(row.into()))
        .ok_or_else(|| Problem::not_found("event type"))
}

pub async fn put_type(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Json<EventTypeView>> {
    let definition = read_event_type(fields, &name).map_err(Problem::fields)?;
    let events = &state.central.events;
    let put = events
        .put_type(caller.tenant, &name, &definition, &caller.actor)
        .await?;
    Ok(Json(put.into()))
}

pub async fn delete_type(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
) -> Result<StatusCode> {
    match state
        .central
        .events
        .delete_type(caller.tenant, &name, &caller.actor)
        .await?
    {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("event type")),
    }
}

impl From<EventError> for Problem {
    fn from(error: EventError) -> Self {
        match error {
            EventError::Fields(problems) => Problem::fields(problems),
            EventError::Store(error) => error.into(),
        }
    }
}

impl From<central::events::ResendError> for Problem {
    fn from(error: central::events::ResendError) -> Self {
        use central::events::ResendError;
        match error {
            ResendError::NotFound(what) => Problem::not_found(what),
            ResendError::Fields(problems) => Problem::fields(problems),
            ResendError::Conflict(why) => Problem::new(Code::Conflict, why),
            ResendError::Store(error) => error.into(),
        }
    }
}
