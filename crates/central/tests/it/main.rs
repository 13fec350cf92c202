//! The outbox as a whole, on a real SQLite file, with a far end that answers as each test says and a clock that
//! moves only when told.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]

mod adapters_that_misbehave;
mod audit;
mod bulk;
mod chunks;
mod events;
mod expiry;
mod failing;
mod failover;
mod holds;
mod lane_words;
mod lanes;
mod loops;
mod own_refusals;
mod probes;
mod provider_tests;
mod purge;
mod receipts;
mod recipients;
mod recipients_of_types;
mod routing;
mod scopes;
mod secrets;
mod sending_by_provider;
mod shutdown;
mod sites;
mod size;
mod suppressions;
mod traces;
mod transcripts;
mod unreadable;
mod waiting;
mod world;
