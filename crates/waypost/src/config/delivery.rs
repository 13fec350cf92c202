//! `[delivery]`: what central may talk to.

use super::{Problem, key::Key, list};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Delivery {
    #[serde(deserialize_with = "networks")]
    pub allow_addresses: Vec<IpNet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id_domain: Option<String>,
}

pub const ALLOW_ADDRESSES: Key = Key::new(
    "delivery.allow_addresses",
    "a list of addresses and networks, like [\"10.0.0.0/8\", \"127.0.0.1\"]",
    "Private, loopback and link-local addresses providers may be at. All others of that sort are refused, so that \
     nobody who may set up a provider can reach into your network.",
);

pub const MESSAGE_ID_DOMAIN: Key = Key::new(
    "delivery.message_id_domain",
    "a domain name like mail.example.com",
    "The right-hand side of every Message-ID, the same on all nodes. Left out, each mail has the domain of its sender's \
     address.",
)
.example("mail.example.com");

pub const KEYS: &[Key] = &[ALLOW_ADDRESSES, MESSAGE_ID_DOMAIN];

/// The longest name the DNS has.
const LONGEST_DOMAIN: usize = 253;

impl Delivery {
    pub fn problems(&self) -> Vec<Problem> {
        let sound = |label: &str| {
            let letters = |c: char| c.is_ascii_alphanumeric() || c == '-';
            (1..=63).contains(&label.len()) && label.chars().all(letters)
        };
        let domain = self.message_id_domain.as_deref();
        let bad = domain.filter(|d| d.len() > LONGEST_DOMAIN || !d.split('.').all(sound));
        bad.map(|found| Problem::takes(&MESSAGE_ID_DOMAIN, format!("{found:?}")))
            .into_iter()
            .collect()
    }
}

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
