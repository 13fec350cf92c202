//! What events became: schedules, the communications of one entity, sending and working once more.

use super::{
    PathText, PathTexts,
    events::{event_id, filter_of},
    submit,
};
use crate::{
    auth::Caller,
    body::{JsonObject, OptionalObject},
    dto::{
        communication::{CommunicationLog, ResendEntityAnswer, ResendSkipped, logs},
        event::EventView,
        page::Paged,
        schedule::{AutomationSchedule, ReplayAnswer},
    },
    fields::Fields,
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use central::events::{ReplayRequest, Resend};
use domain::{Channel, FieldError, TemplateId, TenantId};
use store::events::ScheduleFilter;
use uuid::Uuid;

/// The kind of entity that `bookingId` means.
const BOOKING: &str = "booking";

/// `bookingId`, or `entityType` and `entityId`.
fn entity_of(params: &mut Params) -> Option<(String, String)> {
    let (booking, kind, id) = (
        params.text("bookingId"),
        params.text("entityType"),
        params.text("entityId"),
    );
    match (booking, kind, id) {
        (Some(id), None, None) => Some((BOOKING.to_owned(), id)),
        (None, Some(kind), Some(id)) => Some((kind, id)),
        (None, None, None) => None,
        _ => {
            params.problem("entityId", "give bookingId, or entityType and entityId");
            None
        }
    }
}

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<AutomationSchedule>>> {
    let filter = ScheduleFilter {
        entity: entity_of(&mut params),
        status: params.parsed("status"),
        event_type: None,
    };
    let page = paging::page(&mut params);
    params.finish()?;
    let events = &state.central.events;
    let (views, next) = events.schedule_views(caller.tenant, &filter, page).await?;
    Ok(Json(Paged {
        items: views.into_iter().map(AutomationSchedule::from).collect(),
        next_cursor: next.map(paging::print_cursor),
    }))
}

pub async fn communications(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<CommunicationLog>>> {
    let entity = entity_of(&mut params);
    let page = paging::page(&mut params);
    if entity.is_none() {
        params.problem("entityId", "give bookingId, or entityType and entityId");
    }
    params.finish()?;
    let (kind, id) = entity.unwrap_or_default();
    let found = state
        .central
        .events
        .communications(caller.tenant, &kind, &id, page)
        .await?;
    Ok(Json(Paged {
        next_cursor: found.next.map(paging::print_cursor),
        items: logs(found),
    }))
}

pub async fn resend_booking(
    state: State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    PathText(id): PathText,
    body: JsonObject,
) -> Result<(StatusCode, Json<ResendEntityAnswer>)> {
    resend(state, caller, headers, (BOOKING.to_owned(), id), body).await
}

pub async fn resend_entity(
    state: State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    PathTexts(kind, id): PathTexts,
    body: JsonObject,
) -> Result<(StatusCode, Json<ResendEntityAnswer>)> {
    resend(state, caller, headers, (kind, id), body).await
}

async fn resend(
    State(state): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    (entity_type, entity_id): (String, String),
    JsonObject(fields): JsonObject,
) -> Result<(StatusCode, Json<ResendEntityAnswer>)> {
    let (channel, template) = read_resend(fields).map_err(Problem::fields)?;
    let request = submit::header_key(&headers)?.unwrap_or_else(|| Uuid::now_v7().to_string());
    let ask = Resend {
        tenant: caller.tenant,
        entity_type,
        entity_id,
        channel,
        template,
        request: request.clone(),
        actor: caller.actor,
    };
    let resent = state.central.events.resend(&ask).await?;
    let mut notifications = vec![];
    for submitted in resent.submitted {
        notifications.push(submit::answer(submitted).map_err(Problem::fields)?);
    }
    let skipped = resent.skipped.into_iter().map(|message| ResendSkipped {
        template_id: message.template,
        template_name: message.template_name,
        reason: message.reason,
    });
    let answer = ResendEntityAnswer {
        request_id: request,
        event_id: resent.event,
        notifications,
        skipped: skipped.collect(),
    };
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

fn read_resend(mut fields: Fields) -> Result<(Channel, Option<TemplateId>), Vec<FieldError>> {
    let channel: Option<Channel> = fields.parsed("channel");
    let channel = fields.require("channel", channel);
    let template: Option<TemplateId> = fields.any("templateId").and_then(|value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parsed = text.parse().ok().map(TemplateId);
        if parsed.is_none() {
            fields.problem("templateId", "is not the id of a template");
        }
        parsed
    });
    let problems = fields.finish();
    match (channel, problems.is_empty()) {
        (Some(channel), true) => Ok((channel, template)),
        _ => Err(problems),
    }
}

pub async fn replay(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(fields): OptionalObject,
) -> Result<Json<ReplayAnswer>> {
    replay_for(&state, caller.tenant, &id, fields, caller.actor).await
}

async fn replay_for(
    state: &Shared,
    tenant: TenantId,
    id: &str,
    mut fields: Fields,
    actor: domain::Actor,
) -> Result<Json<ReplayAnswer>> {
    let new_templates = fields.boolean("newTemplates").unwrap_or(false);
    let problems = fields.finish();
    if !problems.is_empty() {
        return Err(Problem::fields(problems));
    }
    let ask = ReplayRequest {
        tenant,
        schedule: id.parse().map_err(|_| Problem::not_found("schedule"))?,
        new_templates,
        actor,
    };
    Ok(Json(state.central.events.replay_schedule(&ask).await?.into()))
}

/// For ops: the outbox of all tenants, also of those there are not.
pub async fn outbox(
    State(state): State<Shared>,
    _: Caller,
    mut params: Params,
) -> Result<Json<Paged<EventView>>> {
    let tenant = tenant_of(&state, &mut params).await?;
    let filter = store::events::EventFilter {
        across: true,
        ..filter_of(&mut params)
    };
    let page = paging::page(&mut params);
    params.finish()?;
    let found = state.central.store.events(tenant, &filter, page).await?;
    Ok(Json(Paged {
        items: found.rows.into_iter().map(EventView::from).collect(),
        next_cursor: found.next.map(paging::print_cursor),
    }))
}

pub async fn replay_event(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    mut params: Params,
) -> Result<StatusCode> {
    let tenant = tenant_of(&state, &mut params).await?;
    params.finish()?;
    let events = &state.central.events;
    events.replay_event(tenant, event_id(&id)?, &caller.actor).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn replay_for_ops(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    mut params: Params,
    OptionalObject(fields): OptionalObject,
) -> Result<Json<ReplayAnswer>> {
    let tenant = tenant_of(&state, &mut params).await?;
    params.finish()?;
    let event = state.central.events.event_by_id(tenant, event_id(&id)?).await?;
    let tenant = event.tenant.ok_or_else(|| Problem::not_found("schedule"))?;
    replay_for(&state, tenant, &id, fields, caller.actor).await
}

/// `tenantId`: a tenant's name or number. A name may be a number, and is meant first.
pub async fn tenant_of(state: &Shared, params: &mut Params) -> Result<Option<TenantId>> {
    let Some(text) = params.text("tenantId") else {
        return Ok(None);
    };
    let found = state.central.store.tenant_by_name(&text).await?;
    let named = found.map(|tenant| tenant.id);
    named
        .or_else(|| text.parse().ok().map(TenantId))
        .map(Some)
        .ok_or_else(|| Problem::not_found("tenant"))
}
