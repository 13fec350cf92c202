//! What goes wrong, as a page: in words, with what to try. Inside the usual frame where somebody is signed in.

use super::{
    frame::{Frame, Nav},
    guard::{Signed, wants_page},
    headers,
    theme::Theme,
};
use crate::{
    problem::{Code, Problem},
    state::Shared,
};
use askama::Template;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

/// A problem on its way out of a page's handler; the guard puts it into the frame.
#[derive(Debug)]
pub struct Trouble(pub Problem);

pub type Result<T = Response, E = Trouble> = std::result::Result<T, E>;

impl<E: Into<Problem>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl Trouble {
    pub fn into_bare(self) -> Response {
        let mut response = self.0.code.status().into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        self.into_bare()
    }
}

#[derive(Template)]
#[template(path = "failure/page.html")]
struct Page<'a> {
    frame: Frame,
    title: &'static str,
    problem: &'a Problem,
    advice: &'static str,
}

#[derive(Template)]
#[template(path = "failure/bare.html")]
struct Bare<'a> {
    assets: &'static super::assets::Addresses,
    theme: Theme,
    title: &'static str,
    problem: &'a Problem,
    advice: &'static str,
}

/// Replaces a problem by a page that says it.
pub async fn dressed(state: &Shared, signed: &Signed, response: Response) -> Response {
    let Some(problem) = response.extensions().get::<Problem>().cloned() else {
        return response;
    };
    let frame = match Frame::new(state, signed, "Something is not right", Nav::None).await {
        Ok(frame) => frame,
        Err(_) => return page_of(&problem, signed.theme),
    };
    let page = Page {
        frame,
        title: title(problem.code),
        advice: advice(problem.code),
        problem: &problem,
    };
    let mut dressed = html(problem.code.status(), &page);
    if let Some(by) = response.extensions().get::<crate::auth::AskedBy>() {
        dressed.extensions_mut().insert(by.clone());
    }
    dressed
}

/// The same for somebody who is not signed in.
pub fn bare(headers: &HeaderMap, problem: &Problem) -> Response {
    page_of(problem, Theme::read(headers))
}

fn page_of(problem: &Problem, theme: Theme) -> Response {
    let page = Bare {
        assets: &super::assets::ADDRESSES,
        theme,
        title: title(problem.code),
        advice: advice(problem.code),
        problem,
    };
    html(problem.code.status(), &page)
}

fn html(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(_) => status.into_response(),
    }
}

/// What happened, to a person: they have no key.
fn title(code: Code) -> &'static str {
    match code {
        Code::Forbidden => "Your role does not allow this",
        Code::Unauthorized => "You are not signed in",
        other => other.title(),
    }
}

/// What to try.
fn advice(code: Code) -> &'static str {
    match code {
        Code::NotFound => {
            "It may have been removed, or it belongs to another tenant. Check the address, or go to the overview."
        }
        Code::Forbidden => "Ask an admin of this tenant for the role, or sign in as somebody who has it.",
        Code::Unauthorized => "Sign in and try again.",
        Code::Unavailable => {
            "The database does not answer just now. Nothing was lost; try again in a moment."
        }
        Code::Conflict | Code::WrongState => {
            "Somebody or something was faster. Go back, reload the page and look again."
        }
        Code::SiteOffline => "The site comes back by itself when its link does. Try again then.",
        Code::SiteNoAnswer | Code::SiteFailed => "Try again in a moment, or look at the site itself.",
        Code::Timeout => "Check the connection and try again.",
        Code::TooLarge => "Send less at a time.",
        Code::TooMany => "Close some of the pages that are open, and try again in a moment.",
        Code::Internal => "Try again. If it happens again, look for the request's id in the server's log.",
        Code::MethodNotAllowed => "Go back to the page before and use its buttons.",
        Code::InvalidJson | Code::UnsupportedMediaType | Code::ValidationFailed => {
            "Go back, correct what is named here and try again."
        }
    }
}

/// A path that nothing is at: a page for people, a problem for programs.
pub async fn no_such_page(State(_): State<Shared>, request: Request) -> Response {
    let problem = Problem::new(Code::NotFound, "there is nothing at this path; see /docs");
    if is_for_programs(&request) {
        return problem.into_response();
    }
    unguarded(
        &request,
        &Problem::new(Code::NotFound, "there is no page at this address"),
    )
}

/// A path that takes other methods: a page for people, a problem for programs; the `Allow` header names the methods.
pub async fn no_such_method(State(_): State<Shared>, request: Request) -> Response {
    if is_for_programs(&request) {
        return Problem::new(Code::MethodNotAllowed, "see the Allow header, or /docs").into_response();
    }
    unguarded(
        &request,
        &Problem::new(
            Code::MethodNotAllowed,
            "this address takes what a form sends, not a visit",
        ),
    )
}

fn is_for_programs(request: &Request) -> bool {
    request.uri().path().starts_with("/api/") || !wants_page(request.headers())
}

/// A page that no guard has been in front of.
fn unguarded(request: &Request, problem: &Problem) -> Response {
    let mut response = page_of(problem, Theme::read(request.headers()));
    headers::add(response.headers_mut());
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        axum::http::HeaderValue::from_static("no-store"),
    );
    response
}
