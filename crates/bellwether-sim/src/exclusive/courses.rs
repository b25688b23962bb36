//! Courses to where something could go wrong that walks at random seldom come to: changes of the voters that are settled, one after
//! the other, and names that are forgotten.

use bellwether_proto::exclusive::grant::{GrantKind, Name};
use bellwether_proto::exclusive::terms::{Drift, Terms};
use bellwether_proto::time::Span;

use super::clocks::Clocks;
use super::lull::{BEGUN, Hears, Lull};
use super::setting::{Budget, Copies, Disk, Setting};
use super::step::Step;

/// Where a walk goes, apart from a few steps at random.
#[derive(Clone, Debug)]
pub struct Course {
    /// What it is called.
    pub name: &'static str,
    /// For people: what happens.
    pub about: &'static str,
    /// The model.
    pub setting: Setting,
    /// What happens, one after the other.
    pub parts: Vec<Lull>,
}

const TICK: Span = Span::millis(2);

/// A lease lasts so many ticks.
const TTL: u64 = 4;

/// The one coordinator, the agents, the one name.
const COORDINATOR: usize = 0;
const HOLDER: usize = 0;
const OTHER: usize = 1;
const NAME: usize = 0;

/// All of them.
pub fn all() -> Vec<Course> {
    vec![names(), the_dead(), told(), returning(), deleted(), handed_on()]
}

/// A name that nobody wants any more is known to the only voter, which is then replaced. Nobody campaigns meanwhile: a coordinator
/// brings all that it looks after to the new voters anyway.
fn names() -> Course {
    Course {
        name: "names",
        about: "a name is held and given back, the only voter is replaced, and the name is campaigned for again",
        setting: setting(1, 1, GrantKind::Token),
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            rest(vec![Step::Release(HOLDER, NAME), Step::RestartCoordinator(COORDINATOR)]),
            rest(vec![Step::Change(COORDINATOR, 1)]),
            rest(vec![Step::RestartCoordinator(COORDINATOR)]),
            rest(vec![Step::Change(COORDINATOR, 0)]),
            rest(vec![Step::Campaign(HOLDER, NAME)]),
        ],
    }
}

/// A lease is buried by the only voter, which is then replaced, while the agent whose lease that was sleeps. It hears of the new voter
/// before it hears of its death.
fn the_dead() -> Course {
    let sleeps = |asked| Lull { agents: vec![Hears::Nothing], ..rest(asked) };
    Course {
        name: "dead",
        about: "a holder sleeps, its lease is buried, the only voter is replaced, and the holder wakes up",
        setting: Setting { session: 7, ..setting(1, 1, GrantKind::Lease) },
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            sleeps(vec![Step::Campaign(OTHER, NAME)]),
            sleeps(vec![Step::Change(COORDINATOR, 1)]),
            sleeps(vec![Step::Change(COORDINATOR, 0)]),
            Lull { agents: vec![Hears::Coordinators], ..rest(vec![Step::RestartCoordinator(COORDINATOR)]) },
            rest(Vec::new()),
        ],
    }
}

/// The only voter is replaced while the holder of a name hears no coordinator.
fn told() -> Course {
    let hears_voters = |asked| Lull { agents: vec![Hears::Voters], ..rest(asked) };
    Course {
        name: "told",
        about: "a holder hears voters alone, the only one of them is replaced, and another campaigns",
        setting: setting(1, 1, GrantKind::Lease),
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            hears_voters(vec![Step::Change(COORDINATOR, 1)]),
            hears_voters(vec![Step::Change(COORDINATOR, 0)]),
            hears_voters(vec![Step::Campaign(OTHER, NAME)]),
        ],
    }
}

/// A voter is removed, and comes to vote again with what it held of a name that was forgotten since. Nobody looks after that name
/// meanwhile, or it would be told that the name was deleted.
fn returning() -> Course {
    let without = |asked| Lull { unreachable: Some(2), ..rest(asked) };
    Course {
        name: "returning",
        about: "a voter is removed, a name is deleted and dropped, and the voter is added again with its old store",
        setting: setting(3, 0, GrantKind::Token),
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            without(vec![Step::Change(COORDINATOR, 2)]),
            without(vec![Step::Release(HOLDER, NAME), Step::Delete(OTHER, NAME)]),
            without(vec![Step::RestartCoordinator(COORDINATOR)]),
            without(vec![Step::List(OTHER)]),
            without(vec![Step::RestartCoordinator(COORDINATOR)]),
            rest(vec![Step::Change(COORDINATOR, 2)]),
            Lull {
                unreachable: Some(0),
                ..rest(vec![Step::RestartCoordinator(COORDINATOR), Step::Campaign(OTHER, NAME)])
            },
        ],
    }
}

/// A name is deleted while a voter that knows of it cannot be reached. Then another cannot.
pub(super) fn deleted() -> Course {
    let without = |voter, asked| Lull { unreachable: Some(voter), ..rest(asked) };
    Course {
        name: "deleted",
        about: "a name is deleted while one voter is out of reach, and campaigned for while another is",
        setting: setting(3, 0, GrantKind::Token),
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            without(2, vec![Step::Release(HOLDER, NAME), Step::Delete(OTHER, NAME)]),
            without(2, vec![Step::RestartCoordinator(COORDINATOR)]),
            without(2, vec![Step::List(OTHER)]),
            without(0, vec![Step::RestartCoordinator(COORDINATOR), Step::Campaign(OTHER, NAME)]),
            rest(vec![Step::RestartCoordinator(COORDINATOR)]),
            rest(vec![Step::List(OTHER), Step::Release(OTHER, NAME), Step::Delete(OTHER, NAME)]),
            rest(vec![Step::RestartCoordinator(COORDINATOR)]),
            rest(vec![Step::List(OTHER), Step::Campaign(HOLDER, NAME)]),
        ],
    }
}

/// A name is given back while another waits for it. A tick later the walk is over, and a lease is longer.
fn handed_on() -> Course {
    Course {
        name: "handed-on",
        about: "a holder gives a name back, and another waits for it",
        setting: Setting { session: 7, ..setting(3, 0, GrantKind::Lease) },
        parts: vec![
            rest(vec![Step::Campaign(HOLDER, NAME)]),
            rest(vec![Step::Campaign(OTHER, NAME)]),
            Lull { ticks: BEGUN + 1, ..rest(vec![Step::Release(HOLDER, NAME)]) },
        ],
    }
}

/// All hear everything, so long that every lease is over and every change is settled.
fn rest(asked: Vec<Step>) -> Lull {
    Lull { ticks: 5 * TTL, coordinator: COORDINATOR, agents: Vec::new(), unreachable: None, asked }
}

fn setting(voters: usize, spares: usize, kind: GrantKind) -> Setting {
    let ttl = TICK * TTL;
    Setting {
        voters,
        spares,
        coordinators: 1,
        agents: 2,
        names: vec![(Name::new("backup").expect("a name"), kind)],
        founded: true,
        disk: Disk::Behind,
        terms: Terms { ttl, longest: ttl, drift: Drift(0), retry: TICK },
        tick: TICK,
        clocks: Clocks::Alike,
        session: 0,
        eager: false,
        heard: Vec::new(),
        asked: Vec::new(),
        before: Vec::new(),
        judges_leases: true,
        copies: Copies::Few,
        budget: Budget { changes: u32::MAX, deletions: u32::MAX, lists: u32::MAX, ..Budget::UNBOUNDED },
    }
}
