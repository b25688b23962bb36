//! What a member knows about epochs.

use crate::canonical::Form;
use crate::ident::NodeId;

#[derive(Clone, Copy, Debug)]
pub(super) struct Epochs {
    /// The largest seen.
    largest: u64,
    /// Whose it is; a node that has been restarted does not remember.
    of: Option<NodeId>,
    /// The epoch on stable storage, or about to be written. It is above the largest seen if the next epoch has
    /// been reserved.
    kept: u64,
    /// The epoch on stable storage.
    written: u64,
    /// Whether what is asked for is on stable storage only when that is said.
    behind: bool,
}

impl Epochs {
    pub(super) fn new(kept: u64) -> Self {
        Self { largest: kept, of: None, kept, written: kept, behind: false }
    }

    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    pub(super) fn of(&self) -> Option<NodeId> {
        self.of
    }

    /// Whether a peer's word that there is this epoch is to be believed. Leaderships are counted one by one; a jump beyond
    /// any count is a lie that would use up the counter.
    pub(super) fn may_reach(&self, epoch: u64) -> bool {
        epoch <= self.largest.saturating_add(1 << 32)
    }

    /// There is that epoch, of that leader or claimant, if it is known. Whoever does not remember whose its largest is does not take
    /// anybody's word for it: another may have used it as well.
    pub(super) fn see(&mut self, epoch: u64, of: Option<NodeId>) {
        if epoch > self.largest {
            (self.largest, self.of) = (epoch, of);
        }
    }

    /// A leader says itself that it has that epoch.
    pub(super) fn hear(&mut self, epoch: u64, leader: NodeId) {
        self.see(epoch, Some(leader));
        if epoch == self.largest {
            self.of = self.of.or(Some(leader));
        }
    }

    /// Whether no other leadership is known to have that epoch or a larger one.
    pub(super) fn is_latest(&self, leader: NodeId, epoch: u64) -> bool {
        epoch > self.largest || epoch == self.largest && self.of.is_none_or(|of| of == leader)
    }

    /// The epoch of a leadership of this node that begins now.
    pub(super) fn begin(&mut self, me: NodeId) -> u64 {
        (self.largest, self.of) = (self.largest.saturating_add(1), Some(me));
        self.largest
    }

    /// What stable storage must hold.
    pub(super) fn kept(&self) -> u64 {
        self.kept.max(self.largest)
    }

    /// Whether there is anything that stable storage must be asked to hold; it is taken to be asked.
    pub(super) fn keep(&mut self) -> bool {
        self.ask(self.largest)
    }

    /// The same for an epoch that will most likely begin, here or elsewhere. If nothing comes of it a number is left out, after a
    /// restart.
    pub(super) fn set_aside(&mut self, epoch: u64) -> bool {
        self.ask(epoch)
    }

    /// Whether the epoch that this node would begin now is on stable storage.
    pub(super) fn may_begin(&self) -> bool {
        self.largest < self.written
    }

    /// The next.
    pub(super) fn next(&self) -> u64 {
        self.largest.saturating_add(1)
    }

    /// What stable storage holds.
    pub(super) fn on_disk(&self) -> u64 {
        self.written
    }

    pub(super) fn write_behind(&mut self) {
        self.behind = true;
    }

    /// Stable storage holds that epoch.
    pub(super) fn written(&mut self, epoch: u64) {
        self.written = self.written.max(epoch);
    }

    fn ask(&mut self, epoch: u64) -> bool {
        let grows = epoch > self.kept;
        self.kept = self.kept.max(epoch);
        if !self.behind {
            self.written = self.kept;
        }
        grows
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.epoch(self.largest);
        form.option(self.of, Form::node);
        form.epoch(self.kept);
        form.epoch(self.written);
    }
}
