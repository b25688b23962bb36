//! When certificates end, and when that is worth a warning.

use std::time::{Duration, SystemTime};

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage};

/// One day.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// An end is warned of from so long before it.
const SOON: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// When the first certificate of a chain ends that peers look at. They do not look at the authority's.
pub(super) fn end_of(chain: &[CertificateDer<'_>]) -> Option<SystemTime> {
    chain.iter().filter_map(end).min()
}

/// Asked about the end of time, the verifier says when the certificate ends. So nobody else needs to take it apart.
pub(super) fn end(cert: &CertificateDer<'_>) -> Option<SystemTime> {
    match asked_at(cert, u64::MAX) {
        Some(Error::CertExpired { not_after, .. }) => at(not_after),
        Some(_) | None => None,
    }
}

/// Asked about 1970, it says when the certificate begins.
pub(super) fn begin(cert: &CertificateDer<'_>) -> Option<SystemTime> {
    match asked_at(cert, 0) {
        Some(Error::CertNotValidYet { not_before, .. }) => at(not_before),
        Some(_) | None => None,
    }
}

fn at(time: UnixTime) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time.as_secs()))
}

fn asked_at(cert: &CertificateDer<'_>, seconds: u64) -> Option<Error> {
    let cert = EndEntityCert::try_from(cert).ok()?;
    let algorithms = ring::default_provider().signature_verification_algorithms.all;
    let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let usage = KeyUsage::client_auth();
    cert.verify_for_usage(algorithms, &[], &[], time, usage, None, None).err()
}

/// What to say at `now` of a member's certificate that is good until `until`; nothing, if it is good for 30 days more.
pub fn expiry_warning(until: SystemTime, now: SystemTime) -> Option<String> {
    let advice = "run `bellwether tls renew`, and give the agent the new one";
    match until.duration_since(now) {
        Ok(left) if left > SOON => None,
        Ok(left) => {
            let days = left.as_secs() / DAY.as_secs();
            let in_days = match days {
                0 => "within a day".to_owned(),
                1 => "in 1 day".to_owned(),
                days => format!("in {days} days"),
            };
            Some(format!("this member's certificate expires {in_days}; after that it is refused: {advice}"))
        }
        Err(_) => Some(format!("this member's certificate has expired, and peers refuse it: {advice}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Authority, Validity, certificates};
    use super::*;
    use bellwether_proto::ident::NodeId;

    #[test]
    fn a_chain_ends_with_the_first_of_its_certificates() {
        let authority = Authority::create("flock", Validity::days(1)).unwrap();
        let chain = |days| {
            let identity = authority.issue(NodeId(1), Validity::days(days)).unwrap();
            certificates(&identity.cert, "").unwrap()
        };
        let in_days =
            |until: SystemTime| until.duration_since(SystemTime::now()).unwrap().as_secs_f64() / 86_400.0;
        let long = chain(400);
        assert!((399.9..400.1).contains(&in_days(end_of(&long).unwrap())), "not as long as the authority");
        let mixed = [long, chain(3)].concat();
        assert!((2.9..3.1).contains(&in_days(end_of(&mixed).unwrap())));
        assert_eq!(end_of(&[CertificateDer::from(vec![0x30, 0x00])]), None);
    }

    #[test]
    fn an_end_is_warned_of_a_month_before() {
        let now = SystemTime::now();
        assert_eq!(expiry_warning(now + DAY * 31, now), None);
        for (until, words) in [
            (now + DAY * 30, "expires in 30 days"),
            (now + DAY * 3 / 2, "expires in 1 day;"),
            (now + DAY / 2, "expires within a day"),
            (now - DAY, "has expired, and peers refuse it"),
        ] {
            let warning = expiry_warning(until, now).unwrap();
            assert!(warning.contains(words), "{warning}");
        }
    }
}
