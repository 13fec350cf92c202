//! Addresses that have to be known before somebody listens on them, or that one comes back to after a restart.
//!
//! Always true: nobody is given such a port by chance meanwhile. They are below those that the system gives out for port 0 and for
//! connections, and each is held against others who look here, also in other processes.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
};

/// Systems give out ports from 32768 or 49152 on.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A port of this machine that nobody listens on, for as long as this lives.
#[derive(Debug)]
pub struct HeldPort {
    address: SocketAddr,
    /// The same number for datagrams, which nobody here uses: who has it has the port.
    _datagrams: UdpSocket,
}

impl HeldPort {
    pub fn find() -> io::Result<Self> {
        let count = u32::from(PORTS.end - PORTS.start);
        // Processes that start at once begin in different places.
        let first = std::process::id().wrapping_mul(97) % count;
        for n in 0..count {
            let port = PORTS.start + u16::try_from((first + n) % count).unwrap_or_default();
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            if let Ok(datagrams) = UdpSocket::bind(address)
                && TcpListener::bind(address).is_ok()
            {
                return Ok(Self {
                    address,
                    _datagrams: datagrams,
                });
            }
        }
        Err(io::Error::other(format!("no port of {PORTS:?} is free")))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_given_out_once_and_can_be_listened_on_again_and_again() {
        let (one, two) = (HeldPort::find().unwrap(), HeldPort::find().unwrap());
        assert_ne!(one.address(), two.address());
        for _ in 0..2 {
            assert!(TcpListener::bind(one.address()).is_ok());
        }
    }
}
