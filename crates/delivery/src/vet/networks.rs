//! The networks that are not for everybody, and the addresses that are for nobody.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Cloud machines hand out their credentials here; no setting opens these.
const METADATA: [IpAddr; 7] = [
    // AWS, Azure, Google and most others
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    // containers and pods on AWS
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    // Azure's agent on the host
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // Alibaba
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // AWS
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    // Google
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

/// Not reachable over the internet, or not by one host alone.
const CLOSED_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
    v4(255, 255, 255, 255, 32),
];

const CLOSED_V6: [Ipv6Net; 13] = [
    v6(0, 0, 0, 96),
    v6(0x64, 0xff9b, 0, 96),
    v6(0x64, 0xff9b, 1, 48),
    v6(0x100, 0, 0, 64),
    v6(0x2001, 0, 0, 32),
    v6(0x2001, 0xdb8, 0, 32),
    v6(0x2002, 0, 0, 16),
    v6(0x3fff, 0, 0, 20),
    v6(0x5f00, 0, 0, 16),
    v6(0xfc00, 0, 0, 7),
    v6(0xfe80, 0, 0, 10),
    v6(0xfec0, 0, 0, 10),
    v6(0xff00, 0, 0, 8),
];

/// Whether nobody may connect there unless it was allowed.
pub(super) fn is_closed(address: IpAddr) -> bool {
    is_metadata(address) || is_in_closed_network(address)
}

fn is_in_closed_network(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(a) => CLOSED_V4.iter().any(|network| network.contains(&a)),
        IpAddr::V6(a) => CLOSED_V6.iter().any(|network| network.contains(&a)),
    }
}

/// Also when it is wrapped into an address that a gateway would translate.
pub(super) fn is_metadata(address: IpAddr) -> bool {
    if METADATA.contains(&address) {
        return true;
    }
    let IpAddr::V6(a) = address else { return false };
    let o = a.octets();
    let wrapped = [
        Ipv4Addr::new(o[12], o[13], o[14], o[15]),
        Ipv4Addr::new(o[2], o[3], o[4], o[5]),
    ];
    is_in_closed_network(address) && wrapped.iter().any(|w| METADATA.contains(&IpAddr::V4(*w)))
}

#[cfg(test)]
#[path = "networks_tests.rs"]
mod tests;
