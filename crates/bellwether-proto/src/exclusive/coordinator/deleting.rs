//! How a name is forgotten: no token of it is ever used again, whoever remembers it.
//!
//! ```text
//!   nobody holds it or waits for it ──► the floor is raised to its token ──► it is written as deleted ──► … a later ballot: all voters
//!                                                                                                       know, and drop it
//! ```
//!
//! How it is dropped is in `dropping.rs`. A name that is not known begins above the floor, and nothing of it begins before the floor is known in this ballot.

use alloc::boxed::Box;

use super::{Coordinator, CoordinatorAction, Stage};
use crate::exclusive::contest::Deletion;
use crate::exclusive::grant::{Content, Name, Token};
use crate::exclusive::ident::{Life, StoreId};
use crate::exclusive::message::{Answer, Telling, Undeleted};
use crate::exclusive::register::Register;
use crate::ident::NodeId;
use crate::time::Time;

impl Coordinator {
    /// An agent wants a name to be forgotten. What is not known of it is read first.
    pub(super) fn wish_deletion(&mut self, now: Time, from: NodeId, (by, no): (Life, u64), name: Name) {
        if by.node != from || !self.is_ready() || name == Name::leader() || !self.takes(&name) {
            return;
        }
        let asked = Deletion { by, no };
        let Some(contest) = self.contests.get_mut(&name) else { return };
        if contest.deleted.as_deref() == Some(&asked) {
            return self.answer_deletion(asked, Ok(()));
        }
        contest.deletion = Some(Box::new(asked));
        self.advance(now, &name);
    }

    /// Above what all tokens begin, if it is known.
    pub(super) fn floor(&self) -> Option<Token> {
        let Stage::Ready { electorate, .. } = &self.stage else { return None };
        let (content, _) = self.floor.as_ref()?.content()?;
        let floor = match content {
            Some(Content::Floor(floor)) => *floor,
            Some(Content::Grant(_) | Content::Configuration(_) | Content::Deleted) | None => Token::default(),
        };
        Some(floor.max(electorate.by().floor))
    }

    /// What is under way for the floor is asked for, or asked for again.
    pub(super) fn ask_floor(&mut self) {
        if let Some((ask, votes)) = self.floor.as_ref().and_then(Register::asks) {
            let votes = votes.clone();
            self.ask_voters(&ask, &votes);
        }
    }

    /// Whether voters have yet to answer something about the floor that somebody waits for.
    pub(super) fn awaits_floor(&self) -> bool {
        self.floor.as_ref().is_some_and(|floor| floor.asks().is_some())
    }

    pub(super) fn floor_heard(&mut self, now: Time, (voter, store): (NodeId, StoreId), answer: &Answer) {
        let (Stage::Ready { electorate, .. }, Some(floor)) = (&self.stage, &mut self.floor) else { return };
        if floor.heard(electorate.by(), voter, store, answer) {
            self.attention.append(&mut self.below);
            self.go_on(now);
        }
    }

    /// Nobody wants it: the floor is raised first, and that is decided.
    pub(super) fn delete(&mut self, name: &Name) {
        let token = self.contests.get(name).and_then(|contest| contest.grant()).map(|(grant, _)| grant.token);
        let (token, floor) = (token.unwrap_or_default(), self.floor());
        let is_decided = self.floor.as_ref().is_some_and(|floor| {
            floor.content().is_some_and(|(content, decided)| content.is_none() || decided.is_some())
        });
        match (&mut self.floor, floor) {
            (_, Some(floor)) if is_decided && floor >= token => return self.write(name, Content::Deleted),
            (Some(register), Some(floor)) => {
                register.write(Content::Floor(floor.max(token)));
                self.ask_floor();
            }
            _ => {}
        }
        self.below.insert(name.clone());
    }

    /// It is not forgotten.
    pub(super) fn keep(&mut self, name: &Name, why: Undeleted) {
        let Some(contest) = self.contests.get_mut(name) else { return };
        if let Some(asked) = contest.deletion.take() {
            self.answer_deletion(*asked, Err(why));
        }
    }

    /// It is forgotten, and that is decided.
    pub(super) fn deleted(&mut self, name: &Name) {
        let Some(contest) = self.contests.get_mut(name) else { return };
        if let Some(asked) = contest.deletion.take() {
            contest.deleted = Some(asked.clone());
            self.answer_deletion(*asked, Ok(()));
        }
    }

    fn answer_deletion(&mut self, Deletion { by, no }: Deletion, outcome: Result<(), Undeleted>) {
        self.actions.push(CoordinatorAction::Answer(by.node, Telling::Deleted { to: by, no, outcome }));
    }
}
