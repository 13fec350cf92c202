//! Talking to the outside: one folder per kind of provider, all of the same shape.
//!
//! Leaves to others: rows (`store`), when to try again (`domain::retry`), who the targets are (`central`).
//! Always true: an adapter makes one attempt, knows no attempt number, never sleeps to retry, honours its
//! deadline, and never lets a credential into an error.
//!
//! To add a kind: a folder with `mod.rs` (the adapter), `settings.rs` (what it is configured with), the composer
//! of its request, and `classify.rs` (replies to outcomes, as one table); one line in [`registry`]; one row in
//! the contract test.

pub mod adapter;
pub mod call;
pub mod capture;
mod http;
pub mod kind;
pub mod outside;
pub mod redact;
pub mod registry;
mod settings;
pub mod smtp;
pub mod vet;
pub mod webhook;

pub use adapter::{Adapter, Deadline, Message};
pub use capture::{Capture, Captured};
pub use kind::{Kind, KindInfo, Setting, SettingType};
pub use outside::Outside;
pub use registry::Registry;
