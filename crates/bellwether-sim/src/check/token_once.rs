//! TOKEN-ONCE: a token names one holder, in the whole run.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct TokenOnce {
    holders: BTreeMap<u64, NodeId>,
    violation: Option<Violation>,
}

impl TokenOnce {
    fn names(&mut self, at: Time, token: u64, holder: NodeId) {
        let first = *self.holders.entry(token).or_insert(holder);
        if first != holder {
            let what = format!("token {token} names {holder}, and named {first} before");
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

impl Checker for TokenOnce {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Granted { token, to: Some(to), .. }) => self.names(event.at, token, to),
            What::Program(Program::Valid { epoch, .. }) => self.names(event.at, epoch, event.node),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.holders.is_empty(), self.violation)
    }
}
