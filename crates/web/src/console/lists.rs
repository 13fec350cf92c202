//! Notification lists: all of them, and making one.

use super::{
    download::{Column, Download},
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    recipients::channel,
};
use crate::{api::lists::encode, csv::Cell, state::Shared};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::lists::ListError;
use domain::{FieldError, Recipient};
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

/// By name.
async fn lists(state: &Shared, signed: &Signed) -> Result<Vec<List>> {
    let mut lists = state.central.store.lists(signed.caller.tenant).await?;
    lists.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(lists)
}

/// Everybody on every list. A list with nobody on it has a line of its own.
pub struct Everybody;

impl Download for Everybody {
    type Row = (String, Option<Recipient>);
    type Filter = ();
    const FILE: &'static str = "lists.csv";
    const COLUMNS: &'static [Column<Self::Row>] = &[
        ("listName", |(list, _)| Cell::text(list)),
        ("address", |(_, one)| {
            Cell::text_or_empty(one.as_ref().map(|one| &one.address))
        }),
        ("name", |(_, one)| {
            Cell::text_or_empty(one.as_ref().and_then(|one| one.name.as_ref()))
        }),
        ("type", |(_, one)| Cell::plain_or_empty(one.as_ref().map(channel))),
        ("enabled", |(_, one)| {
            Cell::plain_or_empty(one.as_ref().map(|one| one.enabled))
        }),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Self::Row>> {
        let mut rows = vec![];
        for list in lists(state, signed).await? {
            if list.recipients.is_empty() {
                rows.push((list.name, None));
                continue;
            }
            let everybody = list.recipients.into_iter();
            rows.extend(everybody.map(|one| (list.name.clone(), Some(one))));
        }
        Ok(rows)
    }
}

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "Lists", Nav::Lists).await?,
        lists: lists(state, signed).await?,
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
