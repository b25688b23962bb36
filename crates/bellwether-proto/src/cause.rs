//! Why the leader changed. Everybody who changes the leader says why: an algorithm with the change of its opinion, the layers
//! above with the announcement. The words for it, for programs and for people, are here and nowhere else.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::canonical::Form;
use crate::ident::NodeId;

/// Why the leader changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The member came up.
    Started,
    /// The leader's connection ended, or it came back in a new incarnation: most likely its process has ended.
    /// With views it may be another member's process: a view ends when any of its members goes.
    Gone(NodeId),
    /// The leader was silent for too long, to this node or to those that told it. With views it may be another member.
    Silent(NodeId),
    /// The leader stood aside.
    Resigned(NodeId),
    /// The leader handed over to the other.
    HandedOver(NodeId, NodeId),
    /// The algorithm prefers another, although the leader is there.
    Outranked(NodeId),
    /// The leader is there, but its group no longer has this node.
    Dropped(NodeId),
    /// Groups met and became one, or a node was admitted to a group.
    Merged,
    /// The leader's peers answer it and refuse it, and none accepts it.
    Refused(NodeId),
}

impl Cause {
    /// The word for programs: in traces, files and HTTP.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Gone(_) => "gone",
            Self::Silent(_) => "silent",
            Self::Resigned(_) => "resigned",
            Self::HandedOver(..) => "handed-over",
            Self::Outranked(_) => "outranked",
            Self::Dropped(_) => "dropped",
            Self::Merged => "merged",
            Self::Refused(_) => "refused",
        }
    }

    /// The member that the cause is about.
    pub const fn about(self) -> Option<NodeId> {
        match self {
            Self::Started | Self::Merged => None,
            Self::Gone(id)
            | Self::Silent(id)
            | Self::Resigned(id)
            | Self::HandedOver(id, _)
            | Self::Outranked(id)
            | Self::Dropped(id)
            | Self::Refused(id) => Some(id),
        }
    }

    /// The member that leadership was handed over to.
    pub const fn successor(self) -> Option<NodeId> {
        match self {
            Self::HandedOver(_, to) => Some(to),
            _ => None,
        }
    }

    /// Everybody of whom it speaks.
    pub fn ids_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let (one, other) = match self {
            Self::Started | Self::Merged => (None, None),
            Self::Gone(id)
            | Self::Silent(id)
            | Self::Resigned(id)
            | Self::Outranked(id)
            | Self::Dropped(id)
            | Self::Refused(id) => (Some(id), None),
            Self::HandedOver(from, to) => (Some(from), Some(to)),
        };
        one.into_iter().chain(other)
    }

    pub(crate) fn canonical(self, form: &mut Form) {
        form.number(match self {
            Self::Started => 0,
            Self::Gone(_) => 1,
            Self::Silent(_) => 2,
            Self::Resigned(_) => 3,
            Self::HandedOver(..) => 4,
            Self::Outranked(_) => 5,
            Self::Merged => 6,
            Self::Dropped(_) => 7,
            Self::Refused(_) => 8,
        });
        self.about().into_iter().chain(self.successor()).for_each(|node| form.node(node));
    }

    /// The cause of that name, about that member.
    pub fn by_name(name: &str, about: Option<NodeId>, successor: Option<NodeId>) -> Option<Self> {
        Some(match (name, about, successor) {
            ("started", ..) => Self::Started,
            ("merged", ..) => Self::Merged,
            ("gone", Some(id), _) => Self::Gone(id),
            ("silent", Some(id), _) => Self::Silent(id),
            ("resigned", Some(id), _) => Self::Resigned(id),
            ("outranked", Some(id), _) => Self::Outranked(id),
            ("dropped", Some(id), _) => Self::Dropped(id),
            ("refused", Some(id), _) => Self::Refused(id),
            ("handed-over", Some(from), Some(to)) => Self::HandedOver(from, to),
            _ => return None,
        })
    }

    /// The words for people, where it is known who leads since then.
    pub fn of_leader(self, leader: Option<NodeId>) -> String {
        match (self, leader) {
            // Another was preferred for a while.
            (Self::Outranked(id), Some(leader)) if leader == id => "elected again".to_string(),
            (Self::Outranked(id), Some(_)) => format!("preferred to node {id}"),
            (Self::Refused(_), Some(_)) => "no longer refused".to_string(),
            _ => self.to_string(),
        }
    }
}

/// The words for people.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => write!(f, "came up"),
            Self::Gone(id) => write!(f, "node {id} is gone"),
            Self::Silent(id) => write!(f, "node {id} was silent"),
            Self::Resigned(id) => write!(f, "node {id} resigned"),
            Self::HandedOver(from, to) => write!(f, "node {from} handed over to node {to}"),
            Self::Outranked(id) => write!(f, "another was preferred to node {id}"),
            Self::Dropped(id) => write!(f, "node {id} went on without this node"),
            Self::Merged => write!(f, "groups met"),
            Self::Refused(id) => write!(f, "node {id} was refused by its peers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_has_one_word_for_programs_and_plain_ones_for_people() {
        let (one, two) = (NodeId(1), NodeId(2));
        let causes = [
            (Cause::Started, "started", "came up"),
            (Cause::Gone(one), "gone", "node 1 is gone"),
            (Cause::Silent(one), "silent", "node 1 was silent"),
            (Cause::Resigned(one), "resigned", "node 1 resigned"),
            (Cause::HandedOver(one, two), "handed-over", "node 1 handed over to node 2"),
            (Cause::Outranked(one), "outranked", "another was preferred to node 1"),
            (Cause::Dropped(one), "dropped", "node 1 went on without this node"),
            (Cause::Merged, "merged", "groups met"),
            (Cause::Refused(one), "refused", "node 1 was refused by its peers"),
        ];
        for (cause, name, words) in causes {
            assert_eq!((cause.name(), cause.to_string().as_str()), (name, words));
            assert_eq!(cause.of_leader(None), words);
            assert_eq!(Cause::by_name(name, cause.about(), cause.successor()), Some(cause));
        }
        assert_eq!(Cause::Outranked(one).of_leader(Some(two)), "preferred to node 1");
        assert_eq!(Cause::Outranked(one).of_leader(Some(one)), "elected again");
        assert_eq!(Cause::Refused(one).of_leader(Some(one)), "no longer refused");
        assert_eq!(Cause::by_name("handed_over", Some(one), Some(two)), None, "words are joined by hyphens");
        assert_eq!(Cause::by_name("handed-over", Some(one), None), None, "to whom?");
        assert_eq!(Cause::by_name("gone", None, None), None, "of whom?");
        assert_eq!(Cause::by_name("bored", Some(one), Some(two)), None);
    }
}
