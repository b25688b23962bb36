//! Who holds a name, told to all, and again to whoever seems not to know.

use alloc::vec::Vec;

use super::{Coordinator, CoordinatorAction};
use crate::exclusive::contest::Contest;
use crate::exclusive::grant::{Holder, Name, Token};
use crate::exclusive::message::{Telling, Wish};

/// What whoever wishes something believes.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    Waits,
    Holds(Holder, Token),
    GivesBack(Holder),
}

impl Asker {
    pub(super) fn of(wish: &Wish) -> Self {
        match wish {
            Wish::Campaign { holds: None, .. } => Self::Waits,
            Wish::Campaign { holder, holds: Some(token), .. } => Self::Holds(*holder, *token),
            Wish::Release { holder, .. } => Self::GivesBack(*holder),
            Wish::Change { .. } => Self::Waits,
        }
    }
}

impl Coordinator {
    /// What the cluster's own leadership is like, and whatever its holder seems not to know of.
    pub(super) fn tell_again(&mut self) {
        let unclaimed = self.contests.iter_mut().filter_map(|(name, contest)| {
            let told = contest.is_unclaimed() || *name == Name::leader();
            told.then(|| name.clone())
        });
        let unclaimed: Vec<Name> = unclaimed.collect();
        unclaimed.iter().for_each(|name| self.tell(name));
    }

    /// Whoever believes to hold what it does not, or gives back what it has not any more, was not told.
    pub(super) fn tell_asker(&mut self, name: &Name, asker: Asker) {
        let Some((grant, Some(_))) = self.contests.get(name).and_then(Contest::grant) else { return };
        let is_wrong = match asker {
            Asker::Waits => false,
            Asker::Holds(holder, token) => (grant.holder, grant.token) != (Some(holder), token),
            Asker::GivesBack(holder) => grant.holder != Some(holder),
        };
        if is_wrong {
            self.tell(name);
        }
    }

    /// Tells all who holds a name, if that is decided.
    pub(super) fn tell(&mut self, name: &Name) {
        let Some(contest) = self.contests.get(name) else { return };
        let Some((grant, Some(stamp))) = contest.grant() else { return };
        let (name, grant, waiting) = (name.clone(), grant.clone(), contest.waiting());
        let telling = Telling::Held { name, stamp, grant, waiting };
        self.actions.push(CoordinatorAction::Tell(telling));
    }
}
