//! Which names there are: read from a majority page by page, once in a ballot, when an agent asks for all of them.
//!
//! Names that somebody wants are not waited for: they are read one by one. What the survey finds, all agents are told, so that each
//! can say who holds what. A name that was deleted in an earlier ballot, and that all voters know to be so, is dropped.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use super::{Coordinator, CoordinatorAction, Stage};
use crate::exclusive::configuration::{Settling, Votes};
use crate::exclusive::grant::{Accepted, Content, Name};
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
    Reading(Page),
    /// All names are known.
    Done,
}

/// What voters hold of the names after one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Page {
    after: Option<Name>,
    votes: Votes,
    held: BTreeMap<(NodeId, StoreId), BTreeMap<Name, Accepted>>,
    /// Up to where everything was told by all who hold more.
    up_to: Option<Name>,
}

impl Coordinator {
    /// An agent does not know which names there are.
    pub(super) fn wish_list(&mut self, from: NodeId, after: Option<Name>) {
        match self.survey {
            _ if !self.is_ready() => {}
            Survey::NotBegun => {
                self.survey = Survey::Reading(Page::default());
                self.ask_survey();
            }
            Survey::Reading(_) => {}
            Survey::Done => self.list(from, after),
        }
    }

    /// Whether it is known which names there are.
    pub(super) fn is_surveyed(&self) -> bool {
        self.survey == Survey::Done
    }

    /// Whether voters have yet to tell something.
    pub(super) fn is_surveying(&self) -> bool {
        matches!(self.survey, Survey::Reading(_))
    }

    /// Asks whoever has not told the present page.
    pub(super) fn ask_survey(&mut self) {
        let (Survey::Reading(page), Some(ballot)) = (&self.survey, self.ballot()) else { return };
        let (ask, votes) = (Ask::Holdings { ballot, after: page.after.clone() }, page.votes.clone());
        self.ask_voters(&ask, &votes);
    }

    pub(super) fn survey_heard(&mut self, now: Time, voter: (NodeId, StoreId), answer: &Answer) {
        let (Survey::Reading(page), Stage::Ready { ballot, electorate }) = (&mut self.survey, &self.stage)
        else {
            return;
        };
        let Answer::Holdings { ballot: of, after, held, more } = answer else { return };
        if (of, after) != (&**ballot, &page.after) {
            return;
        }
        page.add(voter, held, *more);
        let all = electorate.by().asked().len();
        if electorate.by().is_enough(&page.votes) {
            let (ballot, page) = (Arc::clone(ballot), core::mem::take(page));
            self.survey = match &page.up_to {
                Some(up_to) => Survey::Reading(Page { after: Some(up_to.clone()), ..Page::default() }),
                None => Survey::Done,
            };
            self.found(now, &ballot, page, all);
            self.ask_survey();
        }
    }

    /// As if each name had been read by itself.
    fn found(&mut self, now: Time, ballot: &Arc<Ballot>, page: Page, voters: usize) {
        for name in page.names() {
            if !self.takes(&name) {
                continue;
            }
            self.drop_deleted(**ballot, &name, &page, voters);
            let Stage::Ready { electorate, .. } = &self.stage else { return };
            let Some(contest) = self.contests.get_mut(&name) else { continue };
            let register = contest.register.get_or_insert_with(|| Register::read(ballot, name.clone()));
            let mut read = false;
            for ((voter, store), held) in &page.held {
                let accepted = held.get(&name).cloned();
                let answer = Answer::Holds { ballot: **ballot, name: name.clone(), accepted };
                read |= register.heard(electorate.by(), *voter, *store, &answer);
            }
            if read {
                self.busy.remove(&name);
                self.tell(&name);
            }
            self.doubtful.insert(name.clone());
            self.attention.insert(name);
        }
        self.give_attention(now);
    }

    /// All voters know that it was deleted, in an earlier ballot: none of them needs to know it any longer.
    fn drop_deleted(&mut self, ballot: Ballot, name: &Name, page: &Page, voters: usize) {
        let Stage::Ready { electorate, .. } = &self.stage else { return };
        let told: BTreeSet<_> = page.held.values().map(|held| held.get(name)).collect();
        let deleted = match told.first() {
            Some(Some(Accepted { stamp, content: Content::Deleted })) if told.len() == 1 => Some(*stamp),
            _ => None,
        };
        let is_settled = electorate.by().settling == Settling::Done;
        if let Some(stamp) = deleted.filter(|stamp| stamp.ballot < ballot)
            && is_settled
            && page.held.len() == voters
        {
            let ask = Ask::Drop { ballot, name: name.clone(), stamp };
            self.ask_voters(&ask, &Votes::default());
        }
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

    fn names(&self) -> BTreeSet<Name> {
        let within = |name: &&Name| self.up_to.as_ref().is_none_or(|up_to| *name <= up_to);
        self.held.values().flat_map(BTreeMap::keys).filter(within).cloned().collect()
    }
}
