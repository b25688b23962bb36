//! How names that were deleted cost no more room: they are dropped by all voters when all of them know.
//!
//! ```text
//!   the survey is over, and some name was deleted ──all voters tell a page──► all know: it is dropped
//!                                                                             some do not: it is written as deleted again, for a later
//!                                                                             ballot
//! ```
//!
//! A survey turns its page at a majority, because agents wait for it. For this nobody waits, so it waits for every voter, page by
//! page, once in a ballot. One that is silent is asked again as often as all are told who holds what.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::surveying::{Page, Survey};
use super::{Coordinator, Stage};
use crate::exclusive::configuration::Votes;
use crate::exclusive::grant::{Accepted, Content, Name};
use crate::exclusive::ident::{Ballot, Stamp};
use crate::exclusive::message::Ask;
use crate::exclusive::register::Register;
use crate::time::Time;

impl Coordinator {
    /// Asks for the present page again, if there may still be something to drop.
    pub(super) fn drop_again(&mut self, now: Time) {
        self.drop_deleted(now);
        self.ask_all();
    }

    /// Asks whoever has not told the present page.
    pub(super) fn ask_all(&mut self) {
        let (Survey::Dropping(page), Some(ballot)) = (&self.survey, self.ballot()) else { return };
        let (ask, votes) = (Ask::Holdings { ballot, after: page.after.clone() }, page.votes.clone());
        self.ask_voters(&ask, &votes);
    }

    /// Turns the page, if all have told it. While the voters change, those who come to vote may not know.
    pub(super) fn drop_deleted(&mut self, now: Time) {
        let (Survey::Dropping(page), Stage::Ready { ballot, electorate }) = (&mut self.survey, &self.stage)
        else {
            return;
        };
        let by = electorate.by();
        let have_told = by.voters.iter().all(|(node, seat)| page.held.contains_key(&(*node, seat.store)));
        if !by.is_settled() || !have_told {
            return;
        }
        let (ballot, page) = (Arc::clone(ballot), core::mem::take(page));
        self.survey = page.next().map_or(Survey::Done, Survey::Dropping);
        for name in page.names() {
            let told: Vec<Option<&Accepted>> = page.held.values().map(|held| held.get(&name)).collect();
            match Grave::of(&told, *ballot) {
                Grave::None => {}
                Grave::KnownToAll(stamp) => {
                    let ask = Ask::Drop { ballot: *ballot, name, stamp };
                    self.ask_voters(&ask, &Votes::default());
                }
                Grave::KnownToSome => self.delete_again(&ballot, name, &page),
            }
        }
        self.give_attention(now);
        self.ask_all();
    }

    /// Some voters know that it was deleted, and nothing became of it since. It is written again, so that all do.
    fn delete_again(&mut self, ballot: &Arc<Ballot>, name: Name, page: &Page) {
        if !self.takes(&name) {
            return;
        }
        self.reads(ballot, &name, page);
        let register = self.contests.get_mut(&name).and_then(|contest| contest.register.as_mut());
        let Some(register) = register else { return };
        match register.content() {
            Some((Some(Content::Deleted), Some(stamp))) if stamp.ballot < **ballot => register.doubt(),
            // Those who know were not among the majority that it was read from. In this ballot it was not written.
            Some((None, _)) => {
                *register = Register::known(**ballot, name.clone(), Some(Content::Deleted), None);
            }
            _ => return,
        }
        self.doubtful.insert(name.clone());
        self.attention.insert(name);
    }
}

/// What voters tell of a name that was deleted.
enum Grave {
    /// It was not, in an earlier ballot: what this one has deleted, a later one drops.
    None,
    /// All tell the same.
    KnownToAll(Stamp),
    KnownToSome,
}

impl Grave {
    fn of(told: &[Option<&Accepted>], ballot: Ballot) -> Self {
        let deleted = told.iter().flatten().find(|accepted| is_deleted_before(accepted, ballot));
        match deleted {
            None => Self::None,
            Some(deleted) if told.iter().all(|other| *other == Some(*deleted)) => {
                Self::KnownToAll(deleted.stamp)
            }
            Some(_) => Self::KnownToSome,
        }
    }
}

/// Whether somebody holds of a name that it was deleted in an earlier ballot.
pub(super) fn is_deleted_before(accepted: &Accepted, ballot: Ballot) -> bool {
    accepted.content == Content::Deleted && accepted.stamp.ballot < ballot
}
