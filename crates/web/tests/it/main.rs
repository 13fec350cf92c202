//! The API as its users meet it: the real router over a real store. Only the far ends are scripted.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says where by panicking"
)]

mod actions;
mod bulk;
mod callbacks;
mod communications;
mod console;
mod export;
mod keys;
mod lists;
mod nul_texts;
mod openapi;
mod openapi_values;
mod openapi_walk;
mod paging;
mod problems;
mod provider_warnings;
mod providers;
mod reading;
mod roles;
mod schema;
mod serving;
mod sites;
mod stream;
mod submit;
mod suppressions;
mod system;
mod templates;
mod tenants;
mod transcripts;
mod unsubscribe;
mod usage;
mod world;
