//! The members of a cluster in order of preference, as one of them sees it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::ident::NodeId;

/// Which of two nodes should rather lead. A policy, because the papers disagree: Garcia-Molina prefers the highest
/// id, Stoller and the others the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The lowest id is the strongest (Stoller, Souto, Raynal, Franceschetti and Bruck).
    LowestId,
    /// The highest id is the strongest (Garcia-Molina).
    HighestId,
}

impl Priority {
    /// Whether `a` is preferred to `b`. Irreflexive: nobody is stronger than itself.
    pub fn stronger(self, a: NodeId, b: NodeId) -> bool {
        match self {
            Self::LowestId => a < b,
            Self::HighestId => a > b,
        }
    }
}

/// The fixed set of members, strongest first, and which of them this node is.
///
/// A member's *rank* is its place in that order. Tables with an entry for each member are indexed by rank.
#[derive(Clone, Debug)]
pub struct Roster {
    members: Arc<[NodeId]>,
    priority: Priority,
    my_rank: usize,
}

impl Roster {
    /// The roster of `members` as `me` sees it.
    ///
    /// # Panics
    /// If `me` is not among `members`, or an id occurs twice: both are mistakes of the caller's configuration code.
    pub fn new(me: NodeId, members: impl IntoIterator<Item = NodeId>, priority: Priority) -> Self {
        let mut members: Vec<NodeId> = members.into_iter().collect();
        members.sort_by(|a, b| match priority {
            Priority::LowestId => a.cmp(b),
            Priority::HighestId => b.cmp(a),
        });
        assert!(members.windows(2).all(|pair| pair[0] != pair[1]), "an id occurs twice in the roster");
        let roster = Self { members: members.into(), priority, my_rank: 0 };
        roster.seen_by(me)
    }

    /// The same members as another of them sees them, sharing the memory.
    ///
    /// # Panics
    /// If `me` is not a member.
    pub fn seen_by(&self, me: NodeId) -> Self {
        let my_rank = self.rank(me).expect("a node is a member of its own roster");
        Self { my_rank, ..self.clone() }
    }

    /// This node.
    pub fn me(&self) -> NodeId {
        self.members[self.my_rank]
    }

    /// The policy that orders the members.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// This node's place in the order of preference; 0 is the strongest.
    pub fn my_rank(&self) -> usize {
        self.my_rank
    }

    /// How many members there are, this node included.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// All members, strongest first.
    pub fn members(&self) -> &[NodeId] {
        &self.members
    }

    /// The member of that rank.
    pub fn at(&self, rank: usize) -> NodeId {
        self.members[rank]
    }

    /// The members that are stronger than this node: the papers' `lesser(i)`.
    pub fn stronger_than_me(&self) -> &[NodeId] {
        &self.members[..self.my_rank]
    }

    /// The members that are weaker than this node: the papers' `greater(i)`.
    pub fn weaker_than_me(&self) -> &[NodeId] {
        &self.members[self.my_rank + 1..]
    }

    /// Whether `a` is preferred to `b`.
    pub fn stronger(&self, a: NodeId, b: NodeId) -> bool {
        self.priority.stronger(a, b)
    }

    /// The rank of `id`, or `None` if it is not a member.
    #[inline]
    pub fn rank(&self, id: NodeId) -> Option<usize> {
        let first = self.members.first()?.0;
        // Ids are nearly always consecutive: look where they would then be before searching.
        let guess = id.0.abs_diff(first) as usize;
        if self.members.get(guess) == Some(&id) {
            return Some(guess);
        }
        self.members
            .binary_search_by(|member| match self.priority {
                Priority::LowestId => member.cmp(&id),
                Priority::HighestId => id.cmp(member),
            })
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[u32]) -> Vec<NodeId> {
        ids.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn the_policy_decides_who_is_stronger() {
        let low = Roster::new(NodeId(3), ids(&[5, 1, 3]), Priority::LowestId);
        assert_eq!(low.members(), ids(&[1, 3, 5]));
        assert_eq!((low.stronger_than_me(), low.weaker_than_me()), (&ids(&[1])[..], &ids(&[5])[..]));
        let high = Roster::new(NodeId(3), ids(&[5, 1, 3]), Priority::HighestId);
        assert_eq!(high.members(), ids(&[5, 3, 1]));
        assert!(high.stronger(NodeId(5), NodeId(3)) && !high.stronger(NodeId(3), NodeId(3)));
    }

    #[test]
    fn ranks_are_found_whether_or_not_ids_are_consecutive() {
        for priority in [Priority::LowestId, Priority::HighestId] {
            for members in [ids(&[1, 2, 3, 4]), ids(&[7, 11, 500, 12])] {
                let roster = Roster::new(members[0], members.iter().copied(), priority);
                for (rank, id) in roster.members().iter().enumerate() {
                    assert_eq!(roster.rank(*id), Some(rank));
                }
                assert_eq!(roster.rank(NodeId(6)), None);
            }
        }
    }
}
