//! The cases, by subject. A new one is also named in the list in `main.rs`.

pub mod audit;
pub mod claim;
pub mod concurrency;
pub mod directory;
pub mod events;
pub mod expiry;
pub mod figures;
pub mod ingest;
pub mod jobs;
pub mod lanes;
pub mod late;
pub mod model;
pub mod operator;
pub mod probes;
pub mod providers;
pub mod purge;
pub mod query;
pub mod receipts;
pub mod recipients;
pub mod record;
pub mod schema;
pub mod sites;
pub mod stats;
pub mod supersede;
pub mod templates;
pub mod users;
