//! The console: pages for the operator, the supporter and the engineer. Server-rendered, working without script; one
//! small module adds live updates.
//!
//! Leaves to others: what the actions mean (`central`), what the API says of the same things ([`crate::api`]).
//! Always true: a page shows only what its viewer's role in the chosen tenant allows; every form carries the
//! session's secret and answers with a redirect; no page has script or style of its own, so that the policy can
//! forbid both; what came from outside is shown as text.
//!
//! To add a page: a module here with its query, its template struct and its handlers, a folder of the same name in
//! `templates`, an entry in [`mod@routes`].

mod account;
pub(crate) mod assets;
mod audit;
pub mod bare;
mod bulk;
mod captured;
mod cookies;
mod download;
mod events;
mod failure;
mod filter;
mod flash;
mod form;
mod frame;
mod guard;
mod headers;
mod jobs;
mod keys;
mod lists;
mod live;
mod loops;
mod notification;
mod notifications;
pub mod oidc;
mod once;
mod overview;
mod provider;
mod provider_draft;
mod provider_fields;
mod provider_form;
mod provider_policy;
mod provider_setting;
mod provider_test;
mod providers;
mod recipients;
mod request;
mod routes;
mod saved;
mod send;
mod settings;
mod show;
mod sign_in;
mod sites;
mod suppressions;
mod templates;
mod tenants;
pub(crate) mod theme;
mod timeline;
mod total;
mod transcript;
mod undo;
mod users;
mod zone;

pub use failure::{no_such_method, no_such_page};
pub use guard::{SESSION_COOKIE, Signed};
pub use provider_test::TestResults;
pub use routes::{Route, routes};
pub use settings::{ConsoleSettings, LinkPlace};

use crate::state::Shared;
use axum::{Router, middleware};

/// Every page of the console.
pub fn router(state: &Shared) -> Router<Shared> {
    let mut router = assets::router();
    for route in routes() {
        router = router.route(route.path, route.guarded(state));
    }
    router.layer(middleware::from_fn(headers::on_every_page))
}
