//! The API for people: one page made of the OpenAPI document, without scripts and without anything from elsewhere. A
//! person can write a client from it alone.
//!
//! Leaves to others: what is true of the API ([`crate::routes`], [`crate::describe`]), sample values
//! ([`crate::examples`]).

mod curl;
mod operation;
mod shape;

use crate::{
    console::{assets, theme::Theme},
    openapi, origin,
    problem::{Code, Problem},
    state::Shared,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Response},
};
use operation::Group;
use serde_json::Value;
use shape::Shape;
use std::sync::OnceLock;

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const STYLE: &str = include_str!("../../static/docs.css");

/// What differs from request to request stands in the page as a word that no text of the document contains.
const ORIGIN: &str = "\u{1}origin\u{1}";
const THEME: &str = "\u{1}theme\u{1}";

#[derive(Template)]
#[template(path = "docs/page.html")]
struct Page {
    css: &'static str,
    icon: &'static str,
    origin: &'static str,
    theme: &'static str,
    groups: Vec<Group>,
    shapes: Vec<Shape>,
    codes: [Code; Code::ALL.len()],
}

impl Page {
    fn of(document: &Value) -> Self {
        Self {
            css: &assets::ADDRESSES.css,
            icon: &assets::ADDRESSES.icon,
            origin: ORIGIN,
            theme: THEME,
            groups: operation::by_tag(document, ORIGIN),
            shapes: shape::all(document),
            codes: Code::ALL,
        }
    }
}

pub async fn page(State(state): State<Shared>, headers: HeaderMap) -> Response {
    static PAGE: OnceLock<Option<String>> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let document = serde_json::from_slice(&openapi::json()).unwrap_or_default();
        Page::of(&document).render().ok()
    });
    let Some(page) = page else {
        return Problem::internal().into_response();
    };
    let page = page
        .replace(ORIGIN, &origin::of(&headers, &state.console))
        .replace(THEME, Theme::read(&headers).as_str());
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Html(page)).into_response()
}

pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_of_the_document_is_escaped() {
        let document = json!({"paths": {"/api/<x>": {"get": {
            "tags": ["x"], "summary": "<script>", "operationId": "a\"b", "responses": {}
        }}}});
        let html = Page::of(&document).render().unwrap();
        assert!(!html.contains("<script>") && !html.contains("a\"b"), "{html}");
        assert!(html.contains("&#60;script&#62;") || html.contains("&lt;script&gt;"));
    }

    #[test]
    fn every_shape_that_is_named_is_on_the_page() {
        let document = serde_json::from_slice(&openapi::json()).unwrap();
        let html = Page::of(&document).render().unwrap();
        for (at, _) in html.match_indices("href=\"#") {
            let name = html[at + 7..].split('"').next().unwrap();
            assert!(html.contains(&format!("id=\"{name}\"")), "{name} leads nowhere");
        }
    }
}
