//! Planted bugs: a search must find them. Each is used for the second opinion, too.

use bellwether_proto::election::bully_fd::BullyFd;
use bellwether_proto::election::fb_omega::FbOmega;
use bellwether_proto::election::franceschetti;
use bellwether_proto::election::lfa::{self, Lfa};
use bellwether_proto::election::stoller::Msg;
use bellwether_proto::election::{Input, Protocol, Variant};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_sim::explore::{Bounds, Flow, System, explore};

use crate::mutants::bug::{Bug, Mutant};

use super::model::Searchable;
use super::{ONE_FAULT_EACH, limits};

pub(crate) const BULLY_BOUNDS: Bounds = Bounds { losses: 0, expiries: 2, ..ONE_FAULT_EACH };
pub(crate) const LFA_BOUNDS: Bounds = Bounds { expiries: 2, ..ONE_FAULT_EACH };

/// An organiser that does not wait for the stronger.
pub(crate) struct Impatient;

impl Bug for Impatient {
    fn after_recovery(roster: &Roster) -> Vec<Input<Msg>> {
        roster.stronger_than_me().iter().map(|j| Input::DownSig(*j)).collect()
    }
}

/// A follower that clings to a dead leader.
pub(crate) struct Clinging;

impl Bug<lfa::Msg> for Clinging {
    fn shows(me: NodeId, opinion: Opinion) -> Opinion {
        if me == NodeId(3) { Opinion { leader: Some(NodeId(1)), ..opinion } } else { opinion }
    }
}

#[test]
fn an_impatient_organiser_is_found() {
    finds::<Mutant<BullyFd, Impatient>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1);
}

#[test]
fn a_clinging_follower_is_found() {
    finds::<Mutant<Lfa, Clinging>>(Protocol::Lfa, LFA_BOUNDS, Property::Omega);
}

/// A member that names itself.
struct Vain;

impl Bug<franceschetti::Msg> for Vain {
    fn shows(me: NodeId, opinion: Opinion) -> Opinion {
        Opinion { leader: opinion.leader.map(|leader| if me == NodeId(3) { me } else { leader }), ..opinion }
    }
}

/// Members that do not hear of a new view.
pub(crate) struct Deaf;

impl Bug<franceschetti::Msg> for Deaf {
    fn lets_in(_: &Roster, input: &Input<franceschetti::Msg>) -> bool {
        !matches!(input, Input::Message { msg: franceschetti::Msg::View(_), .. })
    }
}

/// Members that do not hear when what was said is taken back.
struct Unforgiving;

impl Bug<franceschetti::Msg> for Unforgiving {
    fn lets_in(_: &Roster, input: &Input<franceschetti::Msg>) -> bool {
        !matches!(input, Input::Message { msg: franceschetti::Msg::Cancel(_), .. })
    }
}

/// A member that takes every view to be without the first.
struct Partial;

impl Bug<franceschetti::Msg> for Partial {
    fn hears(roster: &Roster, input: Input<franceschetti::Msg>) -> Input<franceschetti::Msg> {
        match input {
            Input::Message { from, msg: franceschetti::Msg::View(mut next) } if roster.me() == NodeId(3) => {
                next.members.0 &= !1;
                Input::Message { from, msg: franceschetti::Msg::View(next) }
            }
            other => other,
        }
    }
}

/// A node that shows views before they are there.
struct Early;

impl Bug<franceschetti::Msg> for Early {
    fn shows(_: NodeId, opinion: Opinion) -> Opinion {
        let next = |GroupId(view): GroupId| GroupId(ElectionId { seq: view.seq + 1, ..view });
        Opinion { group: opinion.group.map(next), ..opinion }
    }
}

#[test]
fn bugs_over_links_with_a_history_are_found() {
    let bounds = Bounds { crashes: 0, recoveries: 0, losses: 0, expiries: 0, in_flight: 8, ..ONE_FAULT_EACH };
    let (one_fails, one_crashes) = (Bounds { lies: 1, ..bounds }, Bounds { crashes: 1, ..bounds });
    finds::<Mutant<FbOmega, Vain>>(Protocol::FbOmega, bounds, Property::OneLeaderPerView);
    finds::<Mutant<FbOmega, Early>>(Protocol::FbOmega, bounds, Property::OneViewOrDead);
    finds::<Mutant<FbOmega, Partial>>(Protocol::FbOmega, one_crashes, Property::ViewAgree);
    finds::<Mutant<FbOmega, Deaf>>(Protocol::FbOmega, one_crashes, Property::Omega);
    finds::<Mutant<FbOmega, Unforgiving>>(Protocol::FbOmega, one_fails, Property::FakeClean);
}

fn finds<E: Searchable>(protocol: Protocol, bounds: Bounds, property: Property) {
    let system: System<E> = System::new(protocol, Variant::Repaired, 3, bounds);
    let outcome = explore(&system, &[property], limits(2), |_| Flow::GoOn);
    let names: Vec<_> = outcome.violations.iter().map(|violation| violation.broken.name()).collect();
    assert_eq!(names, [property.name()]);
}
