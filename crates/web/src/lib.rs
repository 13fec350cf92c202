//! HTTP: the JSON API of central, and its console.
//!
//! Leaves to others: what the calls mean (`central`), rows (`store`), configuration and signals (`waypost`).
//! Always true: a request sees and touches only its caller's tenant; every refusal is problem+json with a stable
//! code; secrets, bodies and database words are in no answer and no log line.
//!
//! To add a route: a handler in [`api`], its JSON in [`dto`], one entry in [`routes`]. The router, the access check,
//! the OpenAPI document and `/docs` follow from that entry.

pub mod access;
pub mod api;
pub mod auth;
pub mod body;
pub mod callbacks;
pub mod console;
pub mod csv;
pub mod csv_stream;
pub mod describe;
pub mod docs;
pub mod draft;
pub mod dto;
pub mod endpoint;
pub mod examples;
pub mod fields;
pub mod log;
pub mod openapi;
pub mod origin;
pub mod paging;
pub mod people;
pub mod problem;
pub mod query;
mod raw_json;
pub mod reason;
pub mod routes;
pub mod streams;

mod connections;
mod idle;
mod router;
mod serve;
mod state;

pub use connections::Limits;
pub use router::router;
pub use serve::{Tls, serve, serve_within};
pub use state::{Readiness, Shared, WebState};
