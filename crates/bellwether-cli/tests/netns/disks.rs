//! Agents whose disks are slow, for long.

use std::time::{Duration, SystemTime};

use crate::cluster::meddler::Meddler;
use crate::cluster::truth::micros;
use crate::cluster::{Cluster, wait_until};
use crate::run::say;

const NODES: u32 = 3;
const MINUTES: u32 = 10;
/// A state takes two of them.
const FSYNC_MICROS: u32 = 200_000;
const TRIALS: u32 = 5;

/// One leads all the time, and when it is killed, another does as soon as that is written.
pub(crate) fn ten_minutes_on_slow_disks() {
    let mut cluster = Cluster::start(NODES);
    let slow = |cluster: &Cluster, id| Meddler::slows_the_disk(cluster, id, FSYNC_MICROS).unwrap();
    let mut meddlers: Vec<Meddler> = (1..=NODES).map(|id| slow(&cluster, id)).collect();
    let first = cluster.wait_for_agreement();
    for minute in 1..=MINUTES {
        wait_until(Duration::from_secs(60), || false);
        assert_eq!(cluster.wait_for_agreement(), first, "in minute {minute}");
    }
    let mut leader = first.0;
    let took: Vec<u128> = (0..TRIALS)
        .map(|_| {
            // Whoever still writes what was before takes as much longer.
            cluster.wait_for_disks(&cluster.running());
            let killed = micros(SystemTime::now());
            cluster.kill(leader);
            let next = cluster.wait_for_leader();
            let led =
                cluster.get(next, "/v1/status").json()["since_us"].as_u64().expect("it says since when");
            cluster.start_node(leader);
            meddlers.push(slow(&cluster, leader));
            cluster.wait_for_agreement();
            leader = next;
            (u128::from(led) - killed) / 1_000
        })
        .collect();
    assert!(took.iter().all(|took| *took <= u128::from(2 * FSYNC_MICROS / 1_000 + 20)), "{took:?} ms");
    say(&format!(
        "node {} led for {MINUTES} minutes; killed leaders were replaced after {took:?} ms, and a write takes {} ms",
        first.0,
        2 * FSYNC_MICROS / 1_000
    ));
}
