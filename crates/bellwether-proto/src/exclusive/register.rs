//! The proposer's side of one name, in one ballot: read it, then write it as often as need be.
//!
//! ```text
//!   Reading ──a majority tells what it accepted──► Known ──write──► Writing ──a majority accepts──► Known, decided
//!                                                    ▲                                                │
//!                                                    └────────────────────────────────────────────────┘
//! ```
//!
//! Of what a majority has accepted the latest counts, and whatever is written next follows from it. It may have been decided or
//! not: only if a majority tells the same, or has accepted it in this ballot, is it certain. A change of hands needs no certainty
//! about what it replaces. To tell a holder that it holds does.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::configuration::{Configuration, Votes};
use super::grant::{Accepted, Content, Name};
use super::ident::{Ballot, Stamp, StoreId};
use super::message::{Answer, Ask};
use crate::ident::NodeId;

/// One name in one ballot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register {
    /// All registers of one ballot share it: there may be a million.
    ballot: Arc<Ballot>,
    name: Name,
    state: State,
    /// How many writes there were in this ballot.
    writes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    // What is under way is kept elsewhere: most names of a million are known.
    Reading(Box<Reading>),
    Known { content: Option<Content>, decided: Decided },
    Writing(Box<Writing>),
}

/// Whether what is known is certain, and when it was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Decided {
    Not,
    /// It is the last write of this ballot.
    InThisBallot,
    Before(Box<Stamp>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Reading {
    /// Who has answered.
    votes: Votes,
    /// The latest that was told, and who told just that.
    latest: Option<Accepted>,
    agree: Votes,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Writing {
    content: Content,
    votes: Votes,
}

impl Register {
    /// A name that is read first.
    pub fn read(ballot: &Arc<Ballot>, name: Name) -> Self {
        let state = State::Reading(Box::default());
        Self { ballot: Arc::clone(ballot), name, state, writes: 0 }
    }

    /// A name of which is known what a majority has accepted: it told that when it promised the ballot.
    pub fn known(ballot: Ballot, name: Name, content: Option<Content>, decided: Option<Stamp>) -> Self {
        let (writes, decided) = (0, Decided::at(decided, Stamp { ballot, write: 0 }));
        Self { ballot: Arc::new(ballot), name, state: State::Known { content, decided }, writes }
    }

    /// The ballot.
    pub fn ballot(&self) -> Ballot {
        *self.ballot
    }

    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What the name holds, if anything, and since when that is decided, if it is; `None` while it is read or written.
    pub fn content(&self) -> Option<(Option<&Content>, Option<Stamp>)> {
        match &self.state {
            State::Known { content, decided } => Some((content.as_ref(), decided.stamp(self.stamp()))),
            State::Reading(_) | State::Writing(_) => None,
        }
    }

    /// What to ask voters for, and who has answered it; `None` if nothing is under way.
    pub fn asks(&self) -> Option<(Ask, &Votes)> {
        match &self.state {
            State::Reading(reading) => {
                Some((Ask::Read { ballot: *self.ballot, name: self.name.clone() }, &reading.votes))
            }
            State::Writing(writing) => {
                let (stamp, name, content) = (self.stamp(), self.name.clone(), writing.content.clone());
                Some((Ask::Write { stamp, name, content }, &writing.votes))
            }
            State::Known { .. } => None,
        }
    }

    /// Begins to write. One write follows another: nothing else is under way.
    pub fn write(&mut self, content: Content) {
        debug_assert!(self.content().is_some(), "a write of {} while another is under way", self.name);
        self.writes += 1;
        self.state = State::Writing(Box::new(Writing { content, votes: Votes::default() }));
    }

    /// What was decided was decided by other voters than count now: it is written again before it is certain.
    pub fn doubt(&mut self) {
        if let State::Known { decided, .. } = &mut self.state {
            *decided = Decided::Not;
        }
    }

    /// A voter answers. Whether that brought what is under way to its end.
    #[must_use]
    pub fn heard(&mut self, by: &Configuration, voter: NodeId, store: StoreId, answer: &Answer) -> bool {
        let stamp = self.stamp();
        match (&mut self.state, answer) {
            (State::Reading(reading), Answer::Holds { ballot, name, accepted })
                if *ballot == *self.ballot && *name == self.name =>
            {
                let Reading { votes, latest, agree } = &mut **reading;
                votes.add(voter, store);
                let (told, known) = (stamp_of(accepted.as_ref()), stamp_of(latest.as_ref()));
                if told > known {
                    (*latest, *agree) = (accepted.clone(), Votes::default());
                }
                if told >= known {
                    agree.add(voter, store);
                }
                if !by.is_enough(votes) {
                    return false;
                }
                let decided = if by.is_enough(agree) { stamp_of(latest.as_ref()) } else { None };
                // A name that was put aside in this ballot goes on where it was: what was decided of it is among what is told.
                let writes = known_writes(*self.ballot, latest.as_ref());
                let decided = Decided::at(decided, Stamp { ballot: *self.ballot, write: writes });
                let content = latest.take().map(|accepted| accepted.content);
                (self.state, self.writes) = (State::Known { content, decided }, writes);
                true
            }
            (State::Writing(writing), Answer::Wrote { stamp: wrote, name })
                if *wrote == stamp && *name == self.name =>
            {
                let Writing { content, votes } = &mut **writing;
                votes.add(voter, store);
                if !by.is_enough(votes) {
                    return false;
                }
                let content = Some(content.clone());
                self.state = State::Known { content, decided: Decided::InThisBallot };
                true
            }
            _ => false,
        }
    }

    /// The last write of this ballot.
    fn stamp(&self) -> Stamp {
        Stamp { ballot: *self.ballot, write: self.writes }
    }
}

impl Decided {
    /// What was decided then, if it was, where that is the last write of this ballot.
    fn at(decided: Option<Stamp>, last: Stamp) -> Self {
        match decided {
            None => Self::Not,
            Some(stamp) if stamp == last => Self::InThisBallot,
            Some(stamp) => Self::Before(Box::new(stamp)),
        }
    }

    fn stamp(&self, last: Stamp) -> Option<Stamp> {
        match self {
            Self::Not => None,
            Self::InThisBallot => Some(last),
            Self::Before(stamp) => Some(**stamp),
        }
    }
}

/// How many writes of that ballot there were.
fn known_writes(ballot: Ballot, latest: Option<&Accepted>) -> u64 {
    let own = latest.filter(|accepted| accepted.stamp.ballot == ballot);
    own.map_or(0, |accepted| accepted.stamp.write)
}

fn stamp_of(accepted: Option<&Accepted>) -> Option<Stamp> {
    accepted.map(|accepted| accepted.stamp)
}
