//! Ids as the checkers want them: 1 to n. Ids of a live cluster may be any.

use std::collections::BTreeSet;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::tenure::Command;
use bellwether_proto::trace::{MsgRef, Program, TraceEvent, What};

/// Every id there is, in order, so that ranks compare as ids do.
#[derive(Debug)]
pub(super) struct Ranks(Vec<NodeId>);

impl Ranks {
    /// The ids of the members, and every other that is spoken of.
    pub(super) fn of(events: &[TraceEvent], members: &[NodeId]) -> Self {
        let mut ids: BTreeSet<NodeId> = members.iter().copied().collect();
        for mut event in events.iter().copied() {
            each_id(&mut event, |id| {
                ids.insert(*id);
            });
        }
        Self(ids.into_iter().collect())
    }

    /// Every id, by rank.
    pub(super) fn ids(&self) -> &[NodeId] {
        &self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts ranks in place of ids. Groups keep their names: nobody looks into them.
    pub(super) fn apply(&self, event: &mut TraceEvent) {
        each_id(event, |id| *id = self.rank(*id));
    }

    /// An explanation for texts that speak of ranks; empty if ranks and ids are the same.
    pub(super) fn legend(&self) -> String {
        let differ = |id: &NodeId| self.rank(*id) != *id;
        if !self.0.iter().any(differ) {
            return String::new();
        }
        let pairs: Vec<_> = self.0.iter().map(|id| format!("{} is {id}", self.rank(*id))).collect();
        format!(" (nodes by rank: {})", pairs.join(", "))
    }

    fn rank(&self, id: NodeId) -> NodeId {
        let before = self.0.partition_point(|other| *other < id);
        NodeId(u32::try_from(before + 1).unwrap_or(u32::MAX))
    }
}

fn each_id(event: &mut TraceEvent, mut each: impl FnMut(&mut NodeId)) {
    each(&mut event.node);
    match &mut event.what {
        What::Send(MsgRef { from, to, .. })
        | What::Recv(MsgRef { from, to, .. }, _)
        | What::Drop(MsgRef { from, to, .. }, _)
        | What::Late(MsgRef { from, to, .. }) => {
            each(from);
            each(to);
        }
        What::Cut(peer) | What::Mend(peer) | What::Slow(peer) | What::Unlinked(peer) => each(peer),
        What::Node(event) => match event {
            Event::Opinion(opinion) => opinion.leader.iter_mut().for_each(each),
            Event::Announced(announced) => {
                announced.leader.iter_mut().for_each(&mut each);
                announced.cause.ids_mut().for_each(each);
            }
            Event::Watch(peer) | Event::Unwatch(peer) | Event::Down(peer) => each(peer),
            Event::Granted { to, by, .. } => {
                to.iter_mut().for_each(&mut each);
                each(by);
            }
            Event::Link(turn) => each(&mut turn.peer),
            // Whoever sends what is refused need not be anybody.
            Event::Refused { .. }
            | Event::GivenUp
            | Event::Reborn(_)
            | Event::Group(_)
            | Event::ViewInstalled(_)
            | Event::Pending(_)
            | Event::UnwatchAll
            | Event::PlayDead
            | Event::PlayAlive => {}
        },
        What::Program(Program::Asked { command: Command::Transfer { to }, .. }) => each(to),
        What::Program(_) => {}
        What::Deadline | What::Persist(_) | What::HeldUp(_) => {}
        What::Crash | What::Recover | What::Pause | What::Resume => {}
    }
}
