//! Where peers are at home: the addresses at which they are dialled, and those from which they came when they had proved who
//! they are. An address proves nothing, but a crowd elsewhere cannot have it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use bellwether_proto::ident::NodeId;

use super::dial::Place;

/// Of no more peers is remembered where they came from.
const CAME_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Homes {
    dialled: BTreeMap<Place, Vec<IpAddr>>,
    came: BTreeMap<NodeId, IpAddr>,
}

impl Homes {
    /// These are the addresses of that place now.
    pub(super) fn dialled(&mut self, place: &Place, addresses: &[SocketAddr]) {
        let addresses = addresses.iter().map(|address| address.ip().to_canonical()).collect();
        self.dialled.insert(place.clone(), addresses);
    }

    /// That place is not dialled any more.
    pub(super) fn forget(&mut self, place: &Place) {
        self.dialled.remove(place);
    }

    /// That peer came from there.
    pub(super) fn came(&mut self, peer: NodeId, from: IpAddr) {
        if self.came.len() >= CAME_MAX && !self.came.contains_key(&peer) {
            self.came.pop_first();
        }
        self.came.insert(peer, from.to_canonical());
    }

    /// Whether a peer may be there.
    pub(super) fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.came.values().chain(self.dialled.values().flatten()).any(|home| *home == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_where_a_peer_is_dialled_or_came_from_last() {
        let mut homes = Homes::default();
        let ip = |last| IpAddr::from([10, 0, 0, last]);
        let place = Place::Member(NodeId(2), "two".to_owned());
        homes.dialled(&place, &[(ip(1), 3170).into(), (ip(2), 3170).into()]);
        homes.came(NodeId(2), ip(3));
        assert!((1..=3).all(|last| homes.has(ip(last))) && !homes.has(ip(4)));
        assert!(homes.has("::ffff:10.0.0.1".parse().unwrap()), "the same, for a listener of version 6");
        homes.dialled(&place, &[(ip(1), 3170).into()]);
        homes.came(NodeId(2), ip(4));
        assert!(!homes.has(ip(2)) && !homes.has(ip(3)) && homes.has(ip(4)));
        homes.forget(&place);
        assert!(!homes.has(ip(1)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut homes = Homes::default();
        (0..10_000).for_each(|id| homes.came(NodeId(id), IpAddr::from([10, 0, 0, 1])));
        assert_eq!(homes.came.len(), CAME_MAX);
    }
}
