//! Notification lists: all of them, and making one.

use super::{
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
};
use crate::{api::lists::encode, state::Shared};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::lists::ListError;
use domain::FieldError;
use store::directory::List;

#[derive(Template)]
#[template(path = "lists/page.html")]
struct Page {
    frame: Frame,
    lists: Vec<List>,
    bad: Vec<FieldError>,
    name: String,
}
framed!(Page);

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    let mut lists = state.central.store.lists(signed.caller.tenant).await?;
    lists.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Page {
        frame: Frame::new(state, signed, "Lists", Nav::Lists).await?,
        lists,
        bad: vec![],
        name: String::new(),
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    Ok(show(&state, &signed).await?.show(&state))
}

pub async fn create(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let name = form.text("name").unwrap_or_default();
    let tenant = signed.caller.tenant;
    let list = List {
        name: name.clone(),
        recipients: vec![],
    };
    let bad = if name.contains(char::is_control) {
        vec![FieldError::new("name", "must have printable characters only")]
    } else {
        match state
            .central
            .lists
            .create(tenant, &list, &signed.caller.actor)
            .await
        {
            Ok(true) => {
                let said = Flash::good("The list is made. Put somebody on it.");
                return Ok(said.at(&format!("/lists/{}", encode(&name)), &state.console));
            }
            Ok(false) => vec![FieldError::new(
                "name",
                "is taken: there is a list of that name already",
            )],
            Err(ListError::Fields(bad)) => bad,
            Err(ListError::Store(error)) => return Err(error.into()),
        }
    };
    let page = Page {
        bad,
        name,
        ..show(&state, &signed).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}
