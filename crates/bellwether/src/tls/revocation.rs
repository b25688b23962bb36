//! Certificates that are not to be trusted any more, though they have not expired.

use std::time::{Duration, SystemTime};

use rcgen::{CertificateRevocationListParams, KeyIdMethod, RevokedCertParams, SerialNumber};
use rustls::pki_types::CertificateRevocationListDer;
use rustls::pki_types::pem::PemObject;
use webpki::{BorrowedCertRevocationList, CertRevocationList, EndEntityCert, OwnedCertRevocationList};

use super::authority::{Authority, make};
use super::config::verify_chain;
use super::{TlsError, certificates};

/// What a list says of when the next one comes. Nobody relies on it: a list holds until there is another.
const NEXT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// No list has more entries.
const ENTRIES_MAX: usize = 10_000;

impl Authority {
    /// A list of revoked certificates: those of `list`, if there is one, and these.
    ///
    /// # Errors
    /// If the list or a certificate cannot be read, or is not from this authority.
    pub fn revoke(&self, list: Option<&str>, certs: &[&str]) -> Result<String, TlsError> {
        let mut revoked = list.map_or(Ok(Vec::new()), |list| self.entries(list))?;
        for cert in certs {
            let serial = self.serial_of_ours(cert)?;
            if !revoked.iter().any(|entry| entry.serial_number.as_ref() == serial) {
                revoked.push(entry(&serial, SystemTime::now()));
            }
        }
        if revoked.len() > ENTRIES_MAX {
            return Err(TlsError::Make(format!(
                "a list of more than {ENTRIES_MAX} certificates is too long"
            )));
        }
        let now = SystemTime::now();
        let number = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let params = CertificateRevocationListParams {
            this_update: now.into(),
            next_update: (now + NEXT).into(),
            crl_number: SerialNumber::from(number),
            issuing_distribution_point: None,
            revoked_certs: revoked,
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).and_then(|list| list.pem()).map_err(make)
    }

    /// Whether a certificate is on a list.
    ///
    /// # Errors
    /// If one of the two cannot be read.
    pub fn has_revoked(&self, list: &str, cert: &str) -> Result<bool, TlsError> {
        let chain = certificates(cert, "the certificate")?;
        let cert = EndEntityCert::try_from(&chain[0]).map_err(|error| unusable(error.to_string()))?;
        Ok(self.entries(list)?.iter().any(|entry| entry.serial_number.as_ref() == cert.serial()))
    }

    /// What a list says that this authority made. Lists of others are lost with them, and are not taken over.
    fn entries(&self, list: &str) -> Result<Vec<RevokedCertParams>, TlsError> {
        let malformed = |error: webpki::Error| unusable(error.to_string());
        let mut entries = Vec::new();
        for der in lists(list, "the list of revoked certificates")? {
            let list = BorrowedCertRevocationList::from_der(&der).map_err(malformed)?;
            for revoked in &list {
                let revoked = revoked.map_err(malformed)?;
                let at = SystemTime::UNIX_EPOCH + Duration::from_secs(revoked.revocation_date.as_secs());
                entries.push(entry(revoked.serial_number, at));
            }
        }
        Ok(entries)
    }

    fn serial_of_ours(&self, cert: &str) -> Result<Vec<u8>, TlsError> {
        let chain = certificates(cert, "the certificate")?;
        let ca = certificates(self.own_pem(), "the authority's certificate")?;
        let cert = EndEntityCert::try_from(&chain[0]).map_err(|error| unusable(error.to_string()))?;
        let at = super::expiry::end_of(&chain).unwrap_or_else(SystemTime::now);
        verify_chain(&chain, &ca, &[], at).map_err(unusable)?;
        Ok(cert.serial().to_vec())
    }
}

fn entry(serial: &[u8], at: SystemTime) -> RevokedCertParams {
    RevokedCertParams {
        serial_number: SerialNumber::from_slice(serial),
        revocation_time: at.into(),
        reason_code: None,
        invalidity_date: None,
    }
}

fn unusable(problem: String) -> TlsError {
    TlsError::Unusable { place: "the certificate".to_owned(), problem }
}

/// The lists in a text.
pub(super) fn lists(pem: &str, place: &str) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let failed =
        |problem| TlsError::Pem { place: place.to_owned(), wanted: "list of revoked certificates", problem };
    let found: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => Err(failed("there is no such section".to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The same, ready to be asked.
pub(super) fn parse(
    lists: &[CertificateRevocationListDer<'_>],
    place: &str,
) -> Result<Vec<CertRevocationList<'static>>, TlsError> {
    let unusable =
        |error: webpki::Error| TlsError::Unusable { place: place.to_owned(), problem: error.to_string() };
    let parse =
        |list| OwnedCertRevocationList::from_der(list).map(CertRevocationList::from).map_err(unusable);
    lists.iter().map(|list| parse(list.as_ref())).collect()
}
