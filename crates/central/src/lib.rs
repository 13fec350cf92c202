//! The outbox: takes notifications in, sends them out, keeps the record, obeys operators.
//!
//! Leaves to others: SQL (`store`), sockets (`delivery`), delays (`domain::retry`), HTTP (`web`).
//! Always true: nothing is locked in the store while an adapter is on the network; there is one way a message
//! goes out, and that is the [`dispatcher`].

mod auto_key;
mod bulk_filter;
mod canonical_json;
pub mod changes;
pub mod directory;
pub mod dispatcher;
pub mod events;
pub mod expiry;
pub mod failover;
pub mod figures;
pub mod ingest;
pub mod jobs;
pub mod keys;
pub mod lanes;
pub mod lists;
pub mod operator;
pub mod providers;
pub mod purge;
pub mod receipts;
pub mod search;
pub mod secrets;
pub mod sites;
pub mod suppressions;
pub mod templates;
pub mod unsubscribe;
pub mod users;
pub mod waiting;
pub mod wake;
pub mod watched_counts;
pub mod watched_kpis;

mod background;
mod chores;
mod node;
mod opted_out;
mod tenants;
mod usage;

pub use auto_key::auto_key;
pub use node::{Central, Settings};
