//! Tenants, for whoever runs the installation.

use super::{PathText, keys::name_problems};
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        page::Paged,
        tenant::{NewTenantView, TenantView},
    },
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use store::directory::{Role, Tenant, TenantDeletion, TenantUse};

pub async fn list(State(state): State<Shared>, _: Caller, params: Params) -> Result<Json<Paged<TenantView>>> {
    let tenants = state.central.store.tenants().await?;
    paging::page_whole(tenants, params, |tenant| tenant.name.clone(), TenantView::from).map(Json)
}

/// Makes a tenant and, if asked, the first key with which its admin makes the others.
pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<(StatusCode, Json<NewTenantView>)> {
    let name = fields.text("name");
    let name = fields.require("name", name);
    let admin_key = fields.text("adminKey");
    if name.as_deref().is_some_and(|name| !is_tenant_name(name)) {
        fields.problem("name", "must be 1 to 64 of letters, digits, '-', '_' and '.'");
    }
    if let Some(key) = &admin_key {
        fields.add_all(name_problems("adminKey", key));
    }
    let problems = fields.finish();
    if !problems.is_empty() {
        return Err(Problem::fields(problems));
    }
    let tenant = state
        .central
        .store
        .create_tenant(&name.unwrap_or_default(), &caller.actor)
        .await?;
    let admin_key = match admin_key {
        None => None,
        Some(key) => Some(
            state
                .central
                .keys
                .create(tenant.id, &key, Role::Admin, &caller.actor)
                .await?
                .into(),
        ),
    };
    Ok((
        StatusCode::CREATED,
        Json(NewTenantView {
            view: tenant.into(),
            admin_key,
        }),
    ))
}

pub async fn remove(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
) -> Result<StatusCode> {
    let found = named(&state, &name).await?;
    match state.central.delete_tenant(found.id, &caller.actor).await? {
        TenantDeletion::Deleted => Ok(StatusCode::NO_CONTENT),
        TenantDeletion::NotFound => Err(Problem::not_found("tenant")),
        TenantDeletion::InUse(hangs) => Err(Problem::new(Code::Conflict, in_use(&name, &hangs))),
    }
}

pub async fn named(state: &Shared, name: &str) -> Result<Tenant> {
    // What cannot be a tenant's name names none.
    let found = match is_tenant_name(name) {
        true => state.central.store.tenant_by_name(name).await?,
        false => None,
    };
    found.ok_or_else(|| Problem::not_found("tenant"))
}

/// What hangs on a tenant that is to be deleted, and what to do about it.
pub fn in_use(name: &str, hangs: &TenantUse) -> String {
    format!(
        "the tenant {name} still has {hangs}; cancel or discard the notifications and remove the providers first"
    )
}

pub fn is_tenant_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(fine)
}
