//! How a member proves its identity to its peers.
//!
//! A cluster has one certificate authority. A member's certificate carries two names: the cluster's, which is the same for
//! all and proves to a dialer that it has reached the cluster, and the member's own, which proves the id that it gives.

mod authority;
mod certificate;
mod config;
mod expiry;
mod names;
mod revocation;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bellwether_proto::ident::NodeId;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

pub use authority::{Authority, Validity};
pub use certificate::Certificate;
pub use expiry::expiry_warning;
pub use names::{ClusterNameError, check_cluster_name};

pub(crate) use config::{TlsConfigs, id_in, verify_id};
pub(crate) use expiry::DAY;

/// A certificate authority's certificate, and a member's own certificate and key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The authority that all members trust.
    pub ca: String,
    /// This member's certificate.
    pub cert: String,
    /// Its private key.
    pub key: String,
    /// Lists of certificates that authorities have revoked, if there are any.
    pub revoked: Option<String>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

/// Why certificates cannot be used or made. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Text that is not PEM, or lacks what it should have.
    #[error("{place} has no {wanted} in PEM: {problem}")]
    Pem {
        /// The file, or what the text is for.
        place: String,
        /// What was looked for.
        wanted: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A certificate cannot be used.
    #[error("{place} cannot be used: {problem}")]
    Unusable {
        /// The file, or what the certificate is for.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// A key and a certificate that do not belong together.
    #[error("the private key in {key} does not belong to the certificate in {cert}")]
    KeyMismatch {
        /// Where the certificate is.
        cert: String,
        /// Where the key is.
        key: String,
    },
    /// A member's certificate that is not its own.
    #[error(
        "the certificate is not that of node {id} of the cluster {cluster:?}: it must carry the DNS names {} and {}",
        names::cluster_dns_name(cluster), names::node_dns_name(cluster, *id)
    )]
    NotOurs {
        /// The member's cluster.
        cluster: String,
        /// The member.
        id: NodeId,
    },
    /// A certificate that is good for every member, and so proves no id.
    #[error(
        "the certificate covers {name} only with a wildcard, which proves no id: it must carry that name itself"
    )]
    Wildcard {
        /// The name that it must carry.
        name: String,
    },
    /// An authority that cannot issue certificates for that cluster.
    #[error("this is no authority for the cluster {cluster:?}: {problem}")]
    Authority {
        /// Which.
        cluster: String,
        /// Why not.
        problem: String,
    },
    /// A name that no cluster can have.
    #[error(transparent)]
    ClusterName(#[from] ClusterNameError),
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Make(String),
}

impl Identity {
    /// Reads the three files and sees that they fit together.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn load(ca: &Path, cert: &Path, key: &Path) -> Result<Self, TlsError> {
        let identity = Self { ca: read(ca)?, cert: read(cert)?, key: read(key)?, revoked: None };
        let place = |path: &Path| path.display().to_string();
        identity.parts(&Places { ca: place(ca), cert: place(cert), key: place(key), ..Places::default() })?;
        Ok(identity)
    }

    /// The same with the lists of revoked certificates in this file.
    ///
    /// # Errors
    /// If it cannot be read, or is no such list.
    pub fn with_revoked(self, file: &Path) -> Result<Self, TlsError> {
        let identity = Self { revoked: Some(read(file)?), ..self };
        let places = Places { revoked: file.display().to_string(), ..Places::default() };
        let lists = identity.parts(&places)?.revoked;
        revocation::parse(&lists, &places.revoked)?;
        Ok(identity)
    }

    /// Until when peers take it as the proof of that member, if that can be told.
    ///
    /// # Errors
    /// If they would not take it now: it is another's, it has expired, or the authority did not issue it.
    pub fn good_until(&self, cluster: &str, id: NodeId) -> Result<Option<SystemTime>, TlsError> {
        let tls = TlsConfigs::new(self, cluster, id)?;
        tls.check().map(|()| tls.until)
    }

    /// The certificates and the key, if they are such and fit together.
    pub(crate) fn parts(&self, places: &Places) -> Result<Parts, TlsError> {
        let parts = Parts {
            ca: certificates(&self.ca, &places.ca)?,
            chain: certificates(&self.cert, &places.cert)?,
            key: private_key(&self.key, &places.key)?,
            revoked: match &self.revoked {
                Some(revoked) => revocation::lists(revoked, &places.revoked)?,
                None => Vec::new(),
            },
        };
        parts.check(places)?;
        Ok(parts)
    }
}

/// What the parts of an identity are called in messages.
pub(crate) struct Places {
    pub(crate) ca: String,
    pub(crate) cert: String,
    pub(crate) key: String,
    pub(crate) revoked: String,
}

impl Default for Places {
    fn default() -> Self {
        let place = str::to_owned;
        Self {
            ca: place("the authority's certificate"),
            cert: place("the member's certificate"),
            key: place("the member's key"),
            revoked: place("the list of revoked certificates"),
        }
    }
}

/// An identity, parsed.
pub(crate) struct Parts {
    pub(crate) ca: Vec<CertificateDer<'static>>,
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) revoked: Vec<CertificateRevocationListDer<'static>>,
}

/// No certificates, with all those between them and the authority, are longer.
const PEM_MAX: u64 = 1 << 20;

fn read(path: &Path) -> Result<String, TlsError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(PEM_MAX + 1).read_to_string(&mut text));
    match read {
        Ok(read) if read as u64 > PEM_MAX => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(_) => Ok(text),
        Err(source) => Err(source),
    }
    .map_err(|source| TlsError::Read { path: path.to_owned(), source })
}

fn certificates(pem: &str, place: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |problem| TlsError::Pem { place: place.to_owned(), wanted: "certificate", problem };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => Err(failed("there is no such section".to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn private_key(pem: &str, place: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| TlsError::Pem {
        place: place.to_owned(),
        wanted: "private key",
        problem: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
