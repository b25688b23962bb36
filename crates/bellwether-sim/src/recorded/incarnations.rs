//! Starts and crashes of nodes, if a trace shows them only indirectly.
//!
//! A simulator records it. A live node at best records that it came up; that it crashed shows in the truth, or else when
//! its next incarnation begins. Several may report what happened to a node; it is kept once.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::trace::{TraceEvent, What};

/// The events, with crashes and recoveries added that they imply, and without repetitions.
pub(super) fn complete(events: Vec<TraceEvent>) -> Vec<TraceEvent> {
    let mut incarnations = Incarnations::default();
    let mut all = Vec::with_capacity(events.len());
    for event in events {
        incarnations.take(event, &mut all);
    }
    all
}

#[derive(Default)]
struct Incarnations {
    nodes: BTreeMap<NodeId, Seen>,
    cuts: BTreeSet<(NodeId, NodeId)>,
}

#[derive(Default)]
struct Seen {
    up: bool,
    paused: bool,
    /// The last incarnation that the node itself showed; `None` since it was said to have come up.
    shown: Option<Incarnation>,
}

impl Incarnations {
    fn take(&mut self, event: TraceEvent, all: &mut Vec<TraceEvent>) {
        let seen = self.nodes.entry(event.node).or_default();
        let news = match event.what {
            What::Crash => {
                seen.paused = false;
                std::mem::take(&mut seen.up)
            }
            What::Recover => return seen.recover(event, all),
            What::Pause => !std::mem::replace(&mut seen.paused, true),
            What::Resume => std::mem::take(&mut seen.paused),
            What::Cut(peer) => self.cuts.insert((event.node, peer)),
            What::Mend(peer) => self.cuts.remove(&(event.node, peer)),
            What::Slow(_) => true,
            What::Send(_)
            | What::Recv(..)
            | What::Late(_)
            | What::HeldUp(_)
            | What::Deadline
            | What::Persist(_)
            | What::Unlinked(_)
            | What::Program(_)
            | What::Node(_) => seen.acts(&event, all),
            // Not what the node does: its receiver may be down.
            What::Drop(..) => true,
        };
        if news {
            all.push(event);
        }
    }
}

impl Seen {
    /// It is said to have come up, by itself or by others.
    fn recover(&mut self, event: TraceEvent, all: &mut Vec<TraceEvent>) {
        if self.up {
            if self.shown.is_none_or(|shown| shown >= event.incarnation) {
                self.shown = self.shown.max(known(event.incarnation));
                return; // Somebody said so before.
            }
            all.push(TraceEvent { what: What::Crash, ..event });
        }
        self.up = true;
        self.shown = known(event.incarnation);
        all.push(event);
    }

    /// It does something, so it is up. Events of an incarnation that is over do not count.
    fn acts(&mut self, event: &TraceEvent, all: &mut Vec<TraceEvent>) -> bool {
        if !self.up {
            if self.shown.is_some_and(|shown| shown >= event.incarnation) {
                return false;
            }
            all.push(TraceEvent { what: What::Recover, ..*event });
            self.up = true;
        }
        self.shown = self.shown.max(known(event.incarnation));
        true
    }
}

/// An observer of a node may not know its incarnation, and says 0.
fn known(incarnation: Incarnation) -> Option<Incarnation> {
    (incarnation > Incarnation(0)).then_some(incarnation)
}
