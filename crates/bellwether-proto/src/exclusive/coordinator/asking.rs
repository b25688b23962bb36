//! Questions to the voters, repeated until they are answered.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Coordinator, CoordinatorAction, Stage};
use crate::exclusive::configuration::Votes;
use crate::exclusive::message::{Ask, Asked};
use crate::exclusive::register::Register;
use crate::ident::NodeId;

impl Coordinator {
    /// Asks again whoever has not answered.
    pub(super) fn repeat(&mut self) {
        self.rival = None;
        match &self.stage {
            Stage::Idle | Stage::Named => {}
            Stage::Preparing { ballot, promised, .. } => {
                let (ask, promised) = (Ask::Prepare { ballot: *ballot }, promised.clone());
                self.ask_voters(&ask, &promised);
            }
            Stage::Configuring { .. } => self.ask_configuration(),
            Stage::Ready { .. } => {
                self.ask_configuration();
                self.ask_sweep();
                self.ask_survey();
                self.ask_floor();
                let contests = self.busy.iter().filter_map(|name| self.contests.get(name));
                let registers = contests.filter_map(|contest| contest.register.as_ref());
                let asks = registers.filter_map(Register::asks).map(|(ask, votes)| (ask, votes.clone()));
                let asks: Vec<(Ask, Votes)> = asks.collect();
                asks.iter().for_each(|(ask, votes)| self.ask_voters(ask, votes));
            }
        }
    }

    pub(super) fn ask_configuration(&mut self) {
        let (Stage::Configuring { electorate, .. } | Stage::Ready { electorate, .. }) = &self.stage else {
            return;
        };
        if let Some((ask, votes)) = electorate.asks() {
            let votes = votes.clone();
            self.ask_voters(&ask, &votes);
        }
    }

    /// Those whose votes count. Before that is known, those of the file, and those that were heard of.
    pub(super) fn voters(&self) -> BTreeSet<NodeId> {
        match &self.stage {
            Stage::Configuring { electorate, .. } | Stage::Ready { electorate, .. } => {
                electorate.by().asked()
            }
            Stage::Idle | Stage::Named | Stage::Preparing { .. } => match &self.known {
                Some((_, known)) => known.asked(),
                None => self.listed.keys().copied().collect(),
            },
        }
    }

    /// Asks all voters that have not answered.
    pub(super) fn ask_voters(&mut self, ask: &Ask, answered: &Votes) {
        let by = self.me;
        let missing = self.voters().into_iter().filter(|voter| !answered.has(*voter));
        let asks = missing.map(|voter| CoordinatorAction::Ask(voter, Asked { by, ask: ask.clone() }));
        self.actions.extend(asks);
    }

    /// Whether voters have yet to answer something.
    pub(super) fn awaits_voters(&self) -> bool {
        match &self.stage {
            Stage::Ready { electorate, .. } => {
                electorate.asks().is_some()
                    || electorate.sweep.is_some()
                    || self.request.is_some()
                    || !self.busy.is_empty()
                    || self.is_surveying()
                    || self.awaits_floor()
            }
            _ => true,
        }
    }
}
