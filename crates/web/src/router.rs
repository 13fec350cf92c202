//! Puts the routes together with what holds for all of them.

use crate::{
    log, problem, routes,
    state::{Shared, WebState},
};
use axum::{Router, middleware};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// The whole API over one node.
pub fn router(state: WebState) -> Router {
    let state: Shared = Arc::new(state);
    let mut router = Router::new();
    for endpoint in routes::all() {
        router = router.route(endpoint.path, endpoint.guarded(&state));
    }
    router
        .method_not_allowed_fallback(problem::no_such_method)
        .fallback(problem::no_such_path)
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(log::requests))
        .with_state(state)
}
