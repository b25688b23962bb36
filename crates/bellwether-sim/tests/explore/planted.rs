//! Planted bugs: a search must find them. Each is used for the second opinion, too.

use bellwether_proto::election::franceschetti::Msg;
use bellwether_proto::election::{AnyMsg, Input, Protocol, Variant};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_sim::explore::{Bounds, Flow, Outcome, System, explore};

use crate::mutants::bug::{self, Bug, Mutant};

use super::{ONE_FAULT_EACH, limits};

pub(crate) const BULLY_BOUNDS: Bounds = Bounds { losses: 0, expiries: 2, ..ONE_FAULT_EACH };
pub(crate) const LFA_BOUNDS: Bounds = Bounds { expiries: 2, ..ONE_FAULT_EACH };

/// An organiser that does not wait for the stronger.
pub(crate) struct Impatient;

impl Bug for Impatient {
    fn after_recovery(&self, roster: &Roster) -> Vec<Input<AnyMsg>> {
        roster.stronger_than_me().iter().map(|j| Input::DownSig(*j)).collect()
    }
}

/// A follower that clings to a dead leader.
pub(crate) struct Clinging;

impl Bug for Clinging {
    fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
        if me == NodeId(3) { Opinion { leader: Some(NodeId(1)), ..opinion } } else { opinion }
    }
}

#[test]
fn an_impatient_organiser_is_found() {
    finds(&Impatient, Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1);
}

#[test]
fn a_clinging_follower_is_found() {
    finds(&Clinging, Protocol::Lfa, LFA_BOUNDS, Property::Omega);
}

/// A member that names itself.
struct Vain;

impl Bug for Vain {
    fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
        Opinion { leader: opinion.leader.map(|leader| if me == NodeId(3) { me } else { leader }), ..opinion }
    }
}

/// Members that do not hear of a new view.
pub(crate) struct Deaf;

impl Bug for Deaf {
    fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
        !matches!(input, Input::Message { msg: AnyMsg::FbOmega(Msg::View(_)), .. })
    }
}

/// Members that do not hear when what was said is taken back.
struct Unforgiving;

impl Bug for Unforgiving {
    fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
        !matches!(input, Input::Message { msg: AnyMsg::FbOmega(Msg::Cancel(_)), .. })
    }
}

/// A member that takes every view to be without the first.
struct Partial;

impl Bug for Partial {
    fn hears(&self, roster: &Roster, input: Input<AnyMsg>) -> Input<AnyMsg> {
        match input {
            Input::Message { from, msg: AnyMsg::FbOmega(Msg::View(mut next)) }
                if roster.me() == NodeId(3) =>
            {
                next.members.0 &= !1;
                Input::Message { from, msg: AnyMsg::FbOmega(Msg::View(next)) }
            }
            other => other,
        }
    }
}

/// A node that shows views before they are there.
struct Early;

impl Bug for Early {
    fn shows(&self, _: NodeId, opinion: Opinion) -> Opinion {
        let next = |GroupId(view): GroupId| GroupId(ElectionId { seq: view.seq + 1, ..view });
        Opinion { group: opinion.group.map(next), ..opinion }
    }
}

#[test]
fn bugs_over_links_with_a_history_are_found() {
    let bounds = Bounds { crashes: 0, recoveries: 0, losses: 0, expiries: 0, in_flight: 8, ..ONE_FAULT_EACH };
    let (one_fails, one_crashes) = (Bounds { lies: 1, ..bounds }, Bounds { crashes: 1, ..bounds });
    finds(&Vain, Protocol::FbOmega, bounds, Property::OneLeaderPerView);
    finds(&Early, Protocol::FbOmega, bounds, Property::OneViewOrDead);
    finds(&Partial, Protocol::FbOmega, one_crashes, Property::ViewAgree);
    finds(&Deaf, Protocol::FbOmega, one_crashes, Property::Omega);
    finds(&Unforgiving, Protocol::FbOmega, one_fails, Property::FakeClean);
}

/// In one thread, which is where the bug is planted.
pub(crate) fn search(bug: &'static dyn Bug, system: &System<Mutant>, property: Property) -> Outcome {
    bug::plant(bug);
    explore(system, &[property], limits(1), |_| Flow::GoOn)
}

fn finds(bug: &'static dyn Bug, protocol: Protocol, bounds: Bounds, property: Property) {
    let outcome = search(bug, &System::new(protocol, Variant::Repaired, 3, bounds), property);
    let names: Vec<_> = outcome.violations.iter().map(|violation| violation.broken.name()).collect();
    assert_eq!(names, [property.name()]);
}
