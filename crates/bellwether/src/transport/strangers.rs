//! Connections whose peer is not known yet. Their number is limited. When one more comes, another is closed, so that a
//! crowd of silent strangers cannot keep a member out.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use super::connection::{Held, Leash, leash};

/// At most this many at once.
const STRANGERS_MAX: usize = 64;

/// In the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Strangers(VecDeque<(IpAddr, Leash)>);

impl Strangers {
    /// Takes in a connection from that address. It is a stranger while it holds the returned value, and must close
    /// when that is released.
    pub(super) fn admit(&mut self, from: IpAddr) -> Held {
        self.0.retain(|(_, leash)| leash.is_held());
        if self.0.len() >= STRANGERS_MAX {
            self.send_one_away();
        }
        let (leash, held) = leash();
        self.0.push_back((from, leash));
        held
    }

    /// Closes the oldest connection of the address that has the most, so that a member at another address is not
    /// affected.
    pub(super) fn send_one_away(&mut self) {
        self.0.retain(|(_, leash)| leash.is_held());
        let mut from = BTreeMap::<IpAddr, usize>::new();
        self.0.iter().for_each(|(address, _)| *from.entry(*address).or_default() += 1);
        let most = from.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address);
        if let Some(place) = self.0.iter().position(|(address, _)| Some(*address) == most) {
            self.0.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, timeout};

    use super::*;

    const CROWD: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const MEMBER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    async fn must_go(held: &mut Held) -> bool {
        timeout(Duration::ZERO, held.released()).await.is_ok()
    }

    #[tokio::test]
    async fn the_first_makes_room_for_the_last() {
        let mut strangers = Strangers::default();
        let mut crowd: Vec<Held> = (0..STRANGERS_MAX).map(|_| strangers.admit(CROWD)).collect();
        let mut last = strangers.admit(CROWD);
        assert!(must_go(&mut crowd[0]).await);
        assert!(!must_go(&mut crowd[1]).await && !must_go(&mut last).await);
    }

    #[tokio::test]
    async fn who_is_no_stranger_any_more_takes_no_room() {
        let mut strangers = Strangers::default();
        let mut crowd: Vec<Held> = (0..STRANGERS_MAX).map(|_| strangers.admit(CROWD)).collect();
        crowd.pop();
        strangers.admit(CROWD);
        assert!(!must_go(&mut crowd[0]).await);
    }

    #[tokio::test]
    async fn a_crowd_from_one_address_is_in_its_own_way() {
        let mut strangers = Strangers::default();
        let mut member = strangers.admit(MEMBER);
        let mut crowd: Vec<Held> = (0..10 * STRANGERS_MAX).map(|_| strangers.admit(CROWD)).collect();
        assert!(!must_go(&mut member).await);
        assert!(must_go(&mut crowd[0]).await && !must_go(crowd.last_mut().unwrap()).await);
        strangers.send_one_away();
        assert!(!must_go(&mut member).await);
    }
}
