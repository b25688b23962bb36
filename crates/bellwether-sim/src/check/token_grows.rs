//! TOKEN-GROWS: every grant has a token larger than all grants before it.
//!
//! A coordinator learns that something is decided when a majority has accepted it, and may learn it late. What is decided first has
//! the earlier ballot and write, so that is the order in which tokens must grow. No clock has a part in it.

use std::collections::BTreeMap;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};

/// The order in which grants are decided: the round of a ballot, whose it is, and which of its writes it was.
type Stamp = (u64, NodeId, Incarnation, u64);

/// A token, and who holds it.
type Grant = (u64, Option<NodeId>);

#[derive(Default)]
pub(super) struct TokenGrows {
    decided: BTreeMap<Stamp, Grant>,
    /// The last token that each node held.
    held: BTreeMap<NodeId, u64>,
    violation: Option<Violation>,
}

impl TokenGrows {
    fn decide(&mut self, at: Time, stamp: Stamp, grant: Grant) {
        let before = self.decided.range(..stamp).next_back().map(|(_, grant)| *grant);
        let after = self.decided.range(stamp..).find(|(known, _)| **known > stamp).map(|(_, grant)| *grant);
        let same = self.decided.insert(stamp, grant).filter(|known| *known != grant);
        let wrong = match same {
            Some(known) => Some(format!("one write granted {} and {}", shown(known), shown(grant))),
            None => before
                .and_then(|before| shrinks(before, grant))
                .or(after.and_then(|after| shrinks(grant, after))),
        };
        if let Some(what) = wrong {
            self.violation.get_or_insert(Violation { at, what });
        }
    }

    fn holds(&mut self, at: Time, node: NodeId, token: u64) {
        let before = self.held.insert(node, token).filter(|before| *before > token);
        if let Some(before) = before {
            let what = format!("{node} holds token {token}, and held {before} before");
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

impl Checker for TokenGrows {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Granted { token, to, round, by, of, write }) => {
                self.decide(event.at, (round, by, of, write), (token, to));
            }
            What::Program(Program::Valid { epoch, .. }) => self.holds(event.at, event.node, epoch),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.decided.is_empty() || !self.held.is_empty(), self.violation)
    }
}

/// What is wrong if the second grant is the next one decided after the first.
fn shrinks(first: Grant, second: Grant) -> Option<String> {
    let ((token, holder), (next, to)) = (first, second);
    let changes = to.is_some() && to != holder;
    (next < token || changes && next == token)
        .then(|| format!("{} is followed by {}", shown(first), shown(second)))
}

fn shown((token, holder): Grant) -> String {
    match holder {
        Some(holder) => format!("token {token} of {holder}"),
        None => format!("token {token} of nobody"),
    }
}
