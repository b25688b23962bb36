//! The state of the layer as a search and an assertion see it.

use super::{Awaits, Leadership, POLL_PERIODS, Role};
use crate::canonical::Form;
use crate::time::{Span, Time};

impl Leadership {
    /// What must be true of every state.
    pub(crate) fn breach(&self) -> Option<&'static str> {
        let shows_itself = self.shown.filter(|(leader, _)| *leader == self.me).map(|(_, epoch)| epoch);
        let (leads, stands) = match &self.role {
            Role::Leading { epoch, .. } => (Some(*epoch), true),
            Role::Claiming { .. } => (None, true),
            Role::Following | Role::Aside => (None, false),
        };
        if leads != shows_itself {
            return Some("a node announces itself while it leads, with the epoch that it leads with");
        }
        if stands && self.named != Some(self.me) {
            return Some("only a node that its election names claims or leads");
        }
        if leads.is_some() && self.bar().is_some() {
            return Some("a node that is barred does not lead");
        }
        if self.shown.is_some_and(|(_, epoch)| epoch > self.epochs.on_disk()) {
            return Some("an epoch is on disk before it is shown");
        }
        match &self.role {
            Role::Claiming { missing, .. }
                if missing.iter().any(|peer| self.connected.get(*peer).is_none()) =>
            {
                Some("only connected members are waited for")
            }
            _ => None,
        }
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        self.epochs.canonical(form);
        form.deadline(now, self.earliest);
        form.other(self.me, self.round);
        form.option(self.named, Form::node);
        form.option(self.shown, |form, (leader, epoch)| {
            form.node(leader);
            form.epoch(epoch);
        });
        form.deadline(now, self.deadline());
        match &self.role {
            Role::Following => form.number(0),
            Role::Claiming { missing, awaits, latest, epoch, keepers } => {
                form.number(1);
                form.number(match awaits {
                    Awaits::Answers(_) => 0,
                    Awaits::Disk => 1,
                    Awaits::Permission => 2,
                });
                form.deadline(now, *latest);
                form.epoch(*epoch);
                form.number(keepers.len() as u64);
                keepers.iter().for_each(|id| form.node(*id));
                form.number(missing.len() as u64);
                missing.iter().for_each(|id| form.node(*id));
            }
            Role::Leading { epoch, since, outdone, .. } => {
                form.number(2);
                form.epoch(*epoch);
                form.deadline(now, *since + self.config.period);
                form.number(u64::from(*outdone));
            }
            Role::Aside => form.number(3),
        }
        // Why the leader of before went is of no interest once there is another.
        let cause = self.shown.is_none().then_some(self.cause);
        for cause in [cause, self.farewell] {
            form.option(cause, |form, cause| cause.canonical(form));
        }
        self.connected.canonical(now, self.forgets(), self.config.preempt, form);
        form.suspicions(self.count);
        self.reception.canonical(form);
        self.sayings.canonical(now, self.patience(), form);
        self.rivals.canonical(now, self.grace(), form);
        form.number(self.told.len() as u64);
        for (who, rival) in &self.told {
            form.node(*who);
            form.node(rival.leader);
        }
        form.number(u64::from(self.followers));
        form.number(self.answered.len() as u64);
        self.answered.iter().for_each(|id| form.node(*id));
    }

    /// Whoever has been silent for longer than this might as well have been silent for ever.
    fn forgets(&self) -> Span {
        if self.is_aside() { self.config.period * (POLL_PERIODS * 2) } else { self.patience() }
    }
}
