//! API keys of the tenant. A key's text is answered once, when it is made.

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        key::{KeyView, NewKeyView},
        page::Paged,
    },
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::FieldError;
use store::directory::Role;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<KeyView>>> {
    let keys = state.central.store.keys(caller.tenant).await?;
    paging::page_whole(keys, params, |key| format!("{:020}", key.id), KeyView::from).map(Json)
}

/// An admin makes keys for the tenant, never one that reaches beyond it.
pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<(StatusCode, Json<NewKeyView>)> {
    let name = fields.text("name");
    let name = fields.require("name", name);
    let role = fields.parsed::<Role>("role");
    let role = fields.require("role", role);
    if let Some(name) = &name {
        fields.add_all(name_problems("name", name));
    }
    let problems = fields.finish();
    let (Some(name), Some(role), true) = (name, role, problems.is_empty()) else {
        return Err(Problem::fields(problems));
    };
    if role == Role::Ops {
        return Err(Problem::forbidden(
            "ops keys reach every tenant and are made with `waypost key create` on the database itself",
        ));
    }
    let minted = state
        .central
        .keys
        .create(caller.tenant, &name, role, &caller.actor)
        .await?;
    Ok((StatusCode::CREATED, Json(minted.into())))
}

pub async fn revoke(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    let revoked = match id.parse() {
        Ok(id) => {
            state
                .central
                .keys
                .revoke(caller.tenant, id, &caller.actor)
                .await?
        }
        Err(_) => false,
    };
    if revoked {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::not_found("key"))
    }
}

/// What is wrong with the name of a key.
pub fn name_problems(field: &str, name: &str) -> Vec<FieldError> {
    if name.trim().is_empty() || name.chars().count() > 255 || name.contains(char::is_control) {
        vec![FieldError::new(field, "must have 1 to 255 printable characters")]
    } else {
        vec![]
    }
}
