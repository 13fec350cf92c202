//! What all adapters share: the clock, whom we may connect to, which certificates we trust, and our own name.

use crate::{
    http::{Client, Names},
    vet::{VetError, Vetting},
};
use domain::Clock;
use ipnet::IpNet;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use std::sync::Arc;

/// The world outside, as seen by one installation.
#[derive(Debug, Clone)]
pub struct Outside {
    pub clock: Arc<dyn Clock>,
    /// The right-hand side of all Message-IDs; none: each has the domain of its sender's address.
    pub message_id_domain: Option<String>,
    /// What this installation is called when it introduces itself (EHLO); none: its address.
    pub host_name: Option<String>,
    pub vetting: Arc<Vetting>,
    roots: RootCertStore,
}

impl Outside {
    /// Public addresses only, and the certificate authorities that browsers trust.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            message_id_domain: None,
            host_name: None,
            vetting: Arc::new(Vetting::new(vec![])),
            roots: RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
            },
        }
    }

    /// Addresses in these networks may be connected to although they are private.
    pub fn allowing(self, networks: Vec<IpNet>) -> Self {
        Self {
            vetting: Arc::new(Vetting::new(networks)),
            ..self
        }
    }

    pub fn with_message_id_domain(self, domain: impl Into<String>) -> Self {
        Self {
            message_id_domain: Some(domain.into()),
            ..self
        }
    }

    pub fn with_host_name(self, name: impl Into<String>) -> Self {
        Self {
            host_name: Some(name.into()),
            ..self
        }
    }

    /// Trusts these certificate authorities as well, everywhere.
    pub fn trusting(mut self, pem: &str) -> Result<Self, String> {
        add_authorities(&mut self.roots, pem)?;
        Ok(self)
    }

    /// TLS as we speak it, trusting `extra_pem` too.
    pub fn tls(&self, extra_pem: Option<&str>) -> Result<ClientConfig, String> {
        let mut roots = self.roots.clone();
        if let Some(pem) = extra_pem {
            add_authorities(&mut roots, pem)?;
        }
        Ok(
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|e| e.to_string())?
                .with_root_certificates(roots)
                .with_no_client_auth(),
        )
    }

    /// An HTTP client that connects to vetted addresses only. Literal addresses never reach a resolver: see
    /// [`Outside::vet_literal`].
    pub(crate) fn http(&self) -> Result<Client, String> {
        Ok(Client::new(self.tls(None)?, Names::Vetted(self.vetting.clone())))
    }

    /// Refuses the host of a URL where it is an address we may not connect to. Names are vetted when they are resolved.
    pub fn vet_literal(&self, host: &str) -> Result<(), VetError> {
        let host = host.trim_matches(['[', ']']);
        match host.parse() {
            Ok(address) => self.vetting.check(host, address).map(drop),
            Err(_) => Ok(()),
        }
    }
}

fn add_authorities(roots: &mut RootCertStore, pem: &str) -> Result<(), String> {
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|e| format!("not a PEM certificate: {e}"))?;
        roots.add(certificate).map_err(|e| e.to_string())?;
        found = true;
    }
    found
        .then_some(())
        .ok_or_else(|| "contains no PEM certificate".to_owned())
}
