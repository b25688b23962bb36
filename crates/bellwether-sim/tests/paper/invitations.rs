//! H. Garcia-Molina, *Elections in a Distributed Computing System*, 1982, section IV and Appendix II, and P. F. Souto's slides
//! of 2021: the claims about the Invitation algorithm. That it keeps its assertions is tested by plans (`plans.rs`).

use std::path::Path;

use bellwether_proto::election::{AnyElection, Protocol};
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::{Span, Time};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::world::World;

/// "Two new groups would form (with new group numbers): one group with nodes 3 and 4 and node 4 coordinating, and a second
/// group with node 5 coordinating nodes 1, 2, and 5. Sometime later, one of the two coordinators invites the other one to
/// join its group, so the system of five operating nodes ends up being in a single group with a single coordinator."
#[test]
fn c9_two_groups_form_and_then_one() {
    let (scenario, mut world) = staged("s04-two-merge-at-once.toml");
    assert_eq!(leaders(&mut world, secs(4)), [5, 5, 4, 4, 5]);
    assert_eq!(groups(&world), 2);
    assert_eq!(leaders(&mut world, scenario.until), [5; 5]);
    assert_eq!(groups(&world), 1);
}

/// Souto's mirror of it: 3 leads 2, and 4 leads 5 and 6.
#[test]
fn c9_souto_s_two_groups_form_and_then_one() {
    let (scenario, mut world) = staged("s05-souto-two-groups-merge.toml");
    assert_eq!(leaders(&mut world, secs(4)), [3, 3, 4, 4, 4]);
    assert_eq!(groups(&world), 2);
    assert_eq!(leaders(&mut world, scenario.until), [3; 5]);
    assert_eq!(groups(&world), 1);
}

/// Stoller's count, section 8, of the Invitation algorithm in a steady state: a question and an answer for each member. Souto's
/// leaders are asked by their members as well, and only leaders answer ARE-U-LEADER.
#[test]
fn c10_a_period_costs_a_question_and_an_answer_for_each_member() {
    for nodes in [2_u32, 3, 5, 8, 16] {
        let others = u64::from(nodes - 1);
        let per_period = |protocol| {
            let sent = |until| run::run(&Scenario::calm(protocol, nodes, secs(until))).messages.protocol;
            (sent(60) - sent(20)) as f64 / 400.0
        };
        let (gm, souto) = (per_period(Protocol::Invitation), per_period(Protocol::SoutoInvitation));
        assert!((gm - (2 * others) as f64).abs() < 0.1, "{nodes} nodes: {gm}");
        assert!((souto - (3 * others) as f64).abs() < 0.1, "{nodes} nodes: {souto}");
    }
}

/// Stoller, Appendix A: "if no more failures occur, these groups will not change".
#[test]
fn c13_nothing_changes_for_a_hundred_periods() {
    let files = ["path-of-invitations", "path-of-invitations-repaired", "path-of-souto-invitations"];
    for file in files.map(|name| format!("s01-{name}.toml")) {
        let (scenario, mut world) = staged(&file);
        world.run_until(secs(10));
        let then: Vec<_> = world.opinions().collect();
        world.run_until(scenario.until);
        assert_eq!(world.opinions().collect::<Vec<_>>(), then, "{file}");
        assert_eq!(groups(&world), 2, "{file}");
    }
}

fn staged(file: &str) -> (Scenario, World<'static, AnyElection>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let scenario = Scenario::parse(file, &text).unwrap_or_else(|error| panic!("{error}"));
    let world = run::world_unjudged(&scenario, None);
    (scenario, world)
}

/// Whom each node that is up follows then; all are normal.
fn leaders(world: &mut World<'_, AnyElection>, until: Time) -> Vec<u32> {
    world.run_until(until);
    let up = up(world).into_iter();
    up.map(|opinion| opinion.normal_leader().expect("everybody is normal").0).collect()
}

fn groups(world: &World<'_, AnyElection>) -> usize {
    let mut groups: Vec<_> = up(world).into_iter().map(|opinion| opinion.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}

fn up(world: &World<'_, AnyElection>) -> Vec<Opinion> {
    world.opinions().map(|(_, opinion)| opinion).filter(|opinion| opinion.status != Status::Down).collect()
}

fn secs(s: u64) -> Time {
    Time::ZERO + Span::secs(s)
}
