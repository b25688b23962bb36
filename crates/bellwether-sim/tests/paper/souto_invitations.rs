//! P. F. Souto's slides of 2021: what is theirs alone about the Invitation algorithm.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::souto_invitation::{Msg, SoutoInvitation};
use bellwether_proto::election::{Action, Actions, Election, Input, Protocol, Setup, Variant};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::check::Judge;
use bellwether_sim::environment::judged;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::facts;
use bellwether_sim::world::World;

/// "Is ACK really needed?" Without it, its leader takes everybody for a member that it has sent READY.
#[test]
fn c40_without_ack_a3_and_a4_prime_hold() {
    let mut judged_runs = 0;
    for seed in 1..=300 {
        let scenario = plan::draw(Protocol::SoutoInvitation, Variant::Repaired, seed);
        let properties = judged(&scenario);
        let journal = Journal::new(Judge::new(facts(&scenario), &properties), None);
        let mut world: World<'_, WithoutAck> = World::new(&scenario, journal);
        world.run_until(scenario.until);
        for finding in world.into_journal().verdicts(scenario.until) {
            assert_eq!(finding.violation, None, "{} of {}", finding.property, scenario.name);
            judged_runs += u32::from(finding.property == Property::A4Prime);
        }
    }
    assert!(judged_runs > 200, "{judged_runs} runs had something to judge");
}

/// It never says ACK, and takes it for said when it says READY.
#[derive(Clone)]
struct WithoutAck(SoutoInvitation);

impl Election for WithoutAck {
    type Msg = Msg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        Self(SoutoInvitation::new(setup, tau_fd))
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        assert!(!matches!(input, Input::Message { msg: Msg::Ack(_), .. }), "nobody says it");
        let mut actions = Actions::new();
        self.0.handle(now, input, &mut actions);
        for action in actions.drain() {
            match action {
                Action::Send { msg: Msg::Ack(_), .. } => {}
                Action::Send { to, msg: Msg::Ready(group) } => {
                    out.send(to, Msg::Ready(group));
                    self.0.handle(now, Input::Message { from: to, msg: Msg::Ack(group) }, out);
                }
                action => out.push(action),
            }
        }
    }

    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    fn opinion(&self) -> Opinion {
        self.0.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.0.canonical(now, form);
    }
}
