//! What a cluster may rely on, in words that need no paper.

use bellwether_proto::election::Protocol;

/// What a leader needs. Which it is follows from the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nobody else.
    AnySurvivor,
    /// More than half of all members.
    Majority,
}

impl Mode {
    const ALL: [Self; 2] = [Self::AnySurvivor, Self::Majority];

    /// The mode of agents with that algorithm.
    pub(crate) fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::FbOmega => Self::Majority,
            _ => Self::AnySurvivor,
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AnySurvivor => "any-survivor",
            Self::Majority => "majority",
        }
    }

    /// What it guarantees, and what it does not.
    pub(crate) fn guarantee(self) -> &'static str {
        match self {
            Self::AnySurvivor => ANY_SURVIVOR,
            Self::Majority => MAJORITY,
        }
    }
}

const MAJORITY: &str = "\
One part of the cluster at most has a leader: one with more than half of all members, which can all reach each other \
and agree on who failed. Who is not in it has none. A leader that is cut off steps down when it misses too many of them, \
which may be a moment after the others have another.";

const ANY_SURVIVOR: &str = "\
Every connected group of members has its leader. Two groups that cannot reach each other each have one. \
An epoch grows within a group; across partitions it is not unique.";
