//! `[delivery]`: what central may talk to.

use super::{key::Key, list};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Delivery {
    #[serde(deserialize_with = "networks")]
    pub allow_addresses: Vec<IpNet>,
}

pub const ALLOW_ADDRESSES: Key = Key::new(
    "delivery.allow_addresses",
    "a list of addresses and networks, like [\"10.0.0.0/8\", \"127.0.0.1\"]",
    "Private, loopback and link-local addresses providers may be at. All others of that sort are refused, so that \
     nobody who may set up a provider can reach into your network.",
);

pub const KEYS: &[Key] = &[ALLOW_ADDRESSES];

pub(super) fn networks<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<IpNet>, D::Error> {
    let network = |text: &String| match text.parse::<IpNet>() {
        Ok(network) => Ok(network.trunc()),
        Err(_) => text
            .parse::<std::net::IpAddr>()
            .map(IpNet::from)
            .map_err(|_| serde::de::Error::custom(format!("{text:?}"))),
    };
    list::deserialize(d)?.iter().map(network).collect()
}
