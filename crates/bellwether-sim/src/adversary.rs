//! The adversary of Raynal's theorem 1: a leader is not heard until another leads.
//!
//! To the others a leader whose messages are held up looks like one that has crashed, so they must elect another.
//! Then the messages of the first arrive: they were only slow. So channels are reliable, nobody crashes, and yet
//! no leader lasts.

use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::{Opinion, Status};

/// Holds up what one node sends.
#[derive(Debug)]
pub(crate) struct Adversary<M> {
    suppressed: Option<NodeId>,
    /// What it has sent since, in order.
    held: Vec<M>,
}

impl<M> Adversary<M> {
    pub(crate) fn new() -> Self {
        Self { suppressed: None, held: Vec::new() }
    }

    pub(crate) fn suppresses(&self, node: NodeId) -> bool {
        self.suppressed == Some(node)
    }

    /// Keeps a message of the node that is suppressed.
    pub(crate) fn hold(&mut self, message: M) {
        self.held.push(message);
    }

    /// Looks at every node's opinion, in order of id, and holds up another node if it is time. Returns the
    /// messages that it lets go then.
    pub(crate) fn look(&mut self, opinions: impl Iterator<Item = (NodeId, Opinion)> + Clone) -> Vec<M> {
        let up = opinions.filter(|(_, opinion)| opinion.status != Status::Down);
        let mut released = Vec::new();
        if self.suppressed.is_some_and(|node| up.clone().all(|(id, _)| id != node)) {
            self.suppressed = None;
            released.append(&mut self.held);
        }
        if let Some(leader) = unanimous(up, self.suppressed) {
            self.suppressed = Some(leader);
            released.append(&mut self.held);
        }
        released
    }

    /// The node that is held up, and what it has sent since.
    pub(crate) fn state(&self) -> (Option<NodeId>, &[M]) {
        (self.suppressed, &self.held)
    }
}

/// The node that all nodes name, including itself. A node that cannot be heard neither counts nor is the
/// result.
fn unanimous(up: impl Iterator<Item = (NodeId, Opinion)> + Clone, unheard: Option<NodeId>) -> Option<NodeId> {
    let mut heard = up.filter(|(id, _)| Some(*id) != unheard);
    let leader = heard.clone().next()?.1.normal_leader()?;
    let named = heard.clone().any(|(id, _)| id == leader);
    (named && heard.all(|(_, opinion)| opinion.normal_leader() == Some(leader))).then_some(leader)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: u32 = 0;
    const NOBODY: u32 = u32::MAX;

    /// By node from 1: whom it names.
    fn opinions<const N: usize>(named: [u32; N]) -> impl Iterator<Item = (NodeId, Opinion)> + Clone {
        (1..).map(NodeId).zip(named.map(|leader| match leader {
            DOWN => Opinion::DOWN,
            NOBODY => Opinion { status: Status::Election, leader: None, group: None },
            leader => Opinion { status: Status::Normal, leader: Some(NodeId(leader)), group: None },
        }))
    }

    #[test]
    fn whoever_all_name_is_not_heard_until_the_rest_name_another() {
        let mut adversary = Adversary::new();
        assert_eq!(adversary.look(opinions([1, 1, NOBODY])), []);
        assert!(!adversary.suppresses(NodeId(1)), "3 does not agree");
        assert_eq!(adversary.look(opinions([1, 1, 1])), []);
        assert!(adversary.suppresses(NodeId(1)));
        adversary.hold('a');
        adversary.hold('b');
        assert_eq!(adversary.look(opinions([1, 2, 1])), []);
        assert_eq!(adversary.look(opinions([1, 1, 1])), [], "the same again is no change");
        assert_eq!(adversary.look(opinions([1, 2, 2])), ['a', 'b']);
        assert!(adversary.suppresses(NodeId(2)) && !adversary.suppresses(NodeId(1)));
    }

    #[test]
    fn who_crashes_is_released_and_who_is_down_is_not_asked() {
        let mut adversary = Adversary::new();
        adversary.look(opinions([1, 1, 1]));
        adversary.hold('a');
        assert_eq!(adversary.look(opinions([DOWN, 1, 1])), ['a']);
        assert_eq!(adversary.state(), (None, &[][..]), "nobody who is up is named");
        assert_eq!(adversary.look(opinions([DOWN, 3, 3])), []);
        assert!(adversary.suppresses(NodeId(3)));
        assert_eq!(adversary.look(opinions([DOWN, DOWN, DOWN])), []);
        assert_eq!(adversary.state(), (None, &[][..]));
    }
}
