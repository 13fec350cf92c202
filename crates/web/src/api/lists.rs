//! Notification lists as a whole. Single entries are in [`super::recipients`].

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        list::{ListView, read_list},
        page::Paged,
    },
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::lists::ListError;
use store::directory::List;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<ListView>>> {
    let lists = state.central.store.lists(caller.tenant).await?;
    paging::page_whole(lists, params, |list| list.name.clone(), ListView::from).map(Json)
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
) -> Result<Json<ListView>> {
    let list = state.central.store.list_by_name(caller.tenant, &name).await?;
    list.map(|list| Json(list.into()))
        .ok_or_else(|| Problem::not_found("list"))
}

pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    let list = read_list(fields, None).map_err(Problem::fields)?;
    let created = state
        .central
        .lists
        .create(caller.tenant, &list, &caller.actor)
        .await?;
    if !created {
        let text = "there is a list of that name already; PUT replaces it";
        return Err(Problem::new(Code::Conflict, text));
    }
    let location = [(header::LOCATION, format!("/api/lists/{}", encode(&list.name)))];
    Ok((StatusCode::CREATED, location, Json(ListView::from(list))).into_response())
}

pub async fn replace(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Json<ListView>> {
    let list = read_list(fields, Some(&name)).map_err(Problem::fields)?;
    let replace = |current: &mut List| {
        current.recipients.clone_from(&list.recipients);
        Ok::<_, ListError>(())
    };
    let lists = &state.central.lists;
    match lists.change(caller.tenant, &name, &caller.actor, replace).await? {
        Some(()) => Ok(Json(list.into())),
        None => Err(Problem::not_found("list")),
    }
}

pub async fn delete(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
) -> Result<StatusCode> {
    if state
        .central
        .lists
        .delete(caller.tenant, &name, &caller.actor)
        .await?
    {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::not_found("list"))
    }
}

impl From<ListError> for Problem {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Fields(problems) => Problem::fields(problems),
            ListError::Store(error) => error.into(),
        }
    }
}

/// A name as it stands in a path.
pub fn encode(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    name.bytes()
        .map(|b| {
            if plain(b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_is_encoded_for_a_path() {
        assert_eq!(super::encode("on call/äß"), "on%20call%2F%C3%A4%C3%9F");
    }
}
