//! The page behind the unsubscribe link of a mail. Looking at it does nothing; the button, and a mail program's one click
//! (RFC 8058), do.

use super::PathText;
use crate::{
    console::bare,
    problem::{Problem, Result},
    state::Shared,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use central::{suppressions::SuppressionError, unsubscribe::Unsubscription};
use domain::Actor;

#[derive(Template)]
#[template(path = "unsubscribe/page.html")]
struct Page {
    assets: &'static bare::Addresses,
    theme: bare::Theme,
    link: Option<Unsubscription>,
    done: bool,
}

/// A token that cannot even be read is none of ours: the answer is a page, too.
type Token = std::result::Result<PathText, Problem>;

fn read(state: &Shared, token: Token) -> Option<Unsubscription> {
    let PathText(token) = token.ok()?;
    state.central.unsubscribing.read(&token)
}

/// Who did it, as the audit log shows it.
const RECIPIENT: &str = "recipient";

pub async fn page(State(state): State<Shared>, headers: HeaderMap, token: Token) -> Response {
    let link = read(&state, token);
    show(&headers, link, false)
}

pub async fn act(State(state): State<Shared>, headers: HeaderMap, token: Token) -> Result<Response> {
    let Some(link) = read(&state, token) else {
        return Ok(show(&headers, None, false));
    };
    let added = state
        .central
        .suppressions
        .add(link.tenant, &link.entry(), &Actor::new(RECIPIENT))
        .await;
    match added {
        Ok(_) => Ok(show(&headers, Some(link), true)),
        Err(SuppressionError::Fields(problems)) => Err(Problem::fields(problems)),
        Err(SuppressionError::Store(error)) => Err(error.into()),
    }
}

fn show(headers: &HeaderMap, link: Option<Unsubscription>, done: bool) -> Response {
    let status = match link {
        Some(_) => StatusCode::OK,
        None => StatusCode::NOT_FOUND,
    };
    let page = Page {
        assets: bare::assets(),
        theme: bare::Theme::read(headers),
        link,
        done,
    };
    bare::show(status, &page)
}
