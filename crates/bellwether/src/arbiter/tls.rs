//! How an engine proves who it is, and a client to it.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::Trouble;

/// Connections to an engine over TLS.
#[derive(Clone)]
pub struct ClientTls {
    /// The authorities that are trusted, as PEM.
    pub ca: String,
    /// A certificate and its private key, as PEM, if the engine wants to see one.
    pub identity: Option<(String, String)>,
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTls")
    }
}

impl ClientTls {
    /// # Errors
    /// If one of the texts is not what it should be.
    pub(super) fn config(&self) -> Result<ClientConfig, Trouble> {
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.ca, CA)? {
            roots.add(authority).map_err(|error| unfit(CA, &error))?;
        }
        let provider = Arc::new(ring::default_provider());
        let trusting = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unfit(CA, &error))?
            .with_root_certificates(roots);
        match &self.identity {
            None => Ok(trusting.with_no_client_auth()),
            Some((chain, key)) => {
                let key =
                    PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| unfit(KEY, &error))?;
                let chain = certificates(chain, CERT)?;
                trusting.with_client_auth_cert(chain, key).map_err(|error| unfit(CERT, &error))
            }
        }
    }
}

const CA: &str = "the certificate of the engine's authority";
const CERT: &str = "the certificate for the engine";
const KEY: &str = "the private key for the engine";

fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, Trouble> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => Err(unfit(what, &"no such section")),
        found => found.map_err(|error| unfit(what, &error)),
    }
}

fn unfit(what: &str, found: &dyn fmt::Display) -> Trouble {
    Trouble::Unfit {
        at: what.to_owned(),
        found: found.to_string(),
        wanted: "PEM that can be used".to_owned(),
    }
}
