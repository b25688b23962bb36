//! What a cluster may rely on, in words that need no paper.

use bellwether::election::Protocol;

/// The mode that agents run in. Which it is follows from the algorithm.
pub(crate) fn name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::FbOmega => "majority",
        _ => "any-survivor",
    }
}

/// What it guarantees with that algorithm, and what it does not.
pub(crate) fn guarantee(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::FbOmega => MAJORITY,
        _ => ANY_SURVIVOR,
    }
}

const MAJORITY: &str = "\
One part of the cluster at most has a leader: one with more than half of all members, which can all reach each other \
and agree on who failed. Who is not in it has none. A leader that is cut off steps down when it misses too many of them, \
which may be a moment after the others have another.";

const ANY_SURVIVOR: &str = "\
Every connected group of members has its leader. Two groups that cannot reach each other each have one. \
An epoch grows within a group; across partitions it is not unique.";
