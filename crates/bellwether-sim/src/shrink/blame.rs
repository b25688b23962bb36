//! What is to blame: without it, nothing would be broken.

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;

use crate::run::slowest_bound;
use crate::scenario::{Fault, Mishap, Planned, Scenario};

/// A kind of message is taken out of a run by losing this many of it on every link, more than a short run has.
const LOST: usize = 16;

/// Something that makes the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// That messages overtake each other.
    Order,
    /// That messages are lost, by chance or by name.
    Loss,
    /// That nodes come back.
    Recovery,
    /// That messages of this kind arrive.
    Message(String),
}

impl Blame {
    /// The scenario without it, long enough for every bound to fall due.
    pub(super) fn taken_out_of(&self, scenario: &Scenario) -> Scenario {
        let mut fine = scenario.clone();
        fine.until = fine.until + slowest_bound(scenario) * 2;
        match self {
            Self::Order => keep_order(&mut fine),
            Self::Loss => lose_nothing(&mut fine),
            Self::Recovery => fine.events.retain(|planned| !matches!(planned.fault, Fault::Recover(_))),
            Self::Message(kind) => lose_all(&mut fine, kind),
        }
        fine
    }
}

fn keep_order(scenario: &mut Scenario) {
    scenario.network.base.fifo = true;
    scenario.network.links.iter_mut().for_each(|(_, _, rule)| rule.fifo = true);
    for planned in &mut scenario.events {
        if let Fault::Network { fifo, .. } = &mut planned.fault {
            *fifo = None;
        }
    }
}

fn lose_nothing(scenario: &mut Scenario) {
    scenario.network.base.loss = 0.0;
    scenario.network.links.iter_mut().for_each(|(_, _, rule)| rule.loss = 0.0);
    scenario.events.retain(|planned| !loses_one(&planned.fault));
    for planned in &mut scenario.events {
        if let Fault::Network { loss, .. } = &mut planned.fault {
            *loss = None;
        }
    }
}

fn loses_one(fault: &Fault) -> bool {
    matches!(fault, Fault::DropNext { .. } | Fault::Message { mishap: Mishap::Drop, .. })
}

fn lose_all(scenario: &mut Scenario, kind: &str) {
    let heals = scenario.events.iter().filter(|planned| planned.fault == Fault::Heal);
    let from: Vec<Time> = [Time::ZERO].into_iter().chain(heals.map(|planned| planned.at)).collect();
    let links: Vec<(NodeId, NodeId)> = scenario
        .ids()
        .flat_map(|from| scenario.ids().map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    for at in from {
        for (from, to) in &links {
            let drop = Fault::DropNext { from: *from, to: *to, kind: kind.to_owned() };
            scenario.events.extend(std::iter::repeat_n(Planned { at, fault: drop }, LOST));
        }
    }
}
