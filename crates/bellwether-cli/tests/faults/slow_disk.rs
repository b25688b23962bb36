//! Disks that are slow: every sync of an agent is held up.

use super::judged::{assert_kept, recorded_as};
use super::skip;
use crate::cluster::Shape;
use crate::cluster::meddler::Meddler;

/// Longer than an agent is waited for with the default timing. A state takes two of them.
const FSYNC_MICROS: u32 = 150_000;

/// Every agent's disk is slow, and one leader after another goes.
fn one_leads_all_the_same(protocol: &'static str, promises: &[&str]) {
    let (mut cluster, mut leader) = recorded_as(&Shape { protocol, ..Shape::of(3) });
    let mut meddlers = Vec::new();
    for id in cluster.ids() {
        match Meddler::slows_the_disk(&cluster, id, FSYNC_MICROS) {
            Ok(meddler) => meddlers.push(meddler),
            Err(why) => return skip("a slow disk", &why),
        }
    }
    for _ in 0..2 {
        cluster.kill(leader);
        let next = cluster.wait_for_leader();
        assert_ne!(next, leader);
        cluster.start_node(leader);
        meddlers.extend(Meddler::slows_the_disk(&cluster, leader, FSYNC_MICROS));
        cluster.wait_for_agreement();
        leader = next;
    }
    let records = assert_kept(&cluster, promises);
    let announced = |id: u32| {
        let all = records.events(id, "announce");
        all.into_iter().filter(move |event| event["leader"] == id).map(move |event| event["epoch"].as_u64())
    };
    let mut epochs: Vec<_> = cluster.ids().into_iter().flat_map(announced).collect();
    let all = epochs.len();
    epochs.sort_unstable();
    epochs.dedup();
    assert_eq!(epochs.len(), all, "an epoch was used twice: {epochs:?}");
}

#[test]
fn fjr_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("fjr", &["OMEGA", "SETTLED", "EPOCH"]);
}

#[test]
fn async_bully_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("async-bully", &["EPOCH"]);
}

#[test]
fn invitation_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("invitation", &["EPOCH"]);
}

#[test]
fn fb_omega_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("fb-omega", &["EPOCH"]);
}
