//! What a node recorded just before it crashed.
//!
//! Whoever ended a node says when, by another clock, and a moment late or early. A node that records something has not crashed yet.
//! So a crash comes after all that the node recorded in that life, if the two are a moment apart. If they are further apart than clocks
//! of one place are, the truth stands: the node is taken for down, whatever it says.

use bellwether_proto::time::Span;
use bellwether_proto::trace::{TraceEvent, What};

use super::merge::befalls;

/// Clocks of those who record one run differ by this, at most. It is less than a process takes to start and to be heard of.
const APART: Span = Span::millis(100);

/// Puts crashes after the last words of whoever crashed. The events are in order of time, and stay so.
pub(super) fn heed(events: &mut [TraceEvent]) {
    let mut at = 0;
    while at < events.len() {
        match last_word(events, at) {
            Some(last) => {
                events[at].at = events[last].at;
                events[at..=last].rotate_left(1);
            }
            None => at += 1,
        }
    }
}

/// What the node recorded last in its life, if it is said to have crashed a moment before that.
fn last_word(events: &[TraceEvent], crash: usize) -> Option<usize> {
    let TraceEvent { node, at, what: What::Crash, .. } = events[crash] else { return None };
    let own = (crash + 1..events.len()).filter(|later| events[*later].node == node);
    let last = own
        .take_while(|later| events[*later].what != What::Recover)
        .filter(|later| acts(&events[*later].what))
        .last()?;
    (events[last].at.since(at) <= APART).then_some(last)
}

/// Whether a node that does this is up. A message may be lost because its receiver is down.
fn acts(what: &What) -> bool {
    !befalls(what) && !matches!(what, What::Drop(..))
}
