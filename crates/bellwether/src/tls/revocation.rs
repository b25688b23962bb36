//! Certificates that are not to be trusted any more, though they have not expired.

use std::time::{Duration, SystemTime};

use rcgen::{CertificateRevocationListParams, KeyIdMethod, RevokedCertParams, SerialNumber};
use rustls::pki_types::CertificateRevocationListDer;
use rustls::pki_types::pem::PemObject;
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, OwnedCertRevocationList,
    anchor_from_trusted_cert,
};

use super::authority::{Authority, make, sections};
use super::config::verify_chain;
use super::{TlsError, certificates};

/// What a list says of when the next one comes. Nobody relies on it: a list holds until there is another.
const NEXT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// No list has more entries.
const ENTRIES_MAX: usize = 10_000;

impl Authority {
    /// A list of revoked certificates: those that `list` says of this authority, if there is one, and these. After it come the lists of
    /// other authorities as they are, because only who has issued a certificate can revoke it.
    ///
    /// # Errors
    /// If a list or a certificate cannot be read, or a certificate is not from this authority.
    pub fn revoke(&self, list: Option<&str>, certs: &[&str]) -> Result<String, TlsError> {
        let (mut revoked, others) = list.map_or(Ok(Default::default()), |list| self.entries(list))?;
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
        let own = params.signed_by(&self.issuer).and_then(|list| list.pem()).map_err(make)?;
        Ok(own + &others)
    }

    /// Whether a certificate is on a list of the authority that issued it, this one or another.
    ///
    /// # Errors
    /// If one of the two cannot be read.
    pub fn has_revoked(&self, list: &str, cert: &str) -> Result<bool, TlsError> {
        let chain = certificates(cert, "the certificate")?;
        let cert = EndEntityCert::try_from(&chain[0]).map_err(|error| unusable(error.to_string()))?;
        let place = "the list of revoked certificates";
        let lists = parse(&lists(list, place)?, place)?;
        for list in lists.iter().filter(|list| list.issuer() == cert.issuer()) {
            if list.find_serial(cert.serial()).map_err(|error| unusable(error.to_string()))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the lists in a text say of this authority's certificates, and the lists of others as they are written there.
    fn entries(&self, text: &str) -> Result<(Vec<RevokedCertParams>, String), TlsError> {
        let malformed = |error: webpki::Error| unusable(error.to_string());
        let own = certificates(self.own_pem(), "the authority's certificate")?;
        let own = anchor_from_trusted_cert(&own[0]).map_err(malformed)?;
        let (mut entries, mut others) = (Vec::new(), String::new());
        let ders = lists(text, "the list of revoked certificates")?;
        for (der, written) in ders.iter().zip(sections(text, "X509 CRL")) {
            let read = || BorrowedCertRevocationList::from_der(der).map_err(malformed);
            if CertRevocationList::from(read()?).issuer() != own.subject.as_ref() {
                others.extend([written.trim_end(), "\n"]);
                continue;
            }
            for revoked in &read()? {
                let revoked = revoked.map_err(malformed)?;
                let at = SystemTime::UNIX_EPOCH + Duration::from_secs(revoked.revocation_date.as_secs());
                entries.push(entry(revoked.serial_number, at));
            }
        }
        Ok((entries, others))
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
