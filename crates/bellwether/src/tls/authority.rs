//! The authority of a cluster: it vouches for the members' ids.

use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyPair, KeyUsagePurpose, SerialNumber, SubjectPublicKeyInfo,
};
use rustls::pki_types::CertificateDer;
use webpki::{EndEntityCert, anchor_from_trusted_cert};

use super::config::{verify_chain, verify_id};
use super::names::{check_cluster_name, cluster_dns_name, node_dns_name};
use super::{Identity, TlsError, certificates};
use crate::random;

/// Certificates are valid from this long ago, because the clocks of two machines are never quite the same.
const BACKDATED: Duration = Duration::from_secs(60 * 60);

/// How many bytes the number of a certificate has.
const SERIAL: usize = 16;

/// What the name of an authority begins with that was made here.
const MADE_FOR: &str = "bellwether authority ";

const CERTIFICATE: &str = "CERTIFICATE";

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
    /// Its own certificate.
    own: String,
    /// All authorities that members are to trust: this one, and while one takes the place of another, that one as well.
    trusted: String,
    pub(super) issuer: Issuer<'static, KeyPair>,
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
        params.distinguished_name = named(name_of(cluster, &params.key_identifier(&key)));
        params.not_before = validity.from.into();
        params.not_after = validity.until.into();
        let own = params.self_signed(&key).map_err(make)?.pem();
        let (cluster, trusted) = (cluster.to_owned(), own.clone());
        Ok(Self { cluster, own, trusted, issuer: Issuer::new(params, key) })
    }

    /// A new authority that is to take the place of this one. Until it does so alone, members are to trust both.
    ///
    /// # Errors
    /// If no certificate can be made.
    pub fn successor(&self, validity: Validity) -> Result<Self, TlsError> {
        let next = Self::create(&self.cluster, validity)?;
        Ok(Self { trusted: format!("{}{}", next.own, self.own), ..next })
    }

    /// The authority that [`Authority::create`] made before, or another that may sign, from its certificate and its key. There may be
    /// certificates of others beside its own, which are trusted as well.
    ///
    /// # Errors
    /// If it is another cluster's, or none of the certificates belongs to the key.
    pub fn from_pem(cluster: &str, trusted: &str, key: &str) -> Result<Self, TlsError> {
        check_cluster_name(cluster)?;
        let mut problem = TlsError::Authority {
            cluster: cluster.to_owned(),
            problem: "there is no certificate in PEM".to_owned(),
        };
        for own in sections(trusted, CERTIFICATE) {
            match Self::with(cluster, own, trusted, key) {
                Ok(authority) => return Ok(authority),
                Err(why) => problem = why,
            }
        }
        Err(problem)
    }

    /// With one of the certificates.
    fn with(cluster: &str, own: &str, trusted: &str, key: &str) -> Result<Self, TlsError> {
        let ca = certificates(own, "the authority's certificate")?;
        let key = KeyPair::from_pem(key).map_err(|error| TlsError::Pem {
            place: "the authority's key".to_owned(),
            wanted: "private key",
            problem: error.to_string(),
        })?;
        let problem = |problem| TlsError::Authority { cluster: cluster.to_owned(), problem };
        if let Some(other) = made_for(&ca[0]).filter(|other| other != cluster) {
            return Err(problem(format!("it was made for {other:?}")));
        }
        let issuer = Issuer::from_ca_cert_der(&ca[0], key).map_err(|error| problem(error.to_string()))?;
        let (own, trusted) = (own.to_owned(), trusted.to_owned());
        let authority = Self { cluster: cluster.to_owned(), own, trusted, issuer };
        // Whether the key is that of the certificate shows when it issues something.
        let (probe, _) = authority.sign_member(NodeId(1), Validity::days(1))?;
        verify_chain(&[probe.der().clone()], &ca, &[], SystemTime::now()).map_err(|error| {
            problem(format!(
                "what it issues does not verify ({error}): its key belongs to another certificate"
            ))
        })?;
        Ok(authority)
    }

    /// The cluster that it is for.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// What every member needs: its certificate, and before or after it those of other authorities that are trusted as well.
    pub fn cert_pem(&self) -> &str {
        &self.trusted
    }

    /// Its own certificate alone.
    pub fn own_pem(&self) -> &str {
        &self.own
    }

    /// Whether it takes the place of another, which is trusted as well until that is over.
    pub fn succeeds_another(&self) -> bool {
        let all = sections(&self.trusted, CERTIFICATE);
        all.len() > 1 && all[0].trim() == self.own.trim()
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

    /// Another certificate for the key of this one, which need not be ours. So the key need not leave its machine.
    ///
    /// # Errors
    /// If it cannot be read, or the key is of a kind that cannot be certified.
    pub fn renew(&self, id: NodeId, cert: &str, validity: Validity) -> Result<String, TlsError> {
        let old = certificates(cert, "the certificate")?;
        let unusable = |problem| TlsError::Unusable { place: "the certificate".to_owned(), problem };
        let key = EndEntityCert::try_from(&old[0]).map_err(|error| unusable(error.to_string()))?;
        let key = SubjectPublicKeyInfo::from_der(&key.subject_public_key_info())
            .map_err(|error| unusable(error.to_string()))?;
        let cert = member_params(&self.cluster, id, validity)?.signed_by(&key, &self.issuer).map_err(make)?;
        verify_id(cert.der(), &self.cluster, id)?;
        Ok(cert.pem())
    }

    /// A certificate that carries these names, whatever they prove.
    #[cfg(test)]
    pub(crate) fn issue_for(&self, names: &[&str], validity: Validity) -> Identity {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let (cert, key) = self.sign(&params("whoever".to_owned(), names, validity).unwrap()).unwrap();
        self.identity(&cert, &key)
    }

    /// Another that has its name, and not its key.
    #[cfg(test)]
    pub(crate) fn impostor(&self) -> Self {
        let issuer = Issuer::from_ca_cert_pem(&self.own, KeyPair::generate().unwrap()).unwrap();
        Self { cluster: self.cluster.clone(), own: self.own.clone(), trusted: self.trusted.clone(), issuer }
    }

    fn identity(&self, cert: &Certificate, key: &KeyPair) -> Identity {
        Identity { ca: self.trusted.clone(), cert: cert.pem(), key: key.serialize_pem(), revoked: None }
    }

    fn sign_member(&self, id: NodeId, validity: Validity) -> Result<(Certificate, KeyPair), TlsError> {
        self.sign(&member_params(&self.cluster, id, validity)?)
    }

    fn sign(&self, params: &CertificateParams) -> Result<(Certificate, KeyPair), TlsError> {
        let key = KeyPair::generate().map_err(make)?;
        let cert = params.signed_by(&key, &self.issuer).map_err(make)?;
        Ok((cert, key))
    }
}

fn member_params(cluster: &str, id: NodeId, validity: Validity) -> Result<CertificateParams, TlsError> {
    let names = vec![cluster_dns_name(cluster), node_dns_name(cluster, id)];
    params(format!("node {id} of {cluster}"), names, validity)
}

fn params(holder: String, names: Vec<String>, validity: Validity) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::new(names).map_err(make)?;
    params.distinguished_name = named(holder);
    // Two certificates of one key are two: one may be revoked, and the other not.
    let serial =
        random::bytes::<SERIAL>().ok_or_else(|| TlsError::Make("there is no randomness".to_owned()))?;
    params.serial_number = Some(SerialNumber::from_slice(&positive(serial)));
    params.not_before = validity.from.into();
    params.not_after = validity.until.into();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// As certificates want it: with the highest bit clear, and not zero.
fn positive(mut serial: [u8; SERIAL]) -> [u8; SERIAL] {
    serial[0] = serial[0] & 0x7f | 0x40;
    serial
}

fn authority_params(cluster: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(format!("{MADE_FOR}{cluster}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// Each has a name of its own: a list of what one has revoked says nothing about what another has issued.
fn name_of(cluster: &str, key: &[u8]) -> String {
    let key: String = key.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{MADE_FOR}{cluster} {key}")
}

/// The cluster for which an authority was made, if it was made here: its name is the whole of the subject, and the last in it.
fn made_for(ca: &CertificateDer<'_>) -> Option<String> {
    let anchor = anchor_from_trusted_cert(ca).ok()?;
    let subject = anchor.subject.as_ref();
    let at = subject.windows(MADE_FOR.len()).position(|window| window == MADE_FOR.as_bytes())?;
    let name = std::str::from_utf8(&subject[at + MADE_FOR.len()..]).ok()?;
    name.split(' ').next().map(str::to_owned)
}

/// What a text has of a kind, certificates for instance, each as it is written there.
pub(super) fn sections<'a>(pem: &'a str, kind: &str) -> Vec<&'a str> {
    let (begin, end) = (format!("-----BEGIN {kind}-----"), format!("-----END {kind}-----"));
    let begins = pem.match_indices(&begin).map(|(at, _)| &pem[at..]);
    begins
        .filter_map(|rest| rest.find(&end).map(|at| rest.get(..at + end.len() + 1).unwrap_or(rest)))
        .collect()
}

fn named(common: String) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

#[allow(clippy::needless_pass_by_value, reason = "this is what map_err hands over")]
pub(super) fn make(error: rcgen::Error) -> TlsError {
    TlsError::Make(error.to_string())
}
