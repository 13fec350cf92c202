//! TLS for both ends, from PEM files. An error names the file and what is wrong with it.

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    server::WebPkiClientVerifier,
};
use std::{fmt, io, path::Path, sync::Arc};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::transport::Io;

/// Central's certificate, and who may come with one of their own.
#[derive(Clone)]
pub struct ServerTls(Arc<ServerConfig>);

/// Whom a site trusts, and the certificate it shows if it has one.
#[derive(Clone)]
pub struct ClientTls(Arc<ClientConfig>);

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls")
    }
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTls")
    }
}

impl ServerTls {
    /// With `client_ca`, a site without a certificate signed by it is not even asked for its key.
    pub fn from_files(cert: &Path, key: &Path, client_ca: Option<&Path>) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(path)?), provider)
                    .build()
                    .map_err(|e| named(path, &e))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder
            .with_single_cert(chain(cert)?, secret(key)?)
            .map_err(|e| named(cert, &e))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) async fn accept(&self, io: impl Io) -> io::Result<impl Io> {
        TlsAcceptor::from(self.0.clone()).accept(io).await
    }
}

impl ClientTls {
    /// Without `ca` the public roots are trusted. `identity` is the site's own certificate and key.
    pub fn from_files(ca: Option<&Path>, identity: Option<(&Path, &Path)>) -> io::Result<Self> {
        let trusted = match ca {
            Some(path) => roots(path)?,
            None => RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(trusted);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => builder
                .with_client_auth_cert(chain(cert)?, secret(key)?)
                .map_err(|e| named(cert, &e))?,
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) async fn connect(&self, host: &str, io: Box<dyn Io>) -> io::Result<Box<dyn Io>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Box::new(
            TlsConnector::from(self.0.clone()).connect(name, io).await?,
        ))
    }
}

fn named(path: &Path, what: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {what}", path.display()))
}

fn chain(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let certs = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| named(path, &e))?;
    if certs.is_empty() {
        return Err(named(path, &"there is no certificate in it"));
    }
    Ok(certs)
}

fn secret(path: &Path) -> io::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path).map_err(|e| named(path, &e))
}

fn roots(path: &Path) -> io::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    for cert in chain(path)? {
        store.add(cert).map_err(|e| named(path, &e))?;
    }
    Ok(store)
}
