//! Which names there are: read from a majority page by page, once in a ballot, when an agent asks for all of them.
//!
//! Names that somebody wants are not waited for: they are read one by one. What the survey finds, all agents are told, so that each
//! can say who holds what. Names that were deleted are looked through afterwards (`dropping.rs`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use super::dropping::is_deleted_before;
use super::{Coordinator, CoordinatorAction, Stage};
use crate::exclusive::configuration::Votes;
use crate::exclusive::grant::{Accepted, Name};
use crate::exclusive::ident::{Ballot, StoreId};
use crate::exclusive::message::{Answer, Ask, PAGE, Telling};
use crate::exclusive::register::Register;
use crate::ident::NodeId;
use crate::time::Time;

/// How far the survey is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Survey {
    /// Nobody has asked.
    #[default]
    NotBegun,
    /// `deleted`: somebody told of a name that was deleted in an earlier ballot.
    Reading { page: Page, deleted: bool },
    /// All names are known, and nobody has told of such a name.
    Read,
    /// All names are known. Those that were deleted are read once more, from all voters.
    Dropping(Page),
    /// All names are known, and what could be dropped is.
    Done,
}

/// What voters hold of the names after one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Page {
    pub(super) after: Option<Name>,
    pub(super) votes: Votes,
    pub(super) held: BTreeMap<(NodeId, StoreId), BTreeMap<Name, Accepted>>,
    /// Up to where everything was told by all who hold more.
    up_to: Option<Name>,
}

impl Coordinator {
    /// An agent does not know which names there are.
    pub(super) fn wish_list(&mut self, from: NodeId, after: Option<Name>) {
        match self.survey {
            _ if !self.is_ready() => {}
            Survey::NotBegun => {
                self.survey = Survey::Reading { page: Page::default(), deleted: false };
                self.ask_survey();
            }
            Survey::Reading { .. } => {}
            Survey::Read | Survey::Dropping(_) | Survey::Done => self.list(from, after),
        }
    }

    /// Whether it is known which names there are.
    pub(super) fn is_surveyed(&self) -> bool {
        matches!(self.survey, Survey::Read | Survey::Dropping(_) | Survey::Done)
    }

    /// Whether voters have yet to tell something.
    pub(super) fn is_surveying(&self) -> bool {
        matches!(self.survey, Survey::Reading { .. })
    }

    /// Asks whoever has not told the present page.
    pub(super) fn ask_survey(&mut self) {
        let (Survey::Reading { page, .. }, Some(ballot)) = (&self.survey, self.ballot()) else { return };
        let (ask, votes) = (Ask::Holdings { ballot, after: page.after.clone() }, page.votes.clone());
        self.ask_voters(&ask, &votes);
    }

    pub(super) fn survey_heard(&mut self, now: Time, voter: (NodeId, StoreId), answer: &Answer) {
        let (Stage::Ready { ballot, electorate }, Answer::Holdings { ballot: of, after, held, more }) =
            (&self.stage, answer)
        else {
            return;
        };
        if *of != **ballot || !electorate.by().counts(voter.0, voter.1) {
            return;
        }
        let tells_deleted = held.iter().any(|(_, accepted)| is_deleted_before(accepted, *of));
        match &mut self.survey {
            Survey::Reading { page, deleted } => {
                *deleted |= tells_deleted;
                if *after == page.after {
                    page.add(voter, held, *more);
                    self.turn(now);
                }
            }
            // A voter that is late may be the only one to know.
            Survey::Read if tells_deleted => {
                self.survey = Survey::Dropping(Page::default());
                self.ask_all();
            }
            Survey::Dropping(page) if *after == page.after => {
                page.add(voter, held, *more);
                self.drop_deleted(now);
            }
            Survey::NotBegun | Survey::Read | Survey::Dropping(_) | Survey::Done => {}
        }
    }

    /// Turns the page, if a majority has told it.
    fn turn(&mut self, now: Time) {
        let (Survey::Reading { page, deleted }, Stage::Ready { ballot, electorate }) =
            (&mut self.survey, &self.stage)
        else {
            return;
        };
        if !electorate.by().is_enough(&page.votes) {
            return;
        }
        let (ballot, page, deleted) = (Arc::clone(ballot), core::mem::take(page), *deleted);
        self.survey = match page.next() {
            Some(page) => Survey::Reading { page, deleted },
            None if deleted => Survey::Dropping(Page::default()),
            None => Survey::Read,
        };
        self.found(now, &ballot, &page);
        self.ask_survey();
        self.ask_all();
    }

    /// As if each name had been read by itself.
    fn found(&mut self, now: Time, ballot: &Arc<Ballot>, page: &Page) {
        for name in page.names() {
            if !self.takes(&name) {
                continue;
            }
            if self.reads(ballot, &name, page) {
                self.busy.remove(&name);
                self.tell(&name);
            }
            self.doubtful.insert(name.clone());
            self.attention.insert(name);
        }
        self.give_attention(now);
    }

    /// What a page tells of one name answers for it, if it is being read or was not. Whether that was enough.
    pub(super) fn reads(&mut self, ballot: &Arc<Ballot>, name: &Name, page: &Page) -> bool {
        let (Stage::Ready { electorate, .. }, Some(contest)) = (&self.stage, self.contests.get_mut(name))
        else {
            return false;
        };
        let register = contest.register.get_or_insert_with(|| Register::read(ballot, name.clone()));
        let mut read = false;
        for ((voter, store), held) in &page.held {
            let accepted = held.get(name).cloned();
            let answer = Answer::Holds { ballot: **ballot, name: name.clone(), accepted };
            read |= register.heard(electorate.by(), *voter, *store, &answer);
        }
        read
    }

    /// Tells one agent a page of names, and who holds each.
    fn list(&mut self, to: NodeId, after: Option<Name>) {
        let begin = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.contests.range::<Name, _>((begin, Bound::Unbounded));
        let page: Vec<(Name, Option<Telling>)> =
            rest.by_ref().take(PAGE).map(|(name, contest)| (name.clone(), contest.telling(name))).collect();
        let up_to = rest.next().and(page.last()).map(|(name, _)| name.clone());
        // What is being written is not told now, and is there all the same.
        let is_there = |name: &&Name| self.contests.get(*name).is_some_and(|contest| !contest.is_nothing());
        let names = page.iter().map(|(name, _)| name).filter(is_there).cloned().collect();
        let tellings = page.into_iter().filter_map(|(_, held)| held);
        self.actions.extend(tellings.map(|held| CoordinatorAction::Answer(to, held)));
        self.actions.push(CoordinatorAction::Answer(to, Telling::Listed { after, up_to, names }));
    }
}

impl Page {
    fn add(&mut self, (voter, store): (NodeId, StoreId), held: &[(Name, Accepted)], more: bool) {
        self.votes.add(voter, store);
        // Whoever says that there is more tells something; the page ends where the first of them does.
        if let Some((last, _)) = held.last().filter(|_| more) {
            let ends = self.up_to.as_ref().is_none_or(|up_to| last < up_to);
            self.up_to = if ends { Some(last.clone()) } else { self.up_to.take() };
        }
        self.held.insert((voter, store), held.iter().cloned().collect());
    }

    /// The one that follows, if there is more.
    pub(super) fn next(&self) -> Option<Self> {
        self.up_to.as_ref().map(|up_to| Self { after: Some(up_to.clone()), ..Self::default() })
    }

    pub(super) fn names(&self) -> BTreeSet<Name> {
        let within = |name: &&Name| self.up_to.as_ref().is_none_or(|up_to| *name <= up_to);
        self.held.values().flat_map(BTreeMap::keys).filter(within).cloned().collect()
    }
}
