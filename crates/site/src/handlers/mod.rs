//! Who delivers calls and writes. Notifications are the forwarder's.

mod cached_db_write;
mod external_system;

pub use cached_db_write::CachedDbWrites;
pub use external_system::ExternalSystems;

use crate::{handler::Failed, payload::CORRUPT_PAYLOAD};
use domain::{Failure, Scope};

/// A payload that cannot be read: nothing leaves the buffer unseen, so it is parked with the reason.
fn unreadable(why: String) -> Failed {
    Failure::permanent(Scope::Message, CORRUPT_PAYLOAD, why).into()
}
