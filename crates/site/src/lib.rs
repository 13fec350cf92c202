//! The store-and-forward agent of a site: nothing leaves unsent, nothing is lost while it waits.
//!
//! In reading order: what is taken in ([`intake`]), how calls and writes are tried ([`engine`]) and by whom
//! ([`handler`], [`categories`]), how notifications reach central ([`forwarder`]), what central is told besides
//! ([`telemetry`]), what people ask ([`status`], [`parked`], [`waiting`], [`api`]), the loops around it all ([`agent`], `background`),
//! and the other machine of the site, where there is one ([`pair`]).
//!
//! Leaves to others: rows (`store::buffer`), the wire (`link`), HTTP to systems (`delivery::call`), delays and
//! budgets (`domain::retry`), configuration (`waypost`).
//! Always true: what was accepted survives power loss; an attempt is written down before it is made; only a
//! delivery or a person takes a message out.

pub mod agent;
pub mod api;
mod background;
mod bulk;
pub mod categories;
pub mod engine;
pub mod forwarder;
mod gauges;
pub mod handler;
pub mod intake;
pub mod pair;
pub mod parked;
pub mod payload;
pub mod sent;
pub mod settings;
pub mod site;
pub mod status;
pub mod telemetry;
pub mod waiting;

pub use agent::Agent;
pub use handler::{Delivered, Failed, Handler, Handlers};
pub use intake::{Outgoing, SendError, SendOptions};
pub use pair::Pair;
pub use parked::Commands;
pub use sent::Sent;
pub use settings::Settings;
pub use site::Site;
