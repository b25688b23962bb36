//! P. F. Souto's slides of 2021: what is theirs alone about the Invitation algorithm.

use bellwether_proto::election::souto_invitation::Msg;
use bellwether_proto::election::{Action, Actions, AnyMsg, Election, Input, Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_proto::time::Time;
use bellwether_sim::check::Judge;
use bellwether_sim::environment::judged;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::facts;

use crate::mutants::bug::{self, Bug, Mutant};

/// "Is ACK really needed?" Without it, its leader takes everybody for a member that it has sent READY.
#[test]
fn c40_without_ack_a3_and_a4_prime_hold() {
    let mut judged_runs = 0;
    for seed in 1..=300 {
        let scenario = plan::draw(Protocol::SoutoInvitation, Variant::Repaired, seed);
        let properties = judged(&scenario);
        let journal = Journal::new(Judge::new(facts(&scenario), &properties), None);
        let mut world = bug::world(&WithoutAck, &scenario, journal);
        world.run_until(scenario.until);
        for finding in world.into_journal().verdicts(scenario.until) {
            assert_eq!(finding.violation, None, "{} of {}", finding.property, scenario.name);
            judged_runs += u32::from(finding.property == Property::A4Prime);
        }
    }
    assert!(judged_runs > 200, "{judged_runs} runs had something to judge");
}

/// It never says ACK, and takes it for said when it says READY.
struct WithoutAck;

impl Bug for WithoutAck {
    fn handles(&self, node: &mut Mutant, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        let is_ack = |msg: &AnyMsg| matches!(msg, AnyMsg::SoutoInvitation(Msg::Ack(_)));
        assert!(!matches!(&input, Input::Message { msg, .. } if is_ack(msg)), "nobody says it");
        let mut actions = Actions::new();
        node.election.handle(now, input, &mut actions);
        for action in actions.drain() {
            match action {
                Action::Send { msg, .. } if is_ack(&msg) => {}
                Action::Send { to, msg: AnyMsg::SoutoInvitation(Msg::Ready(group)) } => {
                    out.send(to, AnyMsg::SoutoInvitation(Msg::Ready(group)));
                    let ack = AnyMsg::SoutoInvitation(Msg::Ack(group));
                    node.election.handle(now, Input::Message { from: to, msg: ack }, out);
                }
                action => out.push(action),
            }
        }
    }
}
