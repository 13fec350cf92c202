//! Pages outside the console's frame, for people who are not signed in and need not be.

pub use super::{assets::Addresses, theme::Theme};

use super::{assets::ADDRESSES, headers};
use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};

pub fn assets() -> &'static Addresses {
    &ADDRESSES
}

pub fn show(status: StatusCode, page: &impl Template) -> Response {
    let mut response = match page.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    headers::add(response.headers_mut());
    response
}
