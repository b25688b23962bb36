//! The models that are searched, and their bounds.

use std::sync::Arc;

use bellwether_proto::exclusive::grant::{GrantKind, Holder, Name};
use bellwether_proto::exclusive::ident::{Lease, Life, LifeId};
use bellwether_proto::exclusive::message::{Ask, Wish};
use bellwether_proto::exclusive::terms::{Drift, Terms};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Span;

use super::clocks::Clocks;
use super::coordinators::life_of;
use super::courses::{self, Course};
use super::setting::{Budget, Copies, Disk, Setting};

/// A model with bounds that can be searched to the end.
#[derive(Clone, Debug)]
pub struct Study {
    /// What it is called.
    pub name: &'static str,
    /// For people: what is in it.
    pub about: &'static str,
    /// The model.
    pub setting: Setting,
}

const TICK: Span = Span::millis(10);

/// Those that take seconds.
pub fn short() -> Vec<Study> {
    vec![
        Study {
            name: "register-short",
            about: "two coordinators, three voters, a change of hands",
            setting: register(Budget { partings: 0, ..Budget::default() }),
        },
        Study {
            name: "lease-short",
            about: "an agent renews, and voters may be asked to bury its first lease; a tick",
            setting: lease(1, Budget { ticks: 1, ..Budget::default() }),
        },
        Study {
            name: "members-short",
            about: "a coordinator adds a second voter, or removes one, and settles that",
            setting: members(1, 1, Budget { changes: 1, ticks: 1, ..Budget::default() }),
        },
    ]
}

/// A change of the voters alone: candidates wait with every coordinator, in opposite orders.
fn members(voters: usize, coordinators: usize, budget: Budget) -> Setting {
    let setting = register(budget);
    let heard =
        setting.heard.iter().filter(|(coordinator, ..)| *coordinator < coordinators).cloned().collect();
    // Nobody is forgotten, and the longest lease is over with a tick.
    let terms = Terms { longest: TICK, ..setting.terms };
    Setting { voters, spares: 1, coordinators, heard, terms, ..setting }
}

/// A name that two of three voters know to be deleted, and the third to be held, in a later ballot.
fn deletion(budget: Budget) -> Setting {
    let Course { setting, mut parts, .. } = courses::deleted();
    parts.truncate(3);
    Setting { before: parts, disk: Disk::AtOnce, copies: Copies::Any, budget, ..setting }
}

/// Those that take minutes.
pub fn long() -> Vec<Study> {
    vec![
        Study {
            name: "register",
            about: "two coordinators, three voters, a change of hands",
            setting: register(Budget { partings: 1, ..Budget::default() }),
        },
        Study {
            name: "register-again",
            about: "two coordinators, three voters, a coordinator tries again",
            setting: register(Budget { ticks: 1, ..Budget::default() }),
        },
        Study {
            name: "register-crash",
            about: "two coordinators, three voters whose disks write behind, a voter restarts",
            setting: Setting {
                disk: Disk::Behind,
                ..register(Budget { voter_restarts: 1, ..Budget::default() })
            },
        },
        Study {
            name: "founding",
            about: "two coordinators found a cluster of three voters, a voter loses its disk",
            setting: founding(Budget { amnesias: 1, ..Budget::default() }),
        },
        Study {
            name: "founding-crash",
            about: "two coordinators found a cluster of three voters whose disks write behind, a voter restarts",
            setting: Setting {
                disk: Disk::Behind,
                ..founding(Budget { voter_restarts: 1, ..Budget::default() })
            },
        },
        Study {
            name: "lease",
            about: "an agent renews, and voters may be asked to bury its first two leases; two ticks",
            setting: lease(2, Budget { ticks: 2, ..Budget::default() }),
        },
        Study {
            name: "lease-crash",
            about: "the same with one lease, and a voter restarts",
            setting: lease(1, Budget { ticks: 2, voter_restarts: 1, ..Budget::default() }),
        },
        Study {
            name: "members-one",
            about: "a coordinator, two voters and a third, a change",
            setting: members(2, 1, Budget { changes: 1, ticks: 1, ..Budget::default() }),
        },
        Study {
            name: "members-two",
            about: "two coordinators, a voter and a second, a change",
            setting: members(1, 2, Budget { changes: 1, ticks: 1, ..Budget::default() }),
        },
        Study {
            name: "members",
            about: "two coordinators, three voters and a fourth, a change",
            setting: members(3, 2, Budget { changes: 1, ticks: 1, ..Budget::default() }),
        },
        Study {
            name: "deletion",
            about: "a name was deleted while a voter was out of reach; the names are listed, and the coordinator restarts",
            setting: deletion(Budget { coordinator_restarts: 1, lists: 1, ..Budget::default() }),
        },
        Study {
            name: "both",
            about: "two agents, a coordinator, a tick",
            setting: both(Budget { ticks: 1, ..Budget::default() }),
        },
    ]
}

/// Registers alone: three candidates wait with both coordinators, in opposite orders, and may be taken for gone.
fn register(budget: Budget) -> Setting {
    let candidates = 0..3_u32;
    let heard = candidates.flat_map(|agent| {
        let stands = |coordinator: usize, priority| {
            (coordinator, Setting::agent(agent as usize), campaign(agent, priority))
        };
        [stands(0, 3 - agent), stands(1, agent)]
    });
    Setting {
        heard: heard.collect(),
        // Nobody is forgotten while time passes.
        terms: Terms { ttl: TICK * 100, longest: TICK * 100, drift: Drift(0), retry: TICK },
        ..base(2, 0, budget)
    }
}

/// Founding alone: nobody campaigns.
fn founding(budget: Budget) -> Setting {
    Setting { founded: false, ..base(2, 0, budget) }
}

/// Leases alone: one agent campaigns, nobody coordinates, and somebody wants its leases buried.
fn lease(leases: u64, budget: Budget) -> Setting {
    let life = life_of(Setting::agent(0), 1, Incarnation(1));
    let bury = |number| (Setting::coordinator(0), Ask::Bury { lease: Lease { life, number } });
    Setting {
        names: vec![(Name::leader(), GrantKind::Lease)],
        eager: true,
        asked: (1..=leases).map(bury).collect(),
        ..base(0, 1, budget)
    }
}

/// Two agents that campaign from the start, and a coordinator.
fn both(budget: Budget) -> Setting {
    Setting { names: vec![(Name::leader(), GrantKind::Lease)], eager: true, ..base(1, 2, budget) }
}

fn base(coordinators: usize, agents: usize, budget: Budget) -> Setting {
    Setting {
        session: 0,
        voters: 3,
        spares: 0,
        coordinators,
        agents,
        names: Vec::new(),
        founded: true,
        disk: Disk::AtOnce,
        terms: Terms { ttl: TICK, longest: TICK, drift: Drift(0), retry: TICK },
        tick: TICK,
        clocks: Clocks::Alike,
        eager: false,
        heard: Vec::new(),
        asked: Vec::new(),
        before: Vec::new(),
        judges_leases: true,
        copies: Copies::Any,
        budget,
    }
}

fn campaign(agent: u32, priority: u32) -> Wish {
    let node = NodeId(Setting::agent(0).0 + agent);
    let life = Life { node, incarnation: Incarnation(1), id: LifeId(u128::from(node.0)) };
    Wish::Campaign {
        name: Name::leader(),
        kind: GrantKind::Token,
        holder: Holder { lease: Lease { life, number: 1 }, session: 0, campaign: 1 },
        waited: Span::ZERO,
        priority,
        valid: true,
        holds: None,
        value: Arc::from([]),
    }
}
