//! The leader, as an observer of the whole cluster sees it.

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use crate::scenario::Scenario;

/// Since when all that are up have named one live leader.
#[derive(Debug)]
pub(super) struct Agreement {
    leadership: Leadership,
    agreed: Option<(NodeId, Time)>,
}

impl Agreement {
    pub(super) fn new(nodes: u32) -> Self {
        Self { leadership: Leadership::of_elections(nodes), agreed: None }
    }

    pub(super) fn observe(&mut self, event: &TraceEvent) {
        if self.leadership.observe(event) {
            let leader = self.leadership.agreed();
            if self.agreed.map(|(agreed, _)| agreed) != leader {
                self.agreed = leader.map(|leader| (leader, event.at));
            }
        }
    }

    /// The leader on whom all agree, and since when.
    pub(super) fn agreed(&self) -> Option<(NodeId, Time)> {
        self.agreed
    }

    pub(super) fn since(&self) -> Option<Time> {
        self.agreed.map(|(_, since)| since)
    }
}

/// Every node's opinion, kept up to date with the trace.
#[derive(Debug)]
pub(super) struct Leadership {
    says: Says,
    /// By id, less one.
    nodes: Vec<Option<Up>>,
}

/// Where nodes say who leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// In the opinions of their elections.
    Opinions,
    /// In their announcements: an agent's election may name somebody before that is settled.
    Announcements,
}

/// A node that is up.
#[derive(Clone, Copy, Debug)]
struct Up {
    incarnation: Incarnation,
    names: Option<NodeId>,
    /// It neither leads nor follows anybody while it does not run.
    paused: bool,
}

impl Leadership {
    /// As the scenario's nodes say it.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let says = if scenario.agent { Says::Announcements } else { Says::Opinions };
        Self { says, ..Self::of_elections(scenario.nodes) }
    }

    fn of_elections(nodes: u32) -> Self {
        Self { says: Says::Opinions, nodes: vec![None; nodes as usize] }
    }

    /// True if the event has to do with who leads.
    pub(super) fn observe(&mut self, event: &TraceEvent) -> bool {
        let node = &mut self.nodes[event.node.0 as usize - 1];
        let incarnation = event.incarnation;
        match (event.what, self.says) {
            (What::Recover, _) => *node = Some(Up { incarnation, names: None, paused: false }),
            (What::Crash, _) => *node = None,
            (What::Pause | What::Resume, _) => {
                if let Some(up) = node {
                    up.paused = event.what == What::Pause;
                }
            }
            (What::Node(Event::Opinion(opinion)), Says::Opinions) => {
                *node = Some(Up { incarnation, names: opinion.normal_leader(), paused: false });
            }
            (What::Node(Event::Announced(announced)), Says::Announcements) => {
                *node = Some(Up { incarnation, names: announced.leader, paused: false });
            }
            _ => return false,
        }
        true
    }

    /// The node that all that run name, if it does, too.
    pub(super) fn agreed(&self) -> Option<NodeId> {
        let mut named = self.running().map(|up| up.names);
        let leader = named.next()??;
        (named.all(|other| other == Some(leader)) && self.runs(leader)).then_some(leader)
    }

    /// The node and its incarnation that names itself and is named by more than half of the running nodes. So a node
    /// that has just come up and names nobody yet does not end a leadership.
    pub(super) fn acting(&self) -> Option<(NodeId, Incarnation)> {
        let running = self.running().count();
        let names = |leader: NodeId| self.running().filter(|up| up.names == Some(leader)).count();
        let leader = self.leaders().find(|leader| 2 * names(*leader) > running)?;
        Some((leader, self.incarnation(leader)?))
    }

    /// Whether two nodes lead at once: each names itself.
    pub(super) fn is_split(&self) -> bool {
        self.leaders().nth(1).is_some()
    }

    /// The incarnation that the node is in, if it is up.
    pub(super) fn incarnation(&self, node: NodeId) -> Option<Incarnation> {
        self.nodes[node.0 as usize - 1].map(|up| up.incarnation)
    }

    /// Those that run and name themselves.
    fn leaders(&self) -> impl Iterator<Item = NodeId> {
        let own = |node: &NodeId| self.running_at(*node).is_some_and(|up| up.names == Some(*node));
        (1..=self.nodes.len() as u32).map(NodeId).filter(own)
    }

    fn running(&self) -> impl Iterator<Item = &Up> {
        self.nodes.iter().flatten().filter(|up| !up.paused)
    }

    fn runs(&self, node: NodeId) -> bool {
        self.running_at(node).is_some()
    }

    fn running_at(&self, node: NodeId) -> Option<&Up> {
        self.nodes[node.0 as usize - 1].as_ref().filter(|up| !up.paused)
    }
}
