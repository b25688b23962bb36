//! How a campaign stands, for whoever acts on it.

use std::sync::Arc;
use std::time::Duration;

use super::{GrantKind, Seated, State};
use crate::board::{Slot, is_by_store};
use crate::error::Expired;
use crate::shared::Shared;
use crate::uptime::Uptime;

/// A look at a campaign, as often as one likes. It looks at the clock, and holds nothing.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    pub(super) kind: GrantKind,
    pub(super) slot: Arc<Slot>,
    pub(super) shared: Arc<Shared>,
}

impl Sight {
    pub(crate) fn state(&self) -> State {
        self.slot.get()
    }

    /// Until when it may act, if it may now.
    pub(crate) fn valid_until(&self) -> Option<Duration> {
        let State::Held { .. } = self.state() else { return None };
        let until = match is_by_store(self.kind) {
            true => Duration::MAX,
            false => self.shared.elections.lease.borrow().valid_until?,
        };
        // Lost in between, and granted with another lease: then the first look was too early. The clock is looked at last.
        let held = matches!(self.state(), State::Held { .. });
        (held && self.uptime().now() < until && self.shared.is_awake()).then_some(until)
    }

    /// The clock that it looks at.
    pub(crate) fn uptime(&self) -> Uptime {
        self.shared.clock.uptime
    }

    /// The name is held by somebody for whom a member that leaves has to wait.
    pub(crate) fn sit(&self) -> Seated {
        Seated::new(Arc::clone(&self.shared))
    }

    /// Until when it may act with that token, if it may now.
    pub(crate) fn check(&self, token: u64) -> Result<Duration, Expired> {
        let is_held = || self.state() == State::Held { token };
        let until = is_held().then(|| self.valid_until()).flatten();
        until.filter(|_| is_held()).ok_or(Expired { epoch: token })
    }
}
