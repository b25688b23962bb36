//! Complete and accurate by construction: the simulator tells the truth, the detector passes it on after its
//! latency. Stoller's synchronous algorithm asks for such a detector, and only a simulator can provide it.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::{DetectorConfig, DetectorMsg, Scope};
use crate::canonical::Form;
use crate::detector::watch::Watches;
use crate::ident::Incarnation;
use crate::time::Time;

#[derive(Clone, Debug)]
pub(super) struct Perfect {
    /// By rank: whether that peer is down.
    down: Vec<bool>,
}

impl Perfect {
    pub(super) fn new(size: usize) -> Self {
        Self { down: vec![false; size] }
    }

    pub(super) fn start(&self, rank: usize, scope: &mut Scope<'_>) {
        let deadline = if self.down[rank] { scope.now + scope.config.period } else { Time::NEVER };
        scope.watches.arm(rank, deadline);
    }

    /// A peer that comes back before it was reported: the paper's detector may keep silent about it (the `up`
    /// disjunct of its completeness), and then a node that waits for an answer that died with the peer waits for
    /// ever (E-ST5). The repaired detector reports what is still true: it was down.
    pub(super) fn told(
        &mut self,
        now: Time,
        rank: usize,
        alive: bool,
        config: &DetectorConfig,
        watches: &mut Watches,
    ) {
        let was_down = mem::replace(&mut self.down[rank], !alive);
        if !watches.is_armed(rank) || was_down != alive {
            return;
        }
        let deadline = match alive {
            false => now + config.period,
            true if config.reports_new_incarnations => now,
            true => Time::NEVER,
        };
        watches.set_deadline(rank, deadline);
    }

    pub(super) fn stop(&self, _: usize, _: &mut Scope<'_>) {}

    pub(super) fn probe(&self, _: usize, _: &mut Scope<'_>) {}

    pub(super) fn silent(&self, _: usize, _: &mut Scope<'_>) -> bool {
        true
    }

    pub(super) fn handle(&self, _: usize, _: Incarnation, _: DetectorMsg, _: &mut Scope<'_>) {}

    pub(super) fn wake(&self, _: &mut Scope<'_>) {}

    pub(super) fn canonical(&self, form: &mut Form) {
        self.down.iter().for_each(|down| form.number(u64::from(*down)));
    }
}
