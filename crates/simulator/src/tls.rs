//! A certificate authority of our own, made at start, and a server certificate signed by it.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use std::{fmt, io, sync::Arc};
use tokio_rustls::TlsAcceptor;

/// Who a far end is to those who ask for a certificate.
#[derive(Clone)]
pub struct Identity {
    /// Give this to the client as a trusted root.
    pub ca_pem: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// A new authority and a certificate for these names and addresses.
    pub fn new(names: &[&str]) -> io::Result<Self> {
        let mut params = CertificateParams::new(vec![]).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let certificate = CertificateParams::new(names)
            .and_then(|params| params.signed_by(&key, &authority))
            .map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .map_err(io::Error::other)?;
        Ok(Self {
            ca_pem: authority.pem(),
            config: Arc::new(config),
        })
    }

    /// For the addresses simulators listen on.
    pub fn local() -> io::Result<Self> {
        Self::new(&["localhost", "127.0.0.1", "::1"])
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}
