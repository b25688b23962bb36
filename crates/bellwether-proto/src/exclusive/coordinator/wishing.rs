//! What agents want of names.

use alloc::boxed::Box;

use super::telling::Asker;
use super::{CONTESTS_MAX, Coordinator};
use crate::exclusive::campaigns::OWN;
use crate::exclusive::contest::Candidate;
use crate::exclusive::grant::Name;
use crate::exclusive::message::Wish;
use crate::ident::NodeId;
use crate::time::Time;

impl Coordinator {
    /// An agent wants something. That is kept even if this node is not nominated: others may know earlier that it is.
    pub fn wish(&mut self, now: Time, from: NodeId, wish: Wish) {
        match wish {
            Wish::Change { .. } => self.wish_change(now, from, wish),
            Wish::Present { lease, valid, digest } => self.present(now, from, lease, valid, digest),
            Wish::Delete { by, no, name } => self.wish_deletion(now, from, (by, no), name),
            Wish::Settle { name } => self.settle(now, name),
            Wish::List { after } => self.wish_list(from, after),
            Wish::Campaign { .. } | Wish::Release { .. } | Wish::Adopt { .. } | Wish::Proclaim { .. } => {
                self.wish_name(now, from, wish);
            }
        }
    }

    fn wish_name(&mut self, now: Time, from: NodeId, wish: Wish) {
        let (Wish::Campaign { name, holder, .. }
        | Wish::Release { name, holder, .. }
        | Wish::Adopt { name, holder, .. }
        | Wish::Proclaim { name, holder, .. }) = &wish
        else {
            return;
        };
        let (name, holder, asker) = (name.clone(), *holder, Asker::of(&wish));
        if holder.lease.life.node != from || !self.takes(&name) {
            return;
        }
        self.hear(now, holder.lease.life);
        if holder.session != OWN && !self.enrols(now, holder.lease, &wish) {
            return;
        }
        let Some(contest) = self.contests.get_mut(&name) else { return };
        match wish {
            Wish::Campaign { kind, waited, priority, valid, value, holds, .. } => {
                let (since, adopts) = (now - waited, contest.adopts(holder).map(Box::new));
                let candidate =
                    Candidate { holder, kind, since, priority, valid, value, heard: now, holds, adopts };
                match holds {
                    // It holds the name, and says so that it is known to be there.
                    Some(token) if holder.session == OWN => contest.claim(token),
                    _ => contest.stand(candidate),
                }
            }
            Wish::Release { token, next, .. } => contest.release(holder, token, next),
            Wish::Adopt { token, .. } => contest.adopt(holder, token),
            Wish::Proclaim { edition, value, .. } => contest.proclaim(holder, edition, value),
            Wish::Change { .. }
            | Wish::Present { .. }
            | Wish::Delete { .. }
            | Wish::Settle { .. }
            | Wish::List { .. } => {}
        }
        self.count_said(&name, holder);
        self.attention.insert(name.clone());
        if !self.is_ready() {
            return self.ask_if_free(now, from);
        }
        self.advance(now, &name);
        self.tell_asker(&name, from, asker);
        if matches!(asker, Asker::GivesBack(_)) {
            self.tell_places(&name);
        }
    }

    /// Somebody found no majority that agrees about that name.
    pub(super) fn settle(&mut self, now: Time, name: Name) {
        if self.is_ready() && self.takes(&name) {
            self.doubtful.insert(name.clone());
            self.advance(now, &name);
        }
    }

    /// Whether there is room for that name. It is kept from now on.
    pub(super) fn takes(&mut self, name: &Name) -> bool {
        if name.is_reserved() || self.contests.len() >= CONTESTS_MAX && !self.contests.contains_key(name) {
            return false;
        }
        self.contests.entry(name.clone()).or_default();
        true
    }
}
