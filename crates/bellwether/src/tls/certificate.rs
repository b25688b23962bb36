//! What a certificate says.

use std::time::SystemTime;

use bellwether_proto::ident::NodeId;
use webpki::EndEntityCert;

use super::config::{verify_chain, verify_id};
use super::expiry::{begin, end};
use super::revocation::{lists, parse};
use super::{Places, TlsError, certificates};

/// A certificate, as people look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Certificate {
    /// Its number, in hexadecimal digits.
    pub serial: String,
    /// The DNS names that it carries.
    pub names: Vec<String>,
    /// Since when it is good, if that can be told.
    pub from: Option<SystemTime>,
    /// Until when.
    pub until: Option<SystemTime>,
}

impl Certificate {
    /// All that are in a text, in order.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn all_in(pem: &str) -> Result<Vec<Self>, TlsError> {
        let place = "the file";
        let read = |der| {
            let cert = EndEntityCert::try_from(der).map_err(|error: webpki::Error| TlsError::Unusable {
                place: place.to_owned(),
                problem: error.to_string(),
            })?;
            Ok(Self {
                serial: cert.serial().iter().map(|byte| format!("{byte:02x}")).collect(),
                names: cert.valid_dns_names().map(str::to_owned).collect(),
                from: begin(der),
                until: end(der),
            })
        };
        certificates(pem, place)?.iter().map(read).collect()
    }

    /// Whether members take a certificate, with all between it and the authority, as the proof of that member. `trusted` are the
    /// authorities that they trust, `revoked` is their list of revoked certificates.
    ///
    /// # Errors
    /// Says why not.
    pub fn check(
        cert: &str,
        trusted: &str,
        revoked: Option<&str>,
        cluster: &str,
        id: NodeId,
    ) -> Result<(), TlsError> {
        let Places { ca, cert: place, revoked: list, .. } = Places::default();
        let (chain, trusted) = (certificates(cert, &place)?, certificates(trusted, &ca)?);
        let revoked = revoked.map_or(Ok(Vec::new()), |revoked| lists(revoked, &list))?;
        verify_id(&chain[0], cluster, id)?;
        verify_chain(&chain, &trusted, &parse(&revoked, &list)?, SystemTime::now())
            .map_err(|problem| TlsError::Unusable { place, problem })
    }
}
