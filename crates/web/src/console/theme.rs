//! Light, dark, or as the viewer's system has it. Kept in a cookie, so that the page comes in its colours at once.

use super::{
    cookies::{self, Cookie},
    flash::redirect,
    form::Form,
    guard::Signed,
};
use crate::state::Shared;
use axum::{extract::State, http::HeaderMap, response::Response};
use std::time::Duration;

const COOKIE: &str = "waypost_theme";
const THEME_COOKIE_AGE: Duration = Duration::from_secs(365 * 24 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub fn read(headers: &HeaderMap) -> Self {
        Self::named(cookies::read_any(headers, COOKIE).unwrap_or_default())
    }

    fn named(name: &str) -> Self {
        match name {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

pub async fn choose(State(state): State<Shared>, signed: Signed, form: Form) -> Response {
    let theme = Theme::named(form.get("theme").unwrap_or_default());
    let mut response = redirect(form.get("back").unwrap_or("/"));
    let cookie = Cookie {
        name: COOKIE,
        value: theme.as_str(),
        lasts: Some(THEME_COOKIE_AGE),
    };
    let _ = signed;
    cookie.set(response.headers_mut(), &state.console);
    response
}
