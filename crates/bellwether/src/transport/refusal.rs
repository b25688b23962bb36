//! Refusals: answers of peers that keep two processes from being members of one cluster.
//!
//! A peer that does not answer is silent: its process, its machine or the network is gone. A peer that answers and refuses is
//! there. It may have a leader, so whoever is refused by all that answer must not lead.
//!
//! - Only answers from addresses that this member dials count. Whoever merely connects to it cannot make it believe anything.
//! - A certificate that this member itself refuses counts as well. When all certificates have expired, each side refuses the
//!   other's before it hears what the other makes of its own.
//! - So whoever holds a peer's address can keep a member that is connected with nobody from leading. It needs no certificate for
//!   that. But it could as well keep the two from speaking.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::Reception;
use rustls::{AlertDescription, Error};

use super::greet::DialError;
use super::record::{ReadError, Reason};
use super::table::{DialState, Table};

/// A refusal counts until the peer accepts this member, or has not answered for so long. A peer that is restarted is back sooner;
/// if its refusal were forgotten meanwhile, there would be two leaders when it comes.
pub(super) const LASTS: Duration = Duration::from_secs(30);

/// Of no more members is remembered that they were turned away.
const TURNED_AWAY_MAX: usize = 64;

impl Reason {
    /// Whether the two cannot be members of one cluster as things are. Otherwise it is a matter of this connection.
    pub(super) fn is_refusal(self) -> bool {
        match self {
            Self::Version | Self::Cluster | Self::Protocol | Self::Certificate | Self::NotListed => true,
            Self::InUse | Self::Yourself | Self::Full => false,
        }
    }
}

impl DialError {
    /// Whether somebody was there, and one of the two refused the other.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::Refused { reason, .. } => reason.is_refusal(),
            Self::Untrusted { .. }
            | Self::Distrusted { .. }
            | Self::Certificate { .. }
            | Self::Another { .. } => true,
            // It has proved to be of this cluster, and does not speak as members do.
            Self::Answer { source: ReadError::Malformed | ReadError::TooLong { .. }, .. } => true,
            Self::Answer { source: ReadError::Goodbye | ReadError::Broken(_), .. }
            | Self::Resolve { .. }
            | Self::NoAddress { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Slow { .. }
            | Self::Duplicate { .. }
            | Self::Spare { .. }
            | Self::Full { .. } => false,
        }
    }
}

/// What became of a secure connection that failed: somebody may have refused a certificate.
pub(super) fn insecure(address: SocketAddr, source: std::io::Error) -> DialError {
    match source.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(problem)) => {
            DialError::Untrusted { address, problem: problem.to_string() }
        }
        Some(Error::AlertReceived(alert)) if is_refusal(*alert) => {
            DialError::Distrusted { address, alert: *alert }
        }
        _ => DialError::Tls { address, source },
    }
}

/// Whether an alert says that the other side wants no connection with this one, rather than that it has trouble of its own.
fn is_refusal(alert: AlertDescription) -> bool {
    !matches!(
        alert,
        AlertDescription::CloseNotify | AlertDescription::UserCanceled | AlertDescription::InternalError
    )
}

impl Table {
    /// How peers receive this member now.
    pub(super) fn reception(&self) -> Reception {
        let count = |of: fn(&DialState) -> bool| self.dials.values().filter(|dial| of(&dial.state)).count();
        Reception {
            unheard: count(|state| matches!(state, DialState::Connecting)) + usize::from(self.searching),
            refusing: count(|state| matches!(state, DialState::Refused { .. })),
        }
    }
}

/// The last refusal that came from an address.
#[derive(Debug, Default)]
pub(super) struct LastRefusal(Option<(String, Instant)>);

/// Whether a refusal is worth a line in the log. The next ones, every second, are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Yes,
    No,
}

impl LastRefusal {
    pub(super) fn note(&mut self, why: String, now: Instant) -> News {
        let news = if self.at(now).is_none() { News::Yes } else { News::No };
        self.0 = Some((why, now));
        news
    }

    /// Why the peer refuses, if that counts now.
    pub(super) fn at(&self, now: Instant) -> Option<&str> {
        let (why, at) = self.0.as_ref()?;
        (now.saturating_duration_since(*at) < LASTS).then_some(why)
    }
}

/// The members that proved who they are and were refused, by id.
#[derive(Debug, Default)]
pub(super) struct TurnedAway(BTreeMap<NodeId, Away>);

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Away {
    /// From where it came.
    pub(super) address: SocketAddr,
    pub(super) why: String,
    pub(super) at: Instant,
}

impl TurnedAway {
    pub(super) fn note(&mut self, id: NodeId, away: Away) {
        self.0.insert(id, away);
        if self.0.len() > TURNED_AWAY_MAX
            && let Some(oldest) = self.0.iter().min_by_key(|(_, away)| away.at).map(|(id, _)| *id)
        {
            self.0.remove(&oldest);
        }
    }

    /// That one has been taken after all.
    pub(super) fn forget(&mut self, id: NodeId) {
        self.0.remove(&id);
    }

    /// Those that came lately: whoever is there tries again every second.
    pub(super) fn lately(&self, now: Instant) -> impl Iterator<Item = (NodeId, &Away)> {
        let lately = move |(_, away): &(&NodeId, &Away)| now.saturating_duration_since(away.at) < LASTS;
        self.0.iter().filter(lately).map(|(id, away)| (*id, away))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const ADDRESS: &str = "127.0.0.1:3170";

    fn failed(error: Error) -> DialError {
        insecure(ADDRESS.parse().unwrap(), io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn a_certificate_that_either_side_refuses_is_a_refusal() {
        let expired = failed(Error::InvalidCertificate(rustls::CertificateError::Expired));
        assert!(expired.is_refusal(), "{expired}");
        assert!(expired.to_string().contains("Expired"), "{expired}");
        let alert = failed(Error::AlertReceived(AlertDescription::UnknownCA));
        assert!(alert.is_refusal(), "{alert}");
        assert!(alert.to_string().contains("UnknownCA"), "{alert}");
    }

    #[test]
    fn trouble_is_no_refusal() {
        let address = ADDRESS.parse().unwrap();
        let closed = io::Error::from(io::ErrorKind::UnexpectedEof);
        for error in [
            failed(Error::AlertReceived(AlertDescription::InternalError)),
            failed(Error::HandshakeNotComplete),
            insecure(address, io::ErrorKind::ConnectionReset.into()),
            DialError::Connect { address, source: io::ErrorKind::ConnectionRefused.into() },
            DialError::Answer { address, source: ReadError::Broken(closed) },
            DialError::Slow { address },
        ] {
            assert!(!error.is_refusal(), "{error}");
        }
    }

    #[test]
    fn a_refusal_counts_while_a_peer_restarts_and_not_for_ever() {
        let (mut last, now) = (LastRefusal::default(), Instant::now());
        assert_eq!(last.at(now), None);
        assert_eq!(last.note("another protocol".to_owned(), now), News::Yes);
        let later = now + LASTS - Duration::from_millis(1);
        assert_eq!(last.at(later), Some("another protocol"));
        assert_eq!(last.note("not listed".to_owned(), later), News::No);
        assert_eq!(last.at(now + LASTS), Some("not listed"), "it has answered again");
        assert_eq!(last.at(later + LASTS), None);
        assert_eq!(last.note("not listed".to_owned(), later + LASTS), News::Yes);
    }

    #[test]
    fn who_was_turned_away_is_remembered_for_a_while_and_not_everybody() {
        let (mut away, now) = (TurnedAway::default(), Instant::now());
        let came = |at| Away { address: ADDRESS.parse().unwrap(), why: "not listed".to_owned(), at };
        for id in 1..=100 {
            away.note(NodeId(id), came(now + Duration::from_millis(u64::from(id))));
        }
        assert_eq!(away.lately(now + LASTS).count(), TURNED_AWAY_MAX);
        assert!(away.lately(now).all(|(id, _)| id.0 > 36), "the oldest are forgotten");
        assert_eq!(away.lately(now + LASTS + Duration::from_millis(99)).count(), 1);
        away.forget(NodeId(100));
        assert_eq!(away.lately(now + LASTS + Duration::from_millis(99)).count(), 0);
    }
}
