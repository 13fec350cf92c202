//! Puts the routes together with what holds for all of them.

use crate::{
    console, log, problem, routes,
    state::{Shared, WebState},
};
use axum::{Router, middleware};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// The whole API and the console over one node.
pub fn router(state: WebState) -> Router {
    let state: Shared = Arc::new(state);
    let mut router = Router::new();
    for endpoint in routes::all() {
        router = router.route(endpoint.path, endpoint.guarded(&state));
    }
    router = router.merge(console::router(&state));
    router
        .method_not_allowed_fallback(problem::no_such_method)
        .fallback(console::no_such_page)
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(log::requests))
        .with_state(state)
}
