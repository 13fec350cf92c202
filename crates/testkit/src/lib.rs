//! For tests only. Stays below `central` and `web`, so that their unit tests meet one copy of each crate.

pub mod docs;
mod eventually;
pub mod far_end;
pub mod fixtures;
mod folder;
pub mod identity;
pub mod network;
pub mod ports;
pub mod site;
pub mod temp;

pub use eventually::{eventually, seen_in_time, until};
pub use far_end::{FarEnd, Reply};
pub use fixtures::a_notification;
pub use folder::Folder;
pub use identity::IdentityProvider;
pub use network::Network;
pub use temp::{Database, TempStore};
