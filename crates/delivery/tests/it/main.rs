//! Adapters against real sockets: the simulator plays the far end.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic like the tests themselves"
)]

mod answers;
mod blank_texts;
mod broken_answers;
mod content;
mod contract;
mod formats;
mod hours;
mod receipts;
mod requests;
mod scopes;
mod simulated;
mod smtp_faults;
mod smtp_login;
mod smtp_mail;
mod templates;
mod timeouts;
mod transcripts;
mod webhook;
mod world;
