//! What was heard on the wire is of no use to whoever says it again.

use std::io::Write;
use std::time::Duration;

use super::siege::Siege;
use super::stranger::{connect, until_closed};
use crate::cluster::relay::Relay;
use crate::cluster::{Cluster, DEADLINE, Place, wait_until};

#[test]
fn a_recorded_connection_cannot_be_played_again() {
    let mut places = Place::on_loopback(3);
    let relays: Vec<Relay> =
        places.iter().map(|place| Relay::start(place.listen, Duration::ZERO..Duration::ZERO)).collect();
    for (place, relay) in places.iter_mut().zip(&relays) {
        place.dialled = relay.address();
    }
    let mut cluster = Cluster::prepare_at(&Siege::shape(), &places);
    cluster.start_all();
    let siege = Siege::of(cluster);
    let relay = &relays[siege.leader as usize - 1];
    // A handshake and something after it.
    let recorded = || relay.tapes().into_iter().filter(|tape| tape.len() > 2000).collect::<Vec<_>>();
    assert!(wait_until(DEADLINE, || recorded().len() >= 2), "{:?}", relay.tapes());
    let before = siege.refused();
    let tapes = recorded();
    for tape in &tapes {
        let mut stream = connect(siege.target());
        let _ = stream.write_all(tape);
        until_closed(&mut stream);
    }
    siege.has_refused(before, tapes.len() as u64, 0);
    assert!(siege.log().contains("about=Tls"), "{}", siege.log());
    siege.is_unmoved();
}
