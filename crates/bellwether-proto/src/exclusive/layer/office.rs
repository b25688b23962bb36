//! What the release of leadership asks of exclusive leadership.

use super::Exclusive;
use crate::ident::NodeId;
use crate::leadership::{Office, Reluctance};
use crate::time::{Span, Time};

impl Office for Exclusive {
    fn is_aside(&self) -> bool {
        self.aside.is_some()
    }

    fn may_hand_over(&self, _: Time, to: NodeId) -> Result<(), Reluctance> {
        match to {
            _ if !self.leads() => Err(Reluctance::NotLeading),
            // To one of its own sessions.
            to if to == self.me.node && self.gives_way == Some(to) => Ok(()),
            to if to == self.me.node => Err(Reluctance::LeadsAlready),
            to if self.config.witnesses.contains(&to) => Err(Reluctance::StandsAside),
            to if !self.reached.contains(&to) => Err(Reluctance::NotConnected),
            _ => Ok(()),
        }
    }

    /// Priorities order those who wait. They move nobody who leads.
    fn preferred(&self, _: Time) -> Option<NodeId> {
        None
    }

    /// As far as the coordinator told.
    fn has_successor(&self) -> bool {
        let mine = |node: NodeId| node == self.me.node;
        self.seen.as_ref().is_some_and(|seen| {
            seen.waiting > 0 || seen.grant.holder.is_some_and(|holder| !mine(holder.lease.life.node))
        })
    }

    fn is_alone(&self) -> bool {
        self.reached.is_empty()
    }

    fn settling_time(&self) -> Span {
        self.config.terms.ttl
    }

    fn largest_epoch(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.grant.token.0)
    }
}
