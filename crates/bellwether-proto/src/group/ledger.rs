//! What a node keeps of restricted operations: what it voted for, and what was committed.
//!
//! **It is bounded, and uniqueness never depends on what was forgotten.** A node is in doubt about at most [`DOUBTS_MAX`]
//! operations; meanwhile it votes for no other. It remembers the [`COMMITS_MAX`] largest numbers that were committed. When
//! there are more, it forgets the smallest. From then on every number up to that one counts as done: this node votes for
//! none of them again, whether it was committed or not. So number operations in the order in which they are asked for.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::canonical::Form;
use crate::ident::{GroupId, NodeId};

/// No node is in doubt of more operations.
pub const DOUBTS_MAX: usize = 64;
/// No node remembers more operations that were committed one by one.
pub const COMMITS_MAX: usize = 64;

/// The number of a restricted operation. The application gives it, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OpId(pub u64);

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One attempt to commit an operation: the group in which it was made, and which of its coordinator's attempts. Groups are
/// numbered by their coordinator and its incarnation, so that no two attempts share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ballot {
    /// The group.
    pub group: GroupId,
    /// Counts the attempts of the coordinator's incarnation.
    pub attempt: u64,
}

impl Ballot {
    /// The node that decides it.
    pub fn coordinator(&self) -> NodeId {
        self.group.0.node
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.election(self.group.0);
        form.number(self.attempt);
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The operation was performed.
    Committed,
    /// It was not, by this attempt.
    Aborted,
    /// Its number is done with: who decided it does not know any more.
    Forgotten,
}

/// An operation and an attempt at it.
pub type Attempted = (OpId, Ballot);

/// What a node keeps of restricted operations, each in order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Every number below this is done with.
    floor: u64,
    /// Voted for, outcome unknown.
    #[serde(deserialize_with = "bounded::list::<DOUBTS_MAX, _, _>")]
    doubts: Vec<Attempted>,
    #[serde(deserialize_with = "bounded::list::<COMMITS_MAX, _, _>")]
    commits: Vec<Attempted>,
}

/// The state of an operation at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpState {
    /// Nothing is known of it.
    Free,
    /// This node voted for it.
    InDoubt(Ballot),
    Committed,
    /// It may have been committed long ago.
    DoneWith,
}

impl Ledger {
    /// What this node voted for without knowing the outcome.
    pub fn doubts(&self) -> &[Attempted] {
        &self.doubts
    }

    /// What was committed, as far back as is remembered.
    pub fn commits(&self) -> &[Attempted] {
        &self.commits
    }

    pub(super) fn state(&self, op: OpId) -> OpState {
        match (find(&self.commits, op), find(&self.doubts, op)) {
            (Ok(_), _) => OpState::Committed,
            (Err(_), Ok(at)) => OpState::InDoubt(self.doubts[at].1),
            (Err(_), Err(_)) if op.0 < self.floor => OpState::DoneWith,
            (Err(_), Err(_)) => OpState::Free,
        }
    }

    /// How that attempt ended, if the commits tell: of all attempts at an operation at most one commits.
    pub(super) fn outcome(&self, op: OpId, ballot: Ballot) -> Option<Outcome> {
        let at = find(&self.commits, op).ok()?;
        Some(if self.commits[at].1 == ballot { Outcome::Committed } else { Outcome::Aborted })
    }

    /// Whether one more vote can be kept.
    pub(super) fn has_room(&self) -> bool {
        self.doubts.len() < DOUBTS_MAX
    }

    /// This node votes for it.
    pub(super) fn vote(&mut self, op: OpId, ballot: Ballot) {
        match find(&self.doubts, op) {
            Ok(at) => self.doubts[at].1 = ballot,
            Err(at) => self.doubts.insert(at, (op, ballot)),
        }
    }

    pub(super) fn commit(&mut self, op: OpId, ballot: Ballot) {
        if let Ok(at) = find(&self.doubts, op) {
            self.doubts.remove(at);
        }
        if let Err(at) = find(&self.commits, op) {
            self.commits.insert(at, (op, ballot));
        }
        if self.commits.len() > COMMITS_MAX {
            let (OpId(smallest), _) = self.commits.remove(0);
            self.raise(smallest);
        }
    }

    /// How an operation in doubt ended will never be known: it is done with.
    pub(super) fn give_up(&mut self, op: OpId) {
        self.raise(op.0);
    }

    /// Every number up to this is done with. A doubt about one of them keeps nobody from anything.
    fn raise(&mut self, to: u64) {
        self.floor = self.floor.max(to.saturating_add(1));
        self.doubts.retain(|(op, _)| op.0 >= self.floor);
    }

    /// The vote for that attempt is forgotten, if there was one.
    pub(super) fn abort(&mut self, op: OpId, ballot: Ballot) {
        self.doubts.retain(|doubt| *doubt != (op, ballot));
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.number(self.floor);
        for list in [&self.doubts, &self.commits] {
            form.number(list.len() as u64);
            for (op, ballot) in list {
                form.number(op.0);
                ballot.canonical(form);
            }
        }
    }
}

fn find(list: &[Attempted], op: OpId) -> Result<usize, usize> {
    list.binary_search_by_key(&op, |(op, _)| *op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::{ElectionId, Incarnation};

    fn ballot(node: u32, attempt: u64) -> Ballot {
        let id = ElectionId { node: NodeId(node), incarnation: Incarnation(1), seq: 1 };
        Ballot { group: GroupId(id), attempt }
    }

    #[test]
    fn a_vote_is_in_doubt_until_that_attempt_is_decided() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.state(OpId(7)), OpState::Free);
        ledger.vote(OpId(7), ballot(1, 1));
        assert_eq!(ledger.state(OpId(7)), OpState::InDoubt(ballot(1, 1)));
        ledger.abort(OpId(7), ballot(2, 1));
        assert_eq!(ledger.state(OpId(7)), OpState::InDoubt(ballot(1, 1)), "that was another attempt");
        ledger.abort(OpId(7), ballot(1, 1));
        assert_eq!(ledger.state(OpId(7)), OpState::Free);
    }

    #[test]
    fn what_was_committed_tells_how_every_attempt_ended() {
        let mut ledger = Ledger::default();
        ledger.vote(OpId(7), ballot(2, 1));
        assert_eq!(ledger.outcome(OpId(7), ballot(2, 1)), None);
        ledger.commit(OpId(7), ballot(1, 1));
        assert_eq!(ledger.state(OpId(7)), OpState::Committed);
        assert_eq!(ledger.outcome(OpId(7), ballot(1, 1)), Some(Outcome::Committed));
        assert_eq!(ledger.outcome(OpId(7), ballot(2, 1)), Some(Outcome::Aborted));
        assert!(ledger.doubts().is_empty());
    }

    #[test]
    fn what_is_forgotten_is_done_with_for_good() {
        let mut ledger = Ledger::default();
        for n in 1..=COMMITS_MAX as u64 + 2 {
            ledger.commit(OpId(n * 10), ballot(1, n));
        }
        assert_eq!(ledger.commits().len(), COMMITS_MAX);
        for n in [1, 10, 15, 20] {
            assert_eq!(ledger.state(OpId(n)), OpState::DoneWith, "{n}");
            assert_eq!(ledger.outcome(OpId(n), ballot(1, 1)), None, "{n}");
        }
        assert_eq!(ledger.state(OpId(21)), OpState::Free);
        assert_eq!(ledger.state(OpId(30)), OpState::Committed);
    }
}
