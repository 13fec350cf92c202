//! Puts the routes together with what holds for all of them.

use crate::{
    callbacks, console, log, problem, routes,
    state::{Shared, WebState},
};
use axum::{
    Router,
    http::{HeaderValue, header},
    middleware,
    response::Response,
};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// A browser that was here once by HTTPS comes back by nothing else.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

async fn https_only(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
    response
}

/// The whole API and the console over one node.
pub fn router(state: WebState) -> Router {
    let state: Shared = Arc::new(state);
    let mut router = Router::new();
    for endpoint in routes::all() {
        router = router.route(endpoint.path, endpoint.guarded(&state));
    }
    router = router.route(callbacks::PATH, callbacks::route());
    router = router.merge(console::router(&state));
    router = router
        .method_not_allowed_fallback(console::no_such_method)
        .fallback(console::no_such_page);
    if state.console.secure {
        router = router.layer(middleware::map_response(https_only));
    }
    router
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(log::requests))
        .with_state(state)
}
