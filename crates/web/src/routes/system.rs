//! Health, metrics, documentation, and what the outside calls.

use crate::{
    access::Access::Open,
    api::{health, metrics, unsubscribe},
    docs,
    endpoint::{Endpoint, get, post},
    openapi,
    problem::Code::Unavailable,
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        get("/healthz", Open, "Whether the process answers", health::alive)
            .answers::<health::Alive>(200, "It does"),
        get("/readyz", Open, "Whether it can take work", health::ready)
            .answers::<health::Ready>(200, "It can")
            .answers::<health::Ready>(503, "It cannot, and why"),
        get("/metrics", Open, "Figures for Prometheus", metrics::scrape).answers_as(
            200,
            "text/plain",
            "Prometheus text",
        ),
        get(
            "/unsubscribe/{token}",
            Open,
            "The page behind a mail's unsubscribe link; it only asks",
            unsubscribe::page,
        )
        .answers_as(200, "text/html", "A page")
        .answers_as(404, "text/html", "The link is none of ours"),
        post(
            "/unsubscribe/{token}",
            Open,
            "Send no more mail to the address of the link (RFC 8058)",
            unsubscribe::act,
        )
        .answers_as(200, "text/html", "A page")
        .answers_as(404, "text/html", "The link is none of ours")
        .refuses(&[Unavailable]),
        get("/openapi.json", Open, "This document", openapi::serve).answers_as(
            200,
            "application/json",
            "OpenAPI 3.1",
        ),
        get("/docs", Open, "This document for people", docs::page).answers_as(200, "text/html", "A page"),
        get("/docs.css", Open, "How that page looks", docs::style).answers_as(
            200,
            "text/css",
            "A style sheet",
        ),
    ]
}
