//! Connections whose peer is not known yet. Their number is limited. When one more comes, one is closed, so that a crowd
//! of silent strangers cannot keep a member out:
//!
//! 1. one from an address where no peer is at home, before one from a peer's address;
//! 2. then one from the address that has the most, so that a crowd from one address is in its own way;
//! 3. then the oldest, which had the longest time to say who it is. No address is preferred to another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use super::connection::{Held, Leash, leash};

/// At most this many at once.
const STRANGERS_MAX: usize = 64;

/// What an address says about who may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Nobody who is known.
    Elsewhere,
    /// A peer is at home there.
    PeersHome,
}

/// In the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Strangers(VecDeque<Stranger>);

#[derive(Debug)]
struct Stranger {
    from: IpAddr,
    origin: Origin,
    leash: Leash,
}

impl Strangers {
    /// Takes in a connection from that address. It is a stranger while it holds the returned value, and must close
    /// when that is released, which may be at once.
    pub(super) fn admit(&mut self, from: IpAddr, origin: Origin) -> Held {
        self.0.retain(|stranger| stranger.leash.is_held());
        let (leash, held) = leash();
        self.0.push_back(Stranger { from, origin, leash });
        if self.0.len() > STRANGERS_MAX {
            self.send_one_away();
        }
        held
    }

    /// Closes the connection that is missed least.
    pub(super) fn send_one_away(&mut self) {
        self.0.retain(|stranger| stranger.leash.is_held());
        let mut from = BTreeMap::<IpAddr, usize>::new();
        self.0.iter().for_each(|stranger| *from.entry(stranger.from).or_default() += 1);
        let places = self.0.iter().enumerate();
        let least = places.min_by_key(|(no, stranger)| (stranger.origin, Reverse(from[&stranger.from]), *no));
        if let Some((no, _)) = least {
            self.0.remove(no);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, timeout};

    use super::Origin::{Elsewhere, PeersHome};
    use super::*;

    const CROWD: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const MEMBER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 200, 0, 2));

    async fn must_go(held: &mut Held) -> bool {
        timeout(Duration::ZERO, held.released()).await.is_ok()
    }

    /// So many, each from an address of its own, all of them lower than the member's.
    fn many(strangers: &mut Strangers, count: usize) -> Vec<Held> {
        let from = |no: usize| IpAddr::from([10, 1, (no / 250) as u8, (no % 250) as u8]);
        (0..count).map(|no| strangers.admit(from(no), Elsewhere)).collect()
    }

    #[tokio::test]
    async fn the_first_makes_room_for_the_last() {
        let mut strangers = Strangers::default();
        let mut crowd: Vec<Held> = (0..STRANGERS_MAX).map(|_| strangers.admit(CROWD, Elsewhere)).collect();
        let mut last = strangers.admit(CROWD, Elsewhere);
        assert!(must_go(&mut crowd[0]).await);
        assert!(!must_go(&mut crowd[1]).await && !must_go(&mut last).await);
    }

    #[tokio::test]
    async fn who_is_no_stranger_any_more_takes_no_room() {
        let mut strangers = Strangers::default();
        let mut crowd: Vec<Held> = (0..STRANGERS_MAX).map(|_| strangers.admit(CROWD, Elsewhere)).collect();
        crowd.pop();
        strangers.admit(CROWD, Elsewhere);
        assert!(!must_go(&mut crowd[0]).await);
    }

    #[tokio::test]
    async fn a_crowd_from_one_address_is_in_its_own_way() {
        let mut strangers = Strangers::default();
        let mut member = strangers.admit(MEMBER, Elsewhere);
        let mut crowd: Vec<Held> =
            (0..10 * STRANGERS_MAX).map(|_| strangers.admit(CROWD, Elsewhere)).collect();
        assert!(!must_go(&mut member).await);
        assert!(must_go(&mut crowd[0]).await && !must_go(crowd.last_mut().unwrap()).await);
        strangers.send_one_away();
        assert!(!must_go(&mut member).await);
    }

    /// Whoever comes has the same time as all others, whatever its address.
    #[tokio::test]
    async fn of_many_addresses_none_is_sent_away_before_those_that_were_there_before() {
        let mut strangers = Strangers::default();
        let mut before = many(&mut strangers, STRANGERS_MAX);
        let mut member = strangers.admit(MEMBER, Elsewhere);
        let _after = many(&mut strangers, STRANGERS_MAX - 1);
        assert!(!must_go(&mut member).await);
        for held in &mut before {
            assert!(must_go(held).await);
        }
    }

    #[tokio::test]
    async fn a_crowd_of_many_addresses_does_not_send_a_peer_away() {
        let mut strangers = Strangers::default();
        let mut member = strangers.admit(MEMBER, PeersHome);
        let _crowd = many(&mut strangers, 10 * STRANGERS_MAX);
        assert!(!must_go(&mut member).await);
    }

    /// Not even one that comes when all places are taken by peers.
    #[tokio::test]
    async fn nobody_from_elsewhere_takes_a_peers_place() {
        let mut strangers = Strangers::default();
        let mut members: Vec<Held> = (0..STRANGERS_MAX).map(|_| strangers.admit(MEMBER, PeersHome)).collect();
        assert!(must_go(&mut strangers.admit(CROWD, Elsewhere)).await);
        for held in &mut members {
            assert!(!must_go(held).await);
        }
        let mut last = strangers.admit(MEMBER, PeersHome);
        assert!(must_go(&mut members[0]).await && !must_go(&mut last).await);
    }
}
