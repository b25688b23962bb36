//! What a cluster may rely on, in words that need no paper.

/// The mode that agents run in.
pub(crate) const NAME: &str = "any-survivor";

/// What it guarantees, and what it does not.
pub(crate) const GUARANTEE: &str = "\
Every connected group of members has its leader. Two groups that cannot reach each other each have one. \
An epoch grows within a group; across partitions it is not unique.";
