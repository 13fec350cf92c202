//! The categories that are delivered from the site, a file for each: what its messages carry, the route that takes them in, and
//! who makes the attempts. Notifications are the forwarder's.

mod cached_db_write;
mod external_system;

pub use cached_db_write::{CachedDbWrites, WritePayload};
pub use external_system::{CallPayload, ExternalSystems};

use crate::{
    api::Api,
    handler::{Failed, Handlers},
    payload::CORRUPT_PAYLOAD,
};
use axum::{Router, routing::post};
use domain::{Failure, Scope, site::Category};
use std::sync::Arc;

/// What scripts may reach by name.
#[derive(Debug, Clone)]
pub struct Targets {
    pub systems: Arc<ExternalSystems>,
    pub connections: Arc<CachedDbWrites>,
}

impl Targets {
    /// Who delivers what.
    pub fn handlers(&self) -> Handlers {
        Handlers::default()
            .register(Category::ExternalSystem, self.systems.clone())
            .register(Category::CachedDbWrite, self.connections.clone())
    }
}

/// Where scripts hand in what is delivered from the site.
pub(crate) fn routes() -> Router<Api> {
    Router::new()
        .route("/calls", post(external_system::send))
        .route("/db-writes", post(cached_db_write::send))
}

/// A payload that cannot be read: nothing leaves the buffer unseen, so it is parked with the reason.
fn unreadable(why: String) -> Failed {
    Failure::permanent(Scope::Message, CORRUPT_PAYLOAD, why).into()
}

/// "there is no system "erpp"; this site knows erp, mes"
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let known = match known {
        [] => "none".to_owned(),
        known => known.join(", "),
    };
    format!("there is no {what} {name:?} in the configuration of this site; it knows {known}")
}
