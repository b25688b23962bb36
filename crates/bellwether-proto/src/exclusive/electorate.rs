//! The voters, as the coordinator of a ballot counts them.
//!
//! Before anything else is touched in a ballot, the configuration is decided in it, or known to be decided. Then it may change, one
//! voter at a time. What changes the voters counts from when it is proposed: a majority of those before it is needed all the same.
//! What settles a change counts only when it is decided.

use alloc::sync::Arc;

use super::configuration::{Configuration, Settling, Votes};
use super::grant::{Content, Name};
use super::ident::{Ballot, Stamp, StoreId};
use super::message::{Answer, Ask};
use super::register::Register;
use super::sweep::Sweep;
use crate::ident::NodeId;

/// Who votes, in one ballot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Electorate {
    register: Register,
    /// Whatever counts, counts by this.
    by: Configuration,
    /// What is being written.
    next: Option<Configuration>,
    /// When the last was decided.
    decided: Option<Stamp>,
    /// What is left to do before the next change.
    pub(super) sweep: Option<Sweep>,
}

impl Electorate {
    /// A majority has shown that this is decided.
    pub fn decided(ballot: Ballot, stamp: Stamp, by: Configuration) -> Self {
        let content = Content::Configuration(Arc::new(by.clone()));
        let register = Register::known(ballot, Name::configuration(), Some(content), Some(stamp));
        Self { register, by, next: None, decided: Some(stamp), sweep: None }
    }

    /// Perhaps it is decided: it is written again.
    pub fn again(ballot: Ballot, by: Configuration) -> Self {
        let register = Register::known(ballot, Name::configuration(), None, None);
        let mut electorate = Self { register, by: by.clone(), next: None, decided: None, sweep: None };
        electorate.write(by);
        electorate
    }

    /// What counts.
    pub fn by(&self) -> &Configuration {
        &self.by
    }

    /// The configuration in force, and when it was written; `None` while another is written.
    pub fn in_force(&self) -> Option<(Stamp, &Configuration)> {
        let stamp = self.decided.filter(|_| self.next.is_none())?;
        Some((stamp, &self.by))
    }

    /// Begins to write the next.
    pub fn write(&mut self, next: Configuration) {
        self.register.write(Content::Configuration(Arc::new(next.clone())));
        if next.settling != Settling::Done || self.by.is_founding() {
            self.by = next.clone();
        }
        self.sweep = None;
        self.next = Some(next);
    }

    /// What to ask voters for, and who has answered it.
    pub fn asks(&self) -> Option<(Ask, &Votes)> {
        self.register.asks()
    }

    /// A voter answers. Whether what was written is decided now.
    #[must_use]
    pub fn heard(&mut self, voter: NodeId, store: StoreId, answer: &Answer) -> bool {
        if !self.register.heard(&self.by, voter, store, answer) {
            return false;
        }
        self.by = self.next.take().unwrap_or_else(|| self.by.clone());
        self.decided = self.register.content().and_then(|(_, decided)| decided);
        true
    }
}
