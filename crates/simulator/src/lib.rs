//! Far ends with faults on a dial: an SMTP catcher, an HTTP receiver and doubles of push and chat services, for tests, the
//! demo and `waypost simulate`.
//!
//! Leaves to others: judging what arrived. Nothing here knows how Waypost delivers; it only answers as told,
//! keeps what it was given and counts.
//! Always true: what a far end has counted, it has taken in full; what it keeps is bounded.

mod control;
pub mod dial;
pub mod http;
mod port;
pub mod receipts;
mod services;
pub mod smtp;
pub mod tls;

pub use dial::{Dial, Rule};
pub use http::{HttpOptions, HttpReceiver};
pub use port::HeldPort;
pub use receipts::ReceiptPlan;
pub use smtp::{SmtpOptions, SmtpServer};
pub use tls::Identity;
