//! Talking to the outside: one folder per kind of provider, all of the same shape.
//!
//! Leaves to others: rows (`store`), when to try again (`domain::retry`), who the targets are (`central`).
//! Always true: an adapter makes one attempt, knows no attempt number, never sleeps to retry, honours its
//! deadline, and never lets a credential into an error.
//!
//! To add a kind whose far end is an HTTP service: a folder with `mod.rs` (what it is called and configured with),
//! `request.rs` (what is sent) and `answers.rs` (what each answer means, as one table), all as [`kit`] wants them; one line
//! in [`registry`]. Its answers stand in `tests/answers`, apart from both ends, and the contract test finds them there.

pub mod adapter;
mod apprise;
pub mod call;
pub mod capture;
mod discord;
mod homeassistant;
mod http;
mod interakt;
pub mod kind;
mod kit;
mod meta;
mod msg91;
mod ntfy;
mod oauth;
pub mod outside;
mod pushbullet;
mod pushover;
pub mod receipt;
pub mod redact;
pub mod registry;
mod setting;
mod settings;
mod slack;
pub mod smtp;
mod teams;
mod telegram;
pub mod transcript;
mod twilio;
pub mod vet;
mod webhook;

pub use adapter::{Adapter, Attempt, Deadline, Message, Stop};
pub use capture::{Capture, Captured};
pub use domain::opt_out::{self, OptOut, OptOutOf};
pub use kind::{Kind, KindInfo, Setting, SettingType, When};
pub use outside::Outside;
pub use registry::Registry;
pub use transcript::{Recorder, Transcript};
