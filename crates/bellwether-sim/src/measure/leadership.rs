//! Who leads, as an observer of the whole cluster sees it.

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

/// Since when all that are up have named one live leader.
#[derive(Debug)]
pub(super) struct Agreement {
    leadership: Leadership,
    agreed: Option<(NodeId, Time)>,
}

impl Agreement {
    pub(super) fn new(nodes: u32) -> Self {
        Self { leadership: Leadership::new(nodes), agreed: None }
    }

    pub(super) fn observe(&mut self, event: &TraceEvent) {
        if self.leadership.observe(event) {
            let leader = self.leadership.agreed();
            if self.agreed.map(|(agreed, _)| agreed) != leader {
                self.agreed = leader.map(|leader| (leader, event.at));
            }
        }
    }

    pub(super) fn since(&self) -> Option<Time> {
        self.agreed.map(|(_, since)| since)
    }
}

/// What every node shows, kept up to date with the trace.
#[derive(Debug)]
pub(super) struct Leadership {
    /// By id, less one: the life of each that is up, and whom it names.
    nodes: Vec<Option<(Incarnation, Option<NodeId>)>>,
}

impl Leadership {
    pub(super) fn new(nodes: u32) -> Self {
        Self { nodes: vec![None; nodes as usize] }
    }

    /// True if the event has to do with who leads.
    pub(super) fn observe(&mut self, event: &TraceEvent) -> bool {
        let node = &mut self.nodes[event.node.0 as usize - 1];
        match event.what {
            What::Recover => *node = Some((event.incarnation, None)),
            What::Crash => *node = None,
            What::Node(Event::View(view)) => *node = Some((event.incarnation, view.normal_leader())),
            _ => return false,
        }
        true
    }

    /// The node that all that are up name, if it is up.
    fn agreed(&self) -> Option<NodeId> {
        let mut named = self.nodes.iter().flatten().map(|(_, named)| *named);
        let leader = named.next()??;
        (named.all(|other| other == Some(leader)) && self.life(leader).is_some()).then_some(leader)
    }

    /// The node, in its present life, that names itself and is named by more than half of those that are up: one that has
    /// just come up and names nobody yet does not end a leadership.
    pub(super) fn acting(&self) -> Option<(NodeId, Incarnation)> {
        let up = self.nodes.iter().flatten().count();
        let names =
            |leader: NodeId| self.nodes.iter().flatten().filter(|(_, named)| *named == Some(leader)).count();
        let leads = |leader: &NodeId| {
            self.nodes[leader.0 as usize - 1].is_some_and(|(_, named)| named == Some(*leader))
                && 2 * names(*leader) > up
        };
        let leader = (1..=self.nodes.len() as u32).map(NodeId).find(leads)?;
        Some((leader, self.life(leader)?))
    }

    /// The life that the node is in, if it is up.
    pub(super) fn life(&self, node: NodeId) -> Option<Incarnation> {
        self.nodes[node.0 as usize - 1].map(|(life, _)| life)
    }
}
