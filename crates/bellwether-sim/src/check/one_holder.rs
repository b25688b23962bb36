//! ONE-HOLDER: at no instant do two holders have a grant that is valid.
//!
//! A holder may act from when it is told so until the deadline that it was told, unless its process has ended before, or it has
//! announced that it does not lead. That a process is stopped changes nothing: it may go on at any time.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct OneHolder {
    /// Who may act, with which token, and until when.
    valid: BTreeMap<NodeId, (u64, Time)>,
    judged: bool,
    violation: Option<Violation>,
}

impl OneHolder {
    fn may_act(&mut self, at: Time, node: NodeId, token: u64, until: Time) {
        if until == Time::NEVER || until <= at {
            return;
        }
        self.judged = true;
        let other = self.valid.iter().find(|(other, (_, until))| **other != node && *until > at);
        if let Some((other, (held, last))) = other {
            let what = format!("{node} may act with token {token}, and {other} may with {held} until {last}");
            self.violation.get_or_insert(Violation { at, what });
        }
        self.valid.insert(node, (token, until));
    }
}

impl Checker for OneHolder {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Program(Program::Valid { epoch, until }) => self.may_act(at, node, epoch, until),
            What::Crash => drop(self.valid.remove(&node)),
            What::Node(Event::Announced(announced)) if announced.leader != Some(node) => {
                self.valid.remove(&node);
            }
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}
