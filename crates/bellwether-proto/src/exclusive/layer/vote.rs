//! Whether this node votes.

use super::Exclusive;

/// What a node's vote is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// It does not vote.
    Without,
    /// It is not known yet who does: the cluster is being founded, or no other voter was heard.
    Unknown,
    /// It counts.
    Counts,
    /// It does not count: the voters agreed on another store of this node, which is lost.
    Lost,
    /// It does not count: others have heard of more than is on its disk, which was put back to an earlier state.
    Outdated,
}

impl Exclusive {
    /// What this node's vote is worth.
    pub(crate) fn vote(&self) -> Vote {
        match (&self.voter, self.in_force()) {
            (None, _) => Vote::Without,
            (Some(_), None) if self.config.voters.contains_key(&self.me.node) => Vote::Unknown,
            (Some(_), None) => Vote::Without,
            (Some(voter), Some(in_force)) => match in_force.voters.get(&self.me.node) {
                Some(seat) if seat.store == voter.kept().store && voter.is_outdated() => Vote::Outdated,
                Some(seat) if seat.store == voter.kept().store => Vote::Counts,
                Some(_) => Vote::Lost,
                None => Vote::Without,
            },
        }
    }
}
