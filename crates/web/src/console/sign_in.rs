//! Signing in and out.

use super::{
    assets::{ADDRESSES, Addresses},
    cookies::{self, Cookie},
    failure::Result,
    flash::{Flash, is_ours, redirect},
    form::Form,
    frame,
    guard::{SESSION_COOKIE, Signed, address},
    settings::ConsoleSettings,
    show::human_age,
    theme::Theme,
};
use crate::{
    api::PathText,
    problem::{Code, Problem},
    state::Shared,
};
use askama::Template;
use axum::{
    Extension,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use central::users::{SESSION_LIFETIME, SignInError, SignedIn, token};
use std::{net::SocketAddr, time::Duration};

/// Before there is a session its form's secret is in a cookie.
const FORM_COOKIE: &str = "waypost_form";
const FORM_LASTS: Duration = Duration::from_secs(3600);

#[derive(Template)]
#[template(path = "sign_in/page.html")]
struct Page {
    assets: &'static Addresses,
    theme: Theme,
    flash: Option<Flash>,
    csrf: String,
    next: String,
    name: String,
    wrong: Option<String>,
    openid: bool,
    /// Nobody can sign in yet.
    nobody: bool,
}

#[derive(Template)]
#[template(path = "sign_in/link.html")]
struct LinkPage {
    assets: &'static Addresses,
    theme: Theme,
    flash: Option<Flash>,
    csrf: String,
}

pub async fn page(State(state): State<Shared>, headers: HeaderMap, uri: Uri) -> Result {
    let next = next_of(&uri);
    if let Some(token) = cookies::read(&headers, &state.console, SESSION_COOKIE)
        && state.central.users.session(token).await?.is_some()
    {
        return Ok(redirect(&next));
    }
    show(&state, &headers, next, String::new(), None, StatusCode::OK).await
}

async fn show(
    state: &Shared,
    headers: &HeaderMap,
    next: String,
    name: String,
    wrong: Option<String>,
    status: StatusCode,
) -> Result {
    let (csrf, fresh) = form_secret(headers, &state.console);
    let openid = state.console.oidc.is_some();
    let page = Page {
        assets: &ADDRESSES,
        theme: Theme::read(headers),
        flash: Flash::read(headers, &state.console),
        nobody: !openid && !state.central.users.anybody().await?,
        csrf: csrf.clone(),
        next,
        name,
        wrong,
        openid,
    };
    let mut response = frame::page(state, page.flash.is_some(), status, &page);
    if fresh {
        remember_form(&csrf, &mut response, &state.console);
    }
    Ok(response)
}

pub async fn sign_in(
    State(state): State<Shared>,
    headers: HeaderMap,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    form: Form,
) -> Result {
    check_form(&headers, &state.console, &form)?;
    let next = Some(form.get("next").unwrap_or_default()).filter(|next| is_ours(next));
    let next = next.unwrap_or("/").to_owned();
    let (name, password) = (
        form.get("name").unwrap_or_default(),
        form.get("password").unwrap_or_default(),
    );
    let from = address(&state, &headers, peer.as_deref());
    match state.central.users.sign_in(name, password, from).await {
        Ok(signed_in) => Ok(enter(&state, &signed_in, &next)),
        Err(SignInError::Refused) => {
            let wrong = "The name or the password is wrong.".to_owned();
            let status = StatusCode::UNAUTHORIZED;
            show(&state, &headers, next, name.to_owned(), Some(wrong), status).await
        }
        Err(SignInError::TooMany { wait }) => {
            let wait = human_age(wait.max(Duration::from_secs(1)));
            let wrong = format!("Too many wrong tries. Wait {wait}, then try again.");
            let status = StatusCode::TOO_MANY_REQUESTS;
            show(&state, &headers, next, name.to_owned(), Some(wrong), status).await
        }
        Err(SignInError::Store(error)) => Err(error.into()),
    }
}

/// A link asks before it signs in, so that a program that merely looks at it does not use it up.
pub async fn link_page(State(state): State<Shared>, headers: HeaderMap, _: PathText) -> Result {
    let (csrf, fresh) = form_secret(&headers, &state.console);
    let page = LinkPage {
        assets: &ADDRESSES,
        theme: Theme::read(&headers),
        flash: Flash::read(&headers, &state.console),
        csrf: csrf.clone(),
    };
    let mut response = frame::page(&state, page.flash.is_some(), StatusCode::OK, &page);
    if fresh {
        remember_form(&csrf, &mut response, &state.console);
    }
    Ok(response)
}

pub async fn link(
    State(state): State<Shared>,
    headers: HeaderMap,
    PathText(token): PathText,
    form: Form,
) -> Result {
    check_form(&headers, &state.console, &form)?;
    match state.central.users.sign_in_by_link(&token).await {
        Ok(signed_in) => Ok(enter(&state, &signed_in, "/")),
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(_) => Ok(
            Flash::bad("This link was used before or is too old. Ask for another one.")
                .at("/sign-in", &state.console),
        ),
    }
}

pub async fn sign_out(State(state): State<Shared>, signed: Signed) -> Result {
    state.central.users.sign_out(&signed.token).await?;
    let mut response = Flash::good("You are signed out.").at("/sign-in", &state.console);
    Cookie::gone(SESSION_COOKIE).set(response.headers_mut(), &state.console);
    Ok(response)
}

/// Hands the session over and goes on.
pub fn enter(state: &Shared, signed_in: &SignedIn, next: &str) -> Response {
    let mut response = redirect(next);
    let cookie = Cookie {
        name: SESSION_COOKIE,
        value: &signed_in.token,
        lasts: Some(SESSION_LIFETIME),
    };
    cookie.set(response.headers_mut(), &state.console);
    Cookie::gone(FORM_COOKIE).set(response.headers_mut(), &state.console);
    response
}

/// Where to go after signing in.
pub fn next_of(uri: &Uri) -> String {
    let next = crate::query::Params::read(uri)
        .ok()
        .and_then(|mut params| params.text("next"));
    next.filter(|next| is_ours(next)).unwrap_or("/".into())
}

/// The secret of the forms before signing in, and whether it was just made.
fn form_secret(headers: &HeaderMap, settings: &ConsoleSettings) -> (String, bool) {
    match cookies::read(headers, settings, FORM_COOKIE) {
        Some(known) if known.len() == 64 && known.bytes().all(|b| b.is_ascii_hexdigit()) => {
            (known.to_owned(), false)
        }
        _ => (token(), true),
    }
}

fn remember_form(secret: &str, response: &mut Response, settings: &ConsoleSettings) {
    let cookie = Cookie {
        name: FORM_COOKIE,
        value: secret,
        lasts: Some(FORM_LASTS),
    };
    cookie.set(response.headers_mut(), settings);
}

fn check_form(headers: &HeaderMap, settings: &ConsoleSettings, form: &Form) -> Result<(), Problem> {
    match cookies::read(headers, settings, FORM_COOKIE) {
        Some(secret) if !secret.is_empty() => form.check(secret),
        _ => Err(Problem::new(
            Code::Forbidden,
            "the sign-in page has waited too long, or the browser keeps no cookies; reload it and try again",
        )),
    }
}
