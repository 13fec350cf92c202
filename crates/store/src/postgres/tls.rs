//! TLS to the server. `sslmode=require` (and the `verify` modes) means a certificate that can be trusted, by the
//! public roots or by `sslrootcert`; it is the default for a server on another machine. `prefer`, the default on this
//! one, encrypts when the server can and trusts whoever answers: it would go on without TLS as well, so a check would
//! protect nobody and break servers with a home-made certificate.

use crate::{Error, Result};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use std::{path::PathBuf, sync::Arc};

#[derive(Debug, Default)]
pub(crate) struct Trust {
    pub required: bool,
    pub roots: Option<PathBuf>,
}

pub(crate) fn client(trust: &Trust) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Refused(format!("TLS: {e}")))?;
    if !trust.required && trust.roots.is_none() {
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth());
    }
    let mut roots = RootCertStore::empty();
    match &trust.roots {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let unreadable =
                |e: &dyn std::fmt::Display| Error::Refused(format!("sslrootcert {}: {e}", path.display()));
            for cert in CertificateDer::pem_file_iter(path).map_err(|e| unreadable(&e))? {
                let cert = cert.map_err(|e| unreadable(&e))?;
                roots.add(cert).map_err(|e| unreadable(&e))?;
            }
        }
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Takes any certificate, but still only from somebody who holds its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
