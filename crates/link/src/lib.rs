//! Between a site and central: what each may ask of the other ([`uplink`]), in plain Rust ([`message`]).
//!
//! Leaves to others: what is buffered and when it is tried (`site`), what is stored and acknowledged (`central`).
//! Always true: an [`Ack`] is given only for what central has committed; who speaks for a site holds its key.

pub mod message;
pub mod uplink;

pub use message::{
    Ack, Down, Forward, LinkState, ParkedActed, ParkedAnswer, ParkedMessage, ParkedPage, RemoteStatus,
    SiteEvent, SiteReport,
};
pub use uplink::{SiteCommands, Uplink};
