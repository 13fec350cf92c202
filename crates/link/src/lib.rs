//! Between a site and central: what each may ask of the other ([`uplink`]), in plain Rust ([`message`]), and one
//! gRPC stream that carries it ([`client`], [`server`]). The site dials out; central never does. And between the two
//! machines of a site: [`peer`].
//!
//! Leaves to others: what is buffered and when it is tried (`site`), what is stored and acknowledged (`central`),
//! how long to wait before dialling again (`domain::retry`).
//! Always true: an [`Ack`] is given only for what central has committed; who speaks for a site holds its key; nothing
//! that is asked over the link hangs.

pub mod address;
pub mod bulk;
mod calls;
pub mod client;
pub mod lease;
pub mod message;
pub mod peer;
pub mod server;
mod sizes;
pub mod tls;
pub mod transport;
pub mod uplink;
pub mod waiting;
mod wire;

pub use address::Address;
pub use bulk::{BulkDone, BulkStep, ParkedAction, ParkedCount, ParkedFilter};
pub use client::{LinkClient, Options, StandbyClient, WitnessClient};
pub use lease::{NOT_HOLDER, NotHolder, PairReport};
pub use message::{
    Ack, Down, Forward, LinkState, ParkedActed, ParkedAnswer, ParkedMessage, ParkedPage, RemoteStatus,
    SiteDamage, SiteEvent, SiteReport,
};
pub use tls::{ClientTls, ServerTls};
pub use uplink::{SiteCommands, Uplink};
pub use waiting::{TRY_ANSWER_WITHIN, WaitingActed, WaitingAnswer, WaitingMessage, WaitingPage};

/// The version of the link this program speaks; see the rules in `link.proto` for when it goes up.
pub const PROTOCOL: u32 = 1;
