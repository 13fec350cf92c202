//! The local HTTP API of a site: scripts send here, people look here. JSON in camelCase, errors as problem+json with
//! every bad field named.
//!
//! Leaves to others: everything that happens to a message.
//! Always true: bad input is a 4xx that names the field; on an address others can reach, nothing but `/healthz` is
//! answered without the token.

mod access;
pub(crate) mod body;
mod bulk;
mod connections;
mod damage;
mod health;
mod lists;
mod notify;
mod page;
mod page_pair;
mod pair;
mod problem;
pub(crate) mod sent;
mod serve;
mod tracking;
mod waiting;

pub use access::Access;
pub use problem::{CODES, Problem};
pub use serve::{Listening, ServeError, serve, serve_within};

use crate::{
    Agent,
    categories::{self, Targets},
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;

/// The largest request taken, in bytes.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// What every route works with.
#[derive(Clone)]
pub struct Api {
    pub agent: Arc<Agent>,
    pub targets: Targets,
    /// Where the figures are gathered; none where nobody gathers them.
    pub metrics: Option<PrometheusHandle>,
    pub access: Access,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Api({:?})", self.agent.site)
    }
}

/// Every route there is.
pub fn router(api: Api) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/notify", post(notify::send))
        .route("/notify/{id}", get(notify::status))
        .merge(categories::routes())
        .route("/tracking/{id}", get(tracking::get))
        .route("/parked", get(lists::parked))
        .route("/parked/retry", post(bulk::retry))
        .route("/parked/discard", post(bulk::discard))
        .route("/parked/{id}/retry", post(lists::retry))
        .route("/parked/{id}/discard", post(lists::discard))
        .route("/waiting", get(waiting::list))
        .route("/waiting/{id}/try", post(waiting::try_now))
        .route("/waiting/{id}/discard", post(waiting::discard))
        .route("/events", get(lists::events))
        .route("/damage", get(damage::list))
        .route("/damage/acknowledge", post(damage::acknowledge))
        .route("/recover", post(damage::recover))
        .route("/pair", get(pair::show))
        .route("/pair/promote", post(pair::promote))
        .route("/pair/demote", post(pair::demote))
        .route("/metrics", get(health::metrics))
        .route("/healthz", get(health::healthz))
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(middleware::from_fn_with_state(
            api.clone(),
            pair::only_look_at_a_standby,
        ))
        .layer(middleware::from_fn_with_state(api.access.clone(), access::check))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(api)
}
