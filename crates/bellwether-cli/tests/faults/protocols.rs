//! Every algorithm of the agent, as processes.

use super::judged::{assert_kept, recorded_as};
use crate::cluster::Shape;

#[test]
fn fjr_elects_again_and_takes_the_old_leader_back_as_a_follower() {
    let next = loses_its_leader_and_takes_it_back("fjr", &["OMEGA", "SETTLED", "EPOCH", "SINGLE-SENDER"]);
    assert_eq!(next.after, next.between);
}

#[test]
fn lfa_elects_again_and_lets_the_old_leader_lead() {
    let next = loses_its_leader_and_takes_it_back("lfa", &["OMEGA", "SETTLED", "EPOCH", "SINGLE-SENDER"]);
    assert_eq!((next.before, next.after), (1, 1));
}

#[test]
fn adft_elects_again_and_takes_the_old_leader_back() {
    loses_its_leader_and_takes_it_back("adft", &["OMEGA", "SETTLED", "EPOCH"]);
}

#[test]
fn async_bully_elects_again_and_lets_the_old_leader_lead() {
    let next = loses_its_leader_and_takes_it_back("async-bully", &["ALE1", "EPOCH"]);
    assert_eq!((next.before, next.after), (1, 1));
}

/// Who leads before the leader is killed, without it, and when it is back.
struct Leaders {
    before: u32,
    between: u32,
    after: u32,
}

fn loses_its_leader_and_takes_it_back(protocol: &'static str, promises: &[&str]) -> Leaders {
    let (mut cluster, _) = recorded_as(&Shape { protocol, ..Shape::of(3) });
    let (before, first) = cluster.wait_for_agreement();
    cluster.kill(before);
    let (between, second) = cluster.wait_for_agreement();
    assert!(between != before && second > first, "{first}, {second}");
    cluster.start_node(before);
    assert_kept(&cluster, promises);
    let (after, third) = cluster.wait_for_agreement();
    assert!(third >= second && (third > second || after == between), "{second}, {third}");
    Leaders { before, between, after }
}
