//! Who holds a name, told to all, and again to whoever seems not to know.

use alloc::vec::Vec;

use super::{Coordinator, CoordinatorAction};
use crate::digest::fnv1a;
use crate::exclusive::contest::Contest;
use crate::exclusive::grant::{Content, Holder, Name, Token};
use crate::exclusive::ident::Stamp;
use crate::exclusive::message::{Telling, Wish};
use crate::exclusive::register::Register;
use crate::ident::NodeId;
use crate::time::Time;

/// No more holders are told again at once.
const AGAIN_MAX: usize = 512;

/// What whoever wishes something believes.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    Waits(Holder),
    Holds(Holder, Token),
    GivesBack(Holder),
    Wants,
}

impl Asker {
    pub(super) fn of(wish: &Wish) -> Self {
        match wish {
            Wish::Campaign { holder, holds: None, .. } => Self::Waits(*holder),
            Wish::Campaign { holder, holds: Some(token), .. } => Self::Holds(*holder, *token),
            Wish::Release { holder, .. } => Self::GivesBack(*holder),
            Wish::Adopt { .. }
            | Wish::Proclaim { .. }
            | Wish::Change { .. }
            | Wish::Present { .. }
            | Wish::Delete { .. }
            | Wish::Settle { .. }
            | Wish::List { .. } => Self::Wants,
        }
    }
}

/// What all names that were told add up to has this of each.
pub(in crate::exclusive) fn census_mark(name: &Name, stamp: Stamp) -> u64 {
    let Stamp { ballot, write } = stamp;
    let numbers = [ballot.round, u64::from(ballot.of.node.0), ballot.of.incarnation.0, write];
    let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
    fnv1a(name.as_str().bytes().chain([0]).chain(numbers))
}

impl Coordinator {
    /// What the cluster's own leadership is like, and whatever its holder seems not to know of.
    pub(super) fn tell_again(&mut self, now: Time) {
        let unclaimed = self.repeated.iter().filter(|name| **name != Name::leader());
        let unclaimed: Vec<Name> = unclaimed.cloned().collect();
        for name in unclaimed {
            if self.contests.get_mut(&name).is_some_and(|contest| contest.is_unclaimed()) {
                self.tell(&name);
            }
            self.give_way(&name);
        }
        // Whether it is claimed is looked at all the same: what was claimed before does not count.
        self.contests.get_mut(&Name::leader()).map(|contest| contest.is_unclaimed());
        self.tell(&Name::leader());
        self.give_way(&Name::leader());
        self.tell_holders_again();
        self.tell_counts_again();
        self.drop_again(now);
        if self.is_surveyed() && self.census_at <= now {
            self.census_at = now + self.terms.ttl;
            self.actions.push(CoordinatorAction::Tell(Telling::Census { digest: self.census }));
        }
    }

    /// An agent that holds a name for itself gives way to a session.
    fn give_way(&mut self, name: &Name) {
        let contest = self.contests.get(name);
        let wanted = contest.and_then(|contest| contest.gives_way(|candidate| self.is_valid(candidate)));
        if let Some((holder, token, by)) = wanted {
            let wanted = Telling::Wanted { name: name.clone(), token, by };
            self.actions.push(CoordinatorAction::Answer(holder.lease.life.node, wanted));
        }
    }

    /// Sessions that hold something, and have not said that they know.
    fn tell_holders_again(&mut self) {
        let untold: Vec<Name> = self.untold.iter().take(AGAIN_MAX).cloned().collect();
        for name in untold {
            let contest = self.contests.get(&name).filter(|contest| contest.is_untold());
            match contest.and_then(|contest| contest.telling(&name).zip(contest.holder())) {
                Some((telling, holder)) => {
                    self.actions.push(CoordinatorAction::Answer(holder.lease.life.node, telling));
                }
                None => {
                    self.untold.remove(&name);
                }
            }
        }
    }

    /// Somebody began or ceased to wait for a name. What the cluster's own leadership is like is told again anyway.
    pub(super) fn recount(&mut self, name: &Name) {
        if *name != Name::leader() {
            self.recounted.insert(name.clone());
        }
    }

    /// How many wait for a name, if that is another number than what was told. Not at once: thousands may come and go.
    fn tell_counts_again(&mut self) {
        for _ in 0..AGAIN_MAX {
            let Some(name) = self.recounted.pop_first() else { return };
            let contest = self.contests.get(&name);
            if contest.is_some_and(|contest| contest.told != 0 && contest.told_waiting != contest.waiting()) {
                self.tell(&name);
            }
        }
    }

    /// Whoever believes to hold what it does not, or gives back what it has not any more, was not told.
    pub(super) fn tell_asker(&mut self, name: &Name, from: NodeId, asker: Asker) {
        let Some(contest) = self.contests.get(name) else { return };
        if let Asker::Waits(holder) = asker {
            return self.tell_place(name, from, holder);
        }
        let Some(register) = &contest.register else { return };
        let (grant, is_nothing) = match register.content() {
            Some((Some(Content::Grant(grant)), Some(_))) => (Some(grant), false),
            Some((None | Some(Content::Deleted), _)) => (None, true),
            _ => return,
        };
        let holds = grant.and_then(|grant| Some((grant.holder?, grant.token)));
        let is_wrong = match asker {
            Asker::Waits(_) | Asker::Wants => false,
            Asker::Holds(holder, token) => holds != Some((holder, token)),
            Asker::GivesBack(holder) => holds.is_none_or(|(held, _)| held != holder),
        };
        if !is_wrong {
            return;
        }
        if is_nothing {
            let stamp = Stamp { ballot: register.ballot(), write: 0 };
            let gone = Telling::Gone { name: name.clone(), stamp };
            return self.actions.push(CoordinatorAction::Answer(from, gone));
        }
        let telling = contest.telling(name);
        self.actions.extend(telling.map(|telling| CoordinatorAction::Answer(from, telling)));
    }

    /// How many go before a session that waits; or that it waits in vain; or that it holds the name, until it says that it knows.
    fn tell_place(&mut self, name: &Name, from: NodeId, holder: Holder) {
        let Some(contest) = self.contests.get(name).filter(|_| holder.session != super::OWN) else { return };
        if contest.is_untold() && contest.holder() == Some(holder) {
            let telling = contest.telling(name);
            self.untold.insert(name.clone());
            return self.actions.extend(telling.map(|telling| CoordinatorAction::Answer(from, telling)));
        }
        let kind = contest.grant().map(|(grant, _)| grant.kind);
        let said = contest.said_by(from, holder.session).filter(|said| said.holder == holder);
        let Some(said) = said else { return };
        if let Some(kind) = kind.filter(|kind| *kind != said.kind) {
            let unfit = Telling::Unfit { name: name.clone(), holder, kind };
            return self.actions.push(CoordinatorAction::Answer(from, unfit));
        }
        let queued =
            contest.before(holder).map(|before| Telling::Queued { name: name.clone(), holder, before });
        self.actions.extend(queued.map(|queued| CoordinatorAction::Answer(from, queued)));
    }

    /// Tells all who holds a name, or that there is none, if that is decided; and the first of those that wait, how many go before.
    pub(super) fn tell(&mut self, name: &Name) {
        let Some(contest) = self.contests.get_mut(name) else { return };
        let Some((content, Some(stamp))) = contest.register.as_ref().and_then(Register::content) else {
            return;
        };
        let (before, mark) = (contest.told, census_mark(name, stamp));
        match content {
            Some(Content::Grant(_)) => {
                (contest.told, contest.told_waiting) = (mark, contest.waiting());
                self.census = self.census.wrapping_sub(before).wrapping_add(mark);
                let telling = contest.telling(name);
                self.actions.extend(telling.map(CoordinatorAction::Tell));
                if contest.is_untold() {
                    self.untold.insert(name.clone());
                }
                if before != mark {
                    self.tell_places(name);
                }
            }
            Some(Content::Deleted) => {
                contest.told = 0;
                self.census = self.census.wrapping_sub(before);
                self.actions.push(CoordinatorAction::Tell(Telling::Gone { name: name.clone(), stamp }));
                self.deleted(name);
            }
            Some(Content::Configuration(_) | Content::Floor(_)) | None => {}
        }
    }

    pub(super) fn tell_places(&mut self, name: &Name) {
        let Some(contest) = self.contests.get(name) else { return };
        let places = contest.places().filter(|(holder, _)| holder.session != super::OWN);
        let queued = |(holder, before)| {
            CoordinatorAction::Answer(
                Holder::node(&holder),
                Telling::Queued { name: name.clone(), holder, before },
            )
        };
        let queued: Vec<CoordinatorAction> = places.map(queued).collect();
        self.actions.extend(queued);
    }
}

impl Contest {
    /// Who holds it, if that is decided.
    pub(super) fn telling(&self, name: &Name) -> Option<Telling> {
        let (grant, Some(stamp)) = self.grant()? else { return None };
        Some(Telling::Held { name: name.clone(), stamp, grant: grant.clone(), waiting: self.waiting() })
    }

    fn holder(&self) -> Option<Holder> {
        self.grant().and_then(|(grant, _)| grant.holder)
    }
}
