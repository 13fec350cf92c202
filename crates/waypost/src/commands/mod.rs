//! One file per command. Each has its `Args`, with help that reads as documentation, and a `run`.

pub mod audit;
pub mod backup;
pub mod bench;
mod bulk;
pub mod cancel;
pub mod completions;
pub mod config;
pub mod demo;
pub mod discard;
pub mod doctor;
pub mod healthcheck;
pub mod key;
pub mod kpi;
pub mod list;
pub mod lists;
pub mod migrate;
pub mod notify;
pub mod provider;
pub mod purge;
pub mod resend;
pub mod retry;
pub mod serve;
pub mod show;
pub mod simulate;
pub mod status;
pub mod tail;
pub mod tenant;
