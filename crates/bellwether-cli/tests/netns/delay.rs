//! A slow network: whatever is said takes 20 to 80 ms, each way, and nothing is configured for that.

use std::ops::Range;
use std::time::Duration;

use crate::cluster::relay::Relay;
use crate::cluster::{Cluster, Place, Shape, agreed, wait_until};
use crate::verdict::{self, RECORDING};

const NODES: u32 = 5;
const SLOW: Range<Duration> = Duration::from_millis(20)..Duration::from_millis(80);
/// A leader who is kept for so long is kept.
const KEPT: Duration = Duration::from_secs(5);

pub(crate) fn a_slow_network_keeps_its_leader() {
    let mut places = Place::on_loopback(NODES);
    let relays: Vec<Relay> = places.iter().map(|place| Relay::start(place.listen, SLOW)).collect();
    for (place, relay) in places.iter_mut().zip(&relays) {
        place.dialled = relay.address();
    }
    let mut cluster = Cluster::prepare_at(&Shape { tables: RECORDING, ..Shape::of(NODES) }, &places);
    cluster.start_all();
    let first = cluster.wait_for_leader();
    let changed = wait_until(KEPT, || agreed(&cluster.views()) != Some(first));
    assert!(!changed, "node {first} led, and then {:#?}", cluster.views());
    cluster.kill(first);
    let second = cluster.wait_for_leader();
    assert_ne!(first, second);
    cluster.start_node(first);
    cluster.wait_for("who comes back follows", |views| {
        views.values().all(Option::is_some) && agreed(views) == Some(second)
    });
    verdict::judge(&cluster, "fjr");
}
