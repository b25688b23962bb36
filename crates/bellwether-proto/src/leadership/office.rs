//! What there is to know about leading, whichever layer sees to it.

use super::{Leadership, Reluctance};
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// A layer that makes leaders, as the release of leadership sees it.
pub(crate) trait Office {
    /// Whether this node does not stand.
    fn is_aside(&self) -> bool;
    /// Whether leadership could be handed to that member now.
    fn may_hand_over(&self, now: Time, to: NodeId) -> Result<(), Reluctance>;
    /// The member to which leadership should go, if one is preferred.
    fn preferred(&self, now: Time) -> Option<NodeId>;
    /// Whether anybody else could lead, as far as is known.
    fn has_successor(&self) -> bool;
    /// Whether nobody can be spoken with.
    fn is_alone(&self) -> bool;
    /// How long others may take to agree on who leads.
    fn settling_time(&self) -> Span;
    /// The largest epoch that this node has seen.
    fn largest_epoch(&self) -> u64;
}

impl Office for Leadership {
    fn is_aside(&self) -> bool {
        self.is_aside()
    }

    fn may_hand_over(&self, now: Time, to: NodeId) -> Result<(), Reluctance> {
        self.may_hand_over(now, to)
    }

    fn preferred(&self, now: Time) -> Option<NodeId> {
        self.preferred(now)
    }

    fn has_successor(&self) -> bool {
        self.connected.has_candidate()
    }

    fn is_alone(&self) -> bool {
        self.connected.ids().next().is_none()
    }

    fn settling_time(&self) -> Span {
        self.config.settle
    }

    fn largest_epoch(&self) -> u64 {
        self.epochs.largest()
    }
}
