//! The binary, from outside: its commands against a real server process, its configuration, and the rules the whole
//! workspace keeps.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli;
mod codes;
mod config;
mod docs;
mod event_values;
mod events;
mod following;
mod harness;
mod http;
mod metrics;
mod scripts;
mod superseding;
mod templates;
mod tidy;
mod traces;
mod trying;
