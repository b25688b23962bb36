//! A second opinion: the same relation between states, searched by stateright. It must find as many states, and come to the
//! same verdict after a path of the same length.

use bellwether_proto::election::bully_fd::BullyFd;
use bellwether_proto::election::fb_omega::FbOmega;
use bellwether_proto::election::lfa::Lfa;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{Bounds, Extent, Flow, System, explore};
use stateright::{Checker, Model};

use crate::mutants::bug::{Mutant, NoBug};

use super::limits;
use super::model::{Judged, Searchable};
use super::planted::{BULLY_BOUNDS, Clinging, Deaf, Impatient, LFA_BOUNDS};

#[test]
fn stateright_agrees_on_bully_fd() {
    agree::<Mutant<BullyFd, NoBug>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, true);
    agree::<Mutant<BullyFd, NoBug>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle2, true);
    agree::<Mutant<BullyFd, Impatient>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, false);
}

#[test]
fn stateright_agrees_on_lfa() {
    agree::<Mutant<Lfa, NoBug>>(Protocol::Lfa, LFA_BOUNDS, Property::Omega, true);
    agree::<Mutant<Lfa, Clinging>>(Protocol::Lfa, LFA_BOUNDS, Property::Omega, false);
}

#[test]
fn stateright_agrees_on_fb_omega() {
    let bounds = Bounds { recoveries: 0, losses: 0, in_flight: 8, ..LFA_BOUNDS };
    let (crash, failure) = (bounds, Bounds { crashes: 0, lies: 1, ..bounds });
    for property in [Property::ViewAgree, Property::FakeClean, Property::Omega] {
        agree::<Mutant<FbOmega, NoBug>>(Protocol::FbOmega, crash, property, true);
        agree::<Mutant<FbOmega, NoBug>>(Protocol::FbOmega, failure, property, true);
    }
    agree::<Mutant<FbOmega, Deaf>>(Protocol::FbOmega, crash, Property::Omega, false);
}

fn agree<E: Searchable>(protocol: Protocol, bounds: Bounds, property: Property, sound: bool) {
    let system = || -> System<E> { System::new(protocol, Variant::Repaired, 3, bounds) };
    let ours = explore(&system(), &[property], limits(2), |_| Flow::GoOn);
    let theirs = Judged { system: system(), judged: vec![property] }.checker().spawn_bfs().join();
    let shortest = theirs.discovery("sound").map(|path| path.into_actions().len());
    assert_eq!(ours.violations.first().map(|violation| violation.steps.len()), shortest, "{property}");
    assert_eq!(shortest.is_none(), sound, "{property}");
    if sound {
        assert_eq!(ours.extent, Extent::All);
        assert_eq!(ours.states, theirs.unique_state_count() as u64, "{property}");
    }
}
