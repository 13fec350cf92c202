//! `[site.replication]`: the other machine of a site.

use super::{key::Key, problem::Problem};
use domain::{
    pair::lease::LONGEST_LEASE,
    retry::{human, seconds},
};
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf, time::Duration};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Replication {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    pub wait_for_standby: bool,
    #[serde(with = "seconds")]
    pub lease: Duration,
}

impl Default for Replication {
    fn default() -> Self {
        Self {
            listen: None,
            peer: None,
            tls_cert_file: None,
            tls_key_file: None,
            ca_file: None,
            wait_for_standby: false,
            lease: Duration::from_secs(15),
        }
    }
}

pub const LISTEN: Key = Key::new(
    "site.replication.listen",
    "an address and a port, like \"10.0.0.4:7444\", set together with site.replication.peer",
    "Where this machine answers the other one of its site. Other machines can reach it only with a certificate.",
)
.example("10.0.0.4:7444");
pub const PEER: Key = Key::new(
    "site.replication.peer",
    "an address like \"https://north-b:7444\", set together with site.replication.listen",
    "Where the other machine of this site answers. With it, one of the two is active and the other keeps a copy.",
)
.example("https://north-b:7444");
pub const TLS_CERT_FILE: Key = Key::new(
    "site.replication.tls_cert_file",
    "the path of a PEM file, set together with site.replication.tls_key_file",
    "The certificate this machine shows to the other one.",
)
.example("/etc/waypost/north-a.crt");
pub const TLS_KEY_FILE: Key = Key::new(
    "site.replication.tls_key_file",
    "the path of a PEM file, set together with site.replication.tls_cert_file",
    "The private key that belongs to it.",
)
.example("/etc/waypost/north-a.key");
pub const CA_FILE: Key = Key::new(
    "site.replication.ca_file",
    "the path of a PEM file",
    "The authority that signed the other machine's certificate, if it is not a public one.",
)
.example("/etc/waypost/pair-ca.crt");

pub const WAIT_FOR_STANDBY: Key = Key::new(
    "site.replication.wait_for_standby",
    "true or false",
    "Answer a send when the standby has it as well, and say whether it has. A standby that does not follow is not waited for.",
);

pub const LEASE: Key = Key::new(
    "site.replication.lease",
    "a time from \"1s\" to \"1m\"",
    "How long the right lasts to attempt what both machines know. The standby takes over when it is over and a few seconds more.",
);

impl Replication {
    pub fn problems(&self, insecure: bool) -> Vec<Problem> {
        let mut bad = vec![];
        match (&self.listen, &self.peer) {
            (Some(_), None) => bad.push(Problem::new(LISTEN.name, "is set without site.replication.peer")),
            (None, Some(_)) => bad.push(Problem::new(PEER.name, "is set without site.replication.listen")),
            _ => {}
        }
        match (&self.tls_cert_file, &self.tls_key_file) {
            (Some(_), None) => bad.push(Problem::new(
                TLS_CERT_FILE.name,
                "is set without site.replication.tls_key_file",
            )),
            (None, Some(_)) => bad.push(Problem::new(
                TLS_KEY_FILE.name,
                "is set without site.replication.tls_cert_file",
            )),
            _ => {}
        }
        if self.lease < Duration::from_secs(1) || self.lease > LONGEST_LEASE {
            bad.push(Problem::takes(&LEASE, format!("{:?}", human(self.lease))));
        }
        let open = self.listen.filter(|listen| !listen.ip().is_loopback());
        if let Some(listen) = open.filter(|_| self.tls_cert_file.is_none() && !insecure) {
            bad.push(Problem::new(
                LISTEN.name,
                format!("{listen} can be reached from other machines: set site.replication.tls_cert_file"),
            ));
        }
        match self.peer.as_deref().map(str::parse::<link::Address>) {
            Some(Err(why)) => bad.push(Problem::new(PEER.name, why)),
            Some(Ok(address)) if !address.tls && !address.is_loopback() && !insecure => {
                bad.push(Problem::new(
                    PEER.name,
                    format!("{address} would send messages in the clear; use https://, or set site.insecure = true"),
                ));
            }
            Some(Ok(_)) | None => {}
        }
        bad
    }
}
