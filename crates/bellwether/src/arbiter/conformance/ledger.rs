//! Who was granted a name, and until when it was told that it may act.

use std::sync::Arc;
use std::time::Duration;

use crate::arbiter::{Campaign, Sight};
use crate::elections::State;

/// The grants of one name, in the order in which they were seen. All in one process, and so by one clock.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    token: u64,
    /// The holder, and the last that was told of its validity.
    holder: Option<(Arc<dyn Sight>, Option<Duration>)>,
}

impl Ledger {
    /// A campaign was seen to hold it.
    pub(super) fn grant(&mut self, token: u64, campaign: &dyn Campaign) {
        let now = campaign.sight().uptime().now();
        assert!(token > self.token, "a grant has token {token}, and one before had {}", self.token);
        if let Some((before, told)) = self.holder.take() {
            assert!(
                before.check(self.token).is_err(),
                "two may act at once, with {} and {token}",
                self.token
            );
            let is_given_back = before.state() != State::Held { token: self.token };
            let ended = is_given_back || told.is_none_or(|told| told <= now);
            assert!(ended, "token {token} was granted at {now:?}, and another was told {told:?}");
        }
        self.token = token;
        let sight = campaign.sight();
        let told = sight.check(token).ok();
        self.holder = Some((sight, told));
    }

    /// Whoever holds it is asked until when it may act.
    pub(super) fn look(&mut self) {
        if let Some((holder, told)) = &mut self.holder
            && let Ok(until) = holder.check(self.token)
        {
            *told = Some(until);
        }
    }

    pub(super) fn token(&self) -> u64 {
        self.token
    }
}
