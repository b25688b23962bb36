//! How connections between members are secured: both sides show a certificate, TLS 1.3, no resumption.

use std::sync::Arc;
use std::time::SystemTime;

use bellwether_proto::ident::NodeId;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore, ServerConfig};
use webpki::{
    CertRevocationList, EndEntityCert, KeyUsage, RevocationOptionsBuilder, UnknownStatusPolicy,
    anchor_from_trusted_cert,
};

use super::expiry::end_of;
use super::names::{check_cluster_name, cluster_dns_name, id_in_dns_name, node_dns_name};
use super::{Identity, Parts, Places, TlsError, revocation};

/// Both sides of the connections of one member.
#[derive(Clone, Debug)]
pub(crate) struct TlsConfigs {
    /// For connections that are accepted.
    pub(crate) server: Arc<ServerConfig>,
    /// For connections that are dialled.
    pub(crate) client: Arc<ClientConfig>,
    /// The name that every server of the cluster must prove.
    pub(crate) server_name: ServerName<'static>,
    /// What peers will say of this member's certificate; `None` if it is good now.
    pub(crate) trouble: Option<String>,
    /// Until when this member's certificate is good.
    pub(crate) until: Option<SystemTime>,
    /// Whom it trusts, and what not.
    ca: Vec<CertificateDer<'static>>,
    revoked: Arc<[CertRevocationList<'static>]>,
}

impl TlsConfigs {
    /// # Errors
    /// If the identity is not that of this member, or cannot be used at all. An identity that peers will refuse,
    /// for example because it has expired, is no error: the clock may be wrong.
    pub(crate) fn new(identity: &Identity, cluster: &str, id: NodeId) -> Result<Self, TlsError> {
        check_cluster_name(cluster)?;
        let parts = identity.parts(&Places::default())?;
        verify_id(&parts.chain[0], cluster, id)?;
        let revoked = revocation::parse(&parts.revoked, &Places::default().revoked)?;
        let trouble = verify_chain(&parts.chain, &parts.ca, &revoked, SystemTime::now()).err();
        let until = end_of(&parts.chain);
        let server_name = server_name(cluster_dns_name(cluster))?;
        let Parts { ca, chain, key, revoked: lists } = parts;
        let unusable = |error: Error| unusable(&Places::default().cert, &error);
        let (provider, roots) = (Arc::new(ring::default_provider()), roots(&ca)?);

        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        // An authority of which there is no list has revoked nothing. A list that is old holds until there is another.
        let verifier = verifier.with_crls(lists.clone()).allow_unknown_revocation_status();
        let verifier = verifier.build().map_err(|error| unusable(Error::General(error.to_string())))?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(unusable)?;
        // A resumed connection would outlive the certificate that it was made with.
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});

        let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
        let verifier = verifier.with_crls(lists).allow_unknown_revocation_status();
        let verifier = verifier.build().map_err(|error| unusable(Error::General(error.to_string())))?;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_webpki_verifier(verifier)
            .with_client_auth_cert(chain, key)
            .map_err(unusable)?;
        client.resumption = Resumption::disabled();
        Ok(Self {
            server: Arc::new(server),
            client: Arc::new(client),
            server_name,
            trouble,
            until,
            ca,
            revoked: revoked.into(),
        })
    }

    /// Whether peers will take this member's certificate now.
    pub(crate) fn check(&self) -> Result<(), TlsError> {
        let unusable =
            |problem: &String| TlsError::Unusable { place: Places::default().cert, problem: problem.clone() };
        self.trouble.as_ref().map_or(Ok(()), |problem| Err(unusable(problem)))
    }

    /// Whether a connection may go on that was made with this chain. A certificate that has expired since then is no reason to end it:
    /// whoever is connected stays connected.
    ///
    /// # Errors
    /// Says why not.
    pub(crate) fn trust(&self, chain: &[CertificateDer<'_>]) -> Result<(), String> {
        let now = SystemTime::now();
        verify_chain(chain, &self.ca, &self.revoked, end_of(chain).map_or(now, |end| end.min(now)))
    }
}

/// Whether a certificate, whose chain has been verified, is that of this member. It must carry both names as they are: a
/// wildcard would be good for every id.
///
/// # Errors
/// If it is another's, or its names cannot be read.
pub(crate) fn verify_id(cert: &CertificateDer<'_>, cluster: &str, id: NodeId) -> Result<(), TlsError> {
    let not_ours = || TlsError::NotOurs { cluster: cluster.to_owned(), id };
    let cert = EndEntityCert::try_from(cert).map_err(|_| not_ours())?;
    for name in [cluster_dns_name(cluster), node_dns_name(cluster, id)] {
        let valid = cert.verify_is_valid_for_subject_name(&server_name(name.clone())?);
        valid.map_err(|_| not_ours())?;
        if !cert.valid_dns_names().any(|carried| carried.eq_ignore_ascii_case(&name)) {
            return Err(TlsError::Wildcard { name });
        }
    }
    Ok(())
}

/// Whose certificate it is.
pub(crate) fn id_in(cert: &CertificateDer<'_>, cluster: &str) -> Option<NodeId> {
    let cert = EndEntityCert::try_from(cert).ok()?;
    cert.valid_dns_names().find_map(|name| id_in_dns_name(cluster, name))
}

/// Whether peers that trust `ca` will take the first of these certificates at that time, and if not, why.
pub(super) fn verify_chain(
    chain: &[CertificateDer<'_>],
    ca: &[CertificateDer<'_>],
    revoked: &[CertRevocationList<'_>],
    at: SystemTime,
) -> Result<(), String> {
    let (cert, between) = chain.split_first().ok_or("there is no certificate")?;
    let since_1970 = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let at = UnixTime::since_unix_epoch(since_1970);
    let anchors: Result<Vec<_>, _> = ca.iter().map(|cert| anchor_from_trusted_cert(cert)).collect();
    let anchors = anchors.map_err(|error| format!("the authority's certificate: {error}"))?;
    let cert = EndEntityCert::try_from(cert).map_err(|error| error.to_string())?;
    let algorithms = ring::default_provider().signature_verification_algorithms.all;
    let revoked: Vec<_> = revoked.iter().collect();
    let revoked = RevocationOptionsBuilder::new(&revoked).ok();
    let revoked = revoked.map(|lists| lists.with_status_policy(UnknownStatusPolicy::Allow).build());
    for usage in [KeyUsage::server_auth(), KeyUsage::client_auth()] {
        cert.verify_for_usage(algorithms, &anchors, between, at, usage, revoked, None)
            .map_err(|error| in_words(&error))?;
    }
    Ok(())
}

/// What is wrong with a certificate, for whoever can put it right.
fn in_words(error: &webpki::Error) -> String {
    let words = match error {
        webpki::Error::CertExpired { .. } => "it has expired",
        webpki::Error::CertNotValidYet { .. } => "it is not valid yet, or the clock is wrong",
        webpki::Error::CertRevoked => "it has been revoked",
        webpki::Error::UnknownIssuer => "the authority did not issue it",
        webpki::Error::InvalidSignatureForPublicKey => {
            "the authority did not issue it, but one of the same name"
        }
        webpki::Error::RequiredEkuNotFoundContext(_) => {
            "it must be good for servers and for clients: extendedKeyUsage = serverAuth, clientAuth"
        }
        _ => return error.to_string(),
    };
    format!("{words} ({error})")
}

impl Parts {
    /// Whether the key is that of the certificate, and the authority's certificate is one.
    pub(super) fn check(&self, places: &Places) -> Result<(), TlsError> {
        for cert in &self.ca {
            anchor_from_trusted_cert(cert).map_err(|error| unusable(&places.ca, &error))?;
        }
        EndEntityCert::try_from(&self.chain[0]).map_err(|error| unusable(&places.cert, &error))?;
        let provider: CryptoProvider = ring::default_provider();
        match CertifiedKey::from_der(self.chain.clone(), self.key.clone_key(), &provider) {
            Ok(_) => Ok(()),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                Err(TlsError::KeyMismatch { cert: places.cert.clone(), key: places.key.clone() })
            }
            Err(error) => Err(unusable(&places.key, &error)),
        }
    }
}

fn roots(ca: &[CertificateDer<'static>]) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for cert in ca {
        roots.add(cert.clone()).map_err(|error| unusable(&Places::default().ca, &error))?;
    }
    Ok(Arc::new(roots))
}

fn server_name(name: String) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(name.clone()).map_err(|error| unusable(&name, &error))
}

fn unusable(place: &str, problem: &dyn std::error::Error) -> TlsError {
    TlsError::Unusable { place: place.to_owned(), problem: problem.to_string() }
}
