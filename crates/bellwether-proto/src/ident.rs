//! Identity: nodes, their incarnations, their elections, their groups and their watches.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// A process that takes part. Which of two is preferred is the [`Priority`](crate::roster::Priority)'s business:
/// protocol code never compares ids to find the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One run of a node, from a start to its crash or end. The number is on stable storage, and is larger at
/// each start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Incarnation(pub u64);

impl Incarnation {
    /// No incarnation is larger. Far beyond any clock and any count of restarts.
    pub const MAX: Self = Self(1 << 62);

    /// No incarnation is taken from a clock that reads more than so many microseconds since 1970: it is wrong, and would use up the counter.
    /// That is in the year 2112.
    pub const CLOCK_MAX: Self = Self(1 << 52);

    /// Whether to believe a peer that a node has gone from the incarnation `known` to this one. Incarnations count
    /// restarts, or microseconds of a clock. A jump beyond any clock is a lie that would use up the counter.
    #[inline]
    pub fn is_plausible_after(self, known: Self) -> bool {
        self.0 <= known.max(Self::CLOCK_MAX).0.saturating_add(1 << 32)
    }

    /// The incarnation after this one; `None` when the counter is exhausted.
    pub fn next(self) -> Option<Self> {
        (self < Self::MAX).then(|| Self(self.0 + 1))
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Stoller's election identifier (section 4): who started it, in which incarnation, and which of that
/// incarnation's elections. A tuple, so that two elections never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElectionId {
    /// The node that organises the election.
    pub node: NodeId,
    /// That node's incarnation when it started.
    pub incarnation: Incarnation,
    /// Counts the elections of that incarnation.
    pub seq: u64,
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.node, self.incarnation, self.seq)
    }
}

/// The group that a node is in. Stoller identifies it with the election that formed it (section 7); Garcia-Molina numbers
/// groups by a node and a counter of its own (section IV.A), which here is an incarnation and a counter within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub ElectionId);

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the Starts of one watcher on one peer. What belongs to an earlier number is void: this is how Start resets
/// a watch. The upper half is the watcher's incarnation, so that what answers a watch of an earlier incarnation is
/// void too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WatchNo(pub u64);

/// A text that does not name a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGroup(String);

impl fmt::Display for NoGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found the group {:?}, expected one such as \"2.1.4\"", self.0)
    }
}

impl FromStr for GroupId {
    type Err = NoGroup;

    /// A group as it is printed, and in no other way.
    fn from_str(text: &str) -> Result<Self, NoGroup> {
        let read = |(node, rest): (&str, &str)| {
            let (incarnation, seq) = rest.split_once('.')?;
            Some(Self(ElectionId {
                node: NodeId(node.parse().ok()?),
                incarnation: Incarnation(incarnation.parse().ok()?),
                seq: seq.parse().ok()?,
            }))
        };
        let group = text.split_once('.').and_then(read).filter(|group| group.to_string() == text);
        group.ok_or_else(|| NoGroup(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_read_as_it_is_printed_and_in_no_other_way() {
        let election = ElectionId { node: NodeId(2), incarnation: Incarnation(1), seq: 14 };
        assert_eq!("2.1.14".parse(), Ok(GroupId(election)));
        assert_eq!(GroupId(election).to_string(), "2.1.14");
        for wrong in
            ["", "2", "2.1", "2.1.", "2.1.4.5", "2.1.04", "+2.1.4", "2.1.x", " 2.1.4", "4294967296.1.1"]
        {
            let error = wrong.parse::<GroupId>().expect_err(wrong);
            assert_eq!(
                error.to_string(),
                alloc::format!("found the group {wrong:?}, expected one such as \"2.1.4\"")
            );
        }
    }
}
