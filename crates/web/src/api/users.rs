//! Users of the tenant's console.

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        page::Paged,
        user::{LinkView, UserView},
    },
    paging, people,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use store::directory::Role;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<UserView>>> {
    let users = state.central.store.users(caller.tenant).await?;
    let key = |user: &store::users::User| format!("{:020}", user.id.0);
    paging::page_whole(users, params, key, |user| UserView::of(user, &caller)).map(Json)
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<UserView>> {
    let user = people::find(&state, &caller, &id).await?;
    Ok(Json(UserView::of(user, &caller)))
}

pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<(StatusCode, Json<UserView>)> {
    let name = fields.text("name");
    let name = fields.require("name", name);
    let role = fields.parsed::<Role>("role");
    let role = fields.require("role", role);
    let password = fields.text("password");
    if let Some(name) = &name {
        fields.add_all(central::users::name_problems(name));
    }
    let problems = fields.finish();
    let (Some(name), Some(role), true) = (name, role, problems.is_empty()) else {
        return Err(Problem::fields(problems));
    };
    let user = people::create(&state, &caller, name, role, password).await?;
    Ok((StatusCode::CREATED, Json(UserView::of(user, &caller))))
}

/// Everything is checked before anything is changed, except what only the store can refuse.
pub async fn change(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<UserView>> {
    let user = people::find(&state, &caller, &id).await?;
    let role = fields.parsed::<Role>("role");
    let password = fields.text("password");
    let disabled = fields.boolean("disabled");
    if let Some(what) = password.as_deref().and_then(central::users::password::problem) {
        fields.problem("password", what);
    }
    if password.is_some() && user.subject.is_some() {
        fields.problem("password", central::users::THROUGH_PROVIDER);
    }
    if let Some(problem) = role.and_then(people::role_problem) {
        fields.add_all(vec![problem]);
    }
    let problems = fields.finish();
    if !problems.is_empty() {
        return Err(Problem::fields(problems));
    }
    if let Some(role) = role {
        people::set_role(&state, &caller, &user, Some(role)).await?;
    }
    if let Some(text) = password {
        people::set_password(&state, &caller, &user, &text).await?;
    }
    if let Some(disabled) = disabled {
        people::set_disabled(&state, &caller, &user, disabled).await?;
    }
    get(State(state), caller, PathText(id)).await
}

/// The user may do nothing in this tenant any more; the person stays known.
pub async fn remove(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    let user = people::find(&state, &caller, &id).await?;
    people::set_role(&state, &caller, &user, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn link(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<(StatusCode, Json<LinkView>)> {
    let user = people::find(&state, &caller, &id).await?;
    let path = people::link(&state, &caller, &user).await?;
    Ok((StatusCode::CREATED, Json(LinkView { path })))
}
