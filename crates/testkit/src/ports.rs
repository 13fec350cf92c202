//! Addresses that have to be known before a process listens on them, or that one comes back to after a restart.
//!
//! Always true: nobody is given such a port by chance meanwhile. They are below those that the system gives out for port 0 and for
//! connections, and each is held against other tests, also in other processes, until this process ends.

use std::{
    net::{SocketAddr, TcpListener, UdpSocket},
    sync::Mutex,
};

/// Systems give out ports from 32768 or 49152 on.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// The same number for datagrams, which nobody here uses: who has it has the port.
static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(vec![]);

/// An address of this machine that nobody listens on, for as long as this process runs.
pub fn an_address() -> SocketAddr {
    let mut held = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let count = u32::from(PORTS.end - PORTS.start);
    // Processes that start at once begin in different places.
    let first = std::process::id().wrapping_mul(97) % count;
    for n in 0..count {
        let port = PORTS.start + u16::try_from((first + n) % count).unwrap_or_default();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if let Ok(ours) = UdpSocket::bind(address)
            && TcpListener::bind(address).is_ok()
        {
            held.push(ours);
            return address;
        }
    }
    panic!("no port of {PORTS:?} is free");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_given_out_once_and_can_be_listened_on_again_and_again() {
        let (one, two) = (an_address(), an_address());
        assert_ne!(one, two);
        for _ in 0..2 {
            assert!(TcpListener::bind(one).is_ok());
        }
    }
}
