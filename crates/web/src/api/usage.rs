//! What hangs on something, for whoever is about to remove it.

use super::{PathText, tenants};
use crate::{
    auth::Caller,
    dto::usage::UsageView,
    problem::{Problem, Result},
    state::Shared,
};
use axum::{Json, extract::State};
use domain::{ProviderId, TemplateId, TextFilters};

type Answer = Result<Json<UsageView>>;

pub async fn of_list(State(state): State<Shared>, caller: Caller, PathText(name): PathText) -> Answer {
    let found = state.central.store.list_by_name(caller.tenant, &name).await?;
    found.ok_or_else(|| Problem::not_found("list"))?;
    let by = TextFilters {
        list: Some(name),
        ..TextFilters::default()
    };
    Ok(Json(state.central.usage_of(caller.tenant, by).await?.into()))
}

pub async fn of_provider(State(state): State<Shared>, caller: Caller, PathText(id): PathText) -> Answer {
    let found = state
        .central
        .store
        .provider(caller.tenant, &ProviderId::new(id.as_str()))
        .await?;
    found.ok_or_else(|| Problem::not_found("provider"))?;
    let by = TextFilters {
        provider: Some(id),
        ..TextFilters::default()
    };
    Ok(Json(state.central.usage_of(caller.tenant, by).await?.into()))
}

pub async fn of_template(State(state): State<Shared>, caller: Caller, PathText(id): PathText) -> Answer {
    let none = || Problem::not_found("template");
    let id = id.parse().map(TemplateId).map_err(|_| none())?;
    let central = &state.central;
    let found = central.templates.live(caller.tenant, id).await?;
    let usage = central
        .usage_of_template(caller.tenant, &found.ok_or_else(none)?)
        .await?;
    Ok(Json(usage.into()))
}

pub async fn of_event_type(State(state): State<Shared>, caller: Caller, PathText(name): PathText) -> Answer {
    let central = &state.central;
    let found = central.store.event_type(caller.tenant, &name).await?;
    found.ok_or_else(|| Problem::not_found("event type"))?;
    Ok(Json(
        central.usage_of_event_type(caller.tenant, &name).await?.into(),
    ))
}

pub async fn of_tenant(State(state): State<Shared>, _: Caller, PathText(name): PathText) -> Answer {
    let found = tenants::named(&state, &name).await?;
    Ok(Json(state.central.usage_of_tenant(found.id).await?.into()))
}
