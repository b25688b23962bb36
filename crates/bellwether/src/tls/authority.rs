//! The authority of a cluster: it vouches for the members' ids.

use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

use super::config::{verify_chain, verify_id};
use super::names::{check_cluster_name, cluster_dns_name, node_dns_name};
use super::{Identity, TlsError, certificates};

/// Certificates are valid from this long ago, because the clocks of two machines are never quite the same.
const BACKDATED: Duration = Duration::from_secs(60 * 60);

/// No certificate is made for longer: the format runs out of years.
const DAYS_MAX: u32 = 100 * 366;

/// From when to when a certificate is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Not before.
    pub from: SystemTime,
    /// Not after.
    pub until: SystemTime,
}

impl Validity {
    /// From an hour ago, for this many days from now; at most a hundred years.
    pub fn days(days: u32) -> Self {
        let now = SystemTime::now();
        let days = Duration::from_secs(24 * 60 * 60) * days.min(DAYS_MAX);
        Self { from: now - BACKDATED, until: now + days }
    }
}

/// The certificate authority of one cluster.
pub struct Authority {
    cluster: String,
    cert_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

impl Authority {
    /// A new authority, with a new key.
    ///
    /// # Errors
    /// If no cluster can have that name.
    pub fn create(cluster: &str, validity: Validity) -> Result<Self, TlsError> {
        check_cluster_name(cluster)?;
        let key = KeyPair::generate().map_err(make)?;
        let mut params = authority_params(cluster);
        params.not_before = validity.from.into();
        params.not_after = validity.until.into();
        let cert_pem = params.self_signed(&key).map_err(make)?.pem();
        Ok(Self { cluster: cluster.to_owned(), cert_pem, issuer: Issuer::new(params, key) })
    }

    /// The authority that [`Authority::create`] made before, from its certificate and its key.
    ///
    /// # Errors
    /// If it is another cluster's, was made by other means, or the two do not belong together.
    pub fn from_pem(cluster: &str, cert: &str, key: &str) -> Result<Self, TlsError> {
        check_cluster_name(cluster)?;
        let ca = certificates(cert, "the authority's certificate")?;
        let key = KeyPair::from_pem(key).map_err(|error| TlsError::Pem {
            place: "the authority's key".to_owned(),
            wanted: "private key",
            problem: error.to_string(),
        })?;
        // Its name follows from the cluster's, so that the certificate need not be taken apart. Whether both fit, and
        // the key as well, shows when it issues something.
        let issuer = Issuer::new(authority_params(cluster), key);
        let authority = Self { cluster: cluster.to_owned(), cert_pem: cert.to_owned(), issuer };
        let (probe, _) = authority.sign_member(NodeId(1), Validity::days(1))?;
        verify_chain(&[probe.der().clone()], &ca, SystemTime::now()).map_err(|error| TlsError::Authority {
            cluster: cluster.to_owned(),
            problem: format!(
                "what it issues does not verify ({error}); its certificate and key belong to each other and to this \
                 cluster only if one `Authority` made both"
            ),
        })?;
        Ok(authority)
    }

    /// The cluster that it is for.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Its certificate, which every member needs.
    pub fn cert_pem(&self) -> &str {
        &self.cert_pem
    }

    /// Its private key. With it one can pose as any member.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// A certificate and a new key for that member.
    ///
    /// # Errors
    /// If the certificate cannot be made.
    pub fn issue(&self, id: NodeId, validity: Validity) -> Result<Identity, TlsError> {
        let (cert, key) = self.sign_member(id, validity)?;
        verify_id(cert.der(), &self.cluster, id)?;
        Ok(self.identity(&cert, &key))
    }

    /// A certificate that carries these names, whatever they prove.
    #[cfg(test)]
    pub(crate) fn issue_for(&self, names: &[&str], validity: Validity) -> Identity {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let (cert, key) = self.sign("whoever".to_owned(), names, validity).unwrap();
        self.identity(&cert, &key)
    }

    fn identity(&self, cert: &Certificate, key: &KeyPair) -> Identity {
        Identity { ca: self.cert_pem.clone(), cert: cert.pem(), key: key.serialize_pem() }
    }

    fn sign_member(&self, id: NodeId, validity: Validity) -> Result<(Certificate, KeyPair), TlsError> {
        let names = vec![cluster_dns_name(&self.cluster), node_dns_name(&self.cluster, id)];
        self.sign(format!("node {id} of {}", self.cluster), names, validity)
    }

    fn sign(
        &self,
        holder: String,
        names: Vec<String>,
        validity: Validity,
    ) -> Result<(Certificate, KeyPair), TlsError> {
        let key = KeyPair::generate().map_err(make)?;
        let mut params = CertificateParams::new(names).map_err(make)?;
        params.distinguished_name = named(holder);
        params.not_before = validity.from.into();
        params.not_after = validity.until.into();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let cert = params.signed_by(&key, &self.issuer).map_err(make)?;
        Ok((cert, key))
    }
}

fn authority_params(cluster: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(format!("bellwether authority {cluster}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn named(common: String) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

#[allow(clippy::needless_pass_by_value, reason = "this is what map_err hands over")]
fn make(error: rcgen::Error) -> TlsError {
    TlsError::Make(error.to_string())
}
