//! Addresses that have to be known before a process listens on them, or that one comes back to after a restart.

use simulator::HeldPort;
use std::{net::SocketAddr, sync::Mutex};

/// Until this process ends.
static HELD: Mutex<Vec<HeldPort>> = Mutex::new(vec![]);

/// An address of this machine that nobody listens on, for as long as this process runs.
pub fn an_address() -> SocketAddr {
    let held = HeldPort::find().expect("a free port");
    let address = held.address();
    let mut all = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.push(held);
    address
}
