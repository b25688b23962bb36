//! A second opinion: the same relation between states, searched by stateright. It must find as many states, and come to the
//! same verdict after a path of the same length.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{Bounds, Extent, System};
use stateright::{Checker, Model};

use crate::mutants::bug::{self, Bug, Mutant, NoBug};

use super::model::Judged;
use super::planted::{BULLY_BOUNDS, Clinging, Deaf, Impatient, LFA_BOUNDS, search};

#[test]
fn stateright_agrees_on_bully_fd() {
    agree(&NoBug, Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, true);
    agree(&NoBug, Protocol::BullyFd, BULLY_BOUNDS, Property::Sle2, true);
    agree(&Impatient, Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, false);
}

#[test]
fn stateright_agrees_on_lfa() {
    agree(&NoBug, Protocol::Lfa, LFA_BOUNDS, Property::Omega, true);
    agree(&Clinging, Protocol::Lfa, LFA_BOUNDS, Property::Omega, false);
}

#[test]
fn stateright_agrees_on_fb_omega() {
    let bounds = Bounds { recoveries: 0, losses: 0, in_flight: 8, ..LFA_BOUNDS };
    let (crash, failure) = (bounds, Bounds { crashes: 0, lies: 1, ..bounds });
    for property in [Property::ViewAgree, Property::FakeClean, Property::Omega] {
        agree(&NoBug, Protocol::FbOmega, crash, property, true);
        agree(&NoBug, Protocol::FbOmega, failure, property, true);
    }
    agree(&Deaf, Protocol::FbOmega, crash, Property::Omega, false);
}

fn agree(bug: &'static dyn Bug, protocol: Protocol, bounds: Bounds, property: Property, sound: bool) {
    let system = || -> System<Mutant> { System::new(protocol, Variant::Repaired, 3, bounds) };
    let ours = search(bug, &system(), property);
    let plant = Box::new(|| bug::plant(bug));
    let theirs = Judged { system: system(), judged: vec![property], prepare: plant };
    let theirs = theirs.checker().spawn_bfs().join();
    let shortest = theirs.discovery("sound").map(|path| path.into_actions().len());
    assert_eq!(ours.violations.first().map(|violation| violation.steps.len()), shortest, "{property}");
    assert_eq!(shortest.is_none(), sound, "{property}");
    if sound {
        assert_eq!(ours.extent, Extent::All);
        assert_eq!(ours.states, theirs.unique_state_count() as u64, "{property}");
    }
}
