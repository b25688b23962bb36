//! How a lease comes to be dead: its timers have ended at a majority of the voters, and a majority has said so for ever.
//!
//! ```text
//!   Asking ──a majority says that no timer runs──► Burying ──a majority has buried it──► Dead
//! ```
//!
//! Whoever asks is told for how long a timer still runs, and asks again when a majority may have come to its end. So a holder
//! that is alive is asked about once a lease, and one that is not is buried as soon as can be.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::configuration::{Configuration, Votes};
use super::ident::{Lease, StoreId};
use super::message::{Answer, Ask};
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// Nobody is asked again sooner: a timer that ends now may take that long to be seen.
const SOONEST: Span = Span::millis(1);

/// One lease that is in the way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Burial {
    lease: Lease,
    state: State,
    /// When to ask, or to repeat it.
    due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Asking {
        stopped: Votes,
        /// Until when timers run, as far as voters have said.
        running: BTreeMap<(NodeId, StoreId), Time>,
    },
    Burying(Votes),
    Dead,
}

impl Burial {
    /// Of that lease, from now on.
    pub fn new(lease: Lease, now: Time) -> Self {
        let state = State::Asking { stopped: Votes::default(), running: BTreeMap::new() };
        Self { lease, state, due: now }
    }

    /// Whether a majority has buried it.
    pub fn is_over(&self) -> bool {
        self.state == State::Dead
    }

    /// When there is something to ask.
    pub fn deadline(&self) -> Time {
        if self.is_over() { Time::NEVER } else { self.due }
    }

    /// What to ask the voters for now, if it is time; it is repeated after `retry`.
    pub fn ask(&mut self, now: Time, retry: Span) -> Option<Ask> {
        if self.deadline() > now {
            return None;
        }
        self.due = now + retry;
        match &mut self.state {
            State::Asking { stopped, running } => {
                // What was said before does not count: a timer may have been started anew.
                (*stopped, *running) = (Votes::default(), BTreeMap::new());
                Some(Ask::Runs { lease: self.lease })
            }
            State::Burying(_) => Some(Ask::Bury { lease: self.lease }),
            State::Dead => None,
        }
    }

    /// A voter answers. Whether there is something to ask at once, or nothing any more.
    #[must_use]
    pub fn heard(
        &mut self,
        now: Time,
        by: &Configuration,
        (voter, store): (NodeId, StoreId),
        answer: &Answer,
    ) -> bool {
        match (&mut self.state, answer) {
            (State::Asking { stopped, .. }, Answer::Stopped { lease }) if *lease == self.lease => {
                stopped.add(voter, store);
                if !by.is_enough(stopped) {
                    return false;
                }
                (self.state, self.due) = (State::Burying(Votes::default()), now);
                true
            }
            (State::Asking { stopped, running }, Answer::Runs { lease, left }) if *lease == self.lease => {
                running.insert((voter, store), now + *left);
                let ends = ends_at(by, stopped, running);
                self.due = ends.map_or(self.due, |ends| ends.max(now + SOONEST));
                false
            }
            (State::Burying(votes), Answer::Buried { lease }) if *lease == self.lease => {
                votes.add(voter, store);
                if by.is_enough(votes) {
                    self.state = State::Dead;
                }
                self.is_over()
            }
            _ => false,
        }
    }
}

/// When so many timers have ended that a majority has, if that is known.
fn ends_at(by: &Configuration, stopped: &Votes, running: &BTreeMap<(NodeId, StoreId), Time>) -> Option<Time> {
    let mut ends: Vec<(Time, (NodeId, StoreId))> =
        running.iter().map(|(voter, end)| (*end, *voter)).collect();
    ends.sort_unstable();
    let mut stopped = stopped.clone();
    ends.into_iter().find_map(|(end, (voter, store))| {
        stopped.add(voter, store);
        by.is_enough(&stopped).then_some(end)
    })
}
