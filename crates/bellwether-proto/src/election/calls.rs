//! Remote calls with ONTIMEOUT, as states (Garcia-Molina, Appendix I).
//!
//! `CALL p(j, …), ONTIMEOUT(T): stmt` sends a message and waits. Here the waiting is a value: what was called, of whom, and
//! until when. An answer, the timeout, or evidence that the callee is gone ends it; STOP ends all. An answer that comes after
//! that finds no call and is ignored.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::canonical::Form;
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::time::Time;

/// The number of a call: its caller, the caller's incarnation, and which of that incarnation's calls. The paper keeps the
/// counter in a safe cell; the incarnation is in one, and the rest may begin anew with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallNo(ElectionId);

impl CallNo {
    /// The number n of that caller and incarnation.
    pub fn new(caller: NodeId, incarnation: Incarnation, n: u64) -> Self {
        Self(ElectionId { node: caller, incarnation, seq: n })
    }

    /// Who called.
    pub fn caller(self) -> NodeId {
        self.0.node
    }

    pub(super) fn canonical(self, form: &mut Form) {
        form.call(self.0);
    }
}

/// The calls of one node that await their answers, in the order in which they were made.
#[derive(Clone, Debug)]
pub(super) struct Calls<P> {
    latest: CallNo,
    pending: Vec<Pending<P>>,
}

#[derive(Clone, Debug)]
struct Pending<P> {
    no: CallNo,
    callee: NodeId,
    procedure: P,
    due: Time,
}

impl<P: Clone> Calls<P> {
    pub(super) fn new(caller: NodeId, incarnation: Incarnation) -> Self {
        Self { latest: CallNo::new(caller, incarnation, 0), pending: Vec::new() }
    }

    /// A call of that procedure, which times out then. Its number goes with the message, and comes back with the answer.
    pub(super) fn call(&mut self, callee: NodeId, procedure: P, due: Time) -> CallNo {
        self.latest.0.seq += 1;
        self.pending.push(Pending { no: self.latest, callee, procedure, due });
        self.latest
    }

    /// What that answer is to, if it is awaited.
    pub(super) fn answered(&mut self, from: NodeId, no: CallNo) -> Option<P> {
        self.end(|call| call.no == no && call.callee == from).map(|(_, procedure)| procedure)
    }

    /// A call whose time is up, the earliest made first.
    pub(super) fn timed_out(&mut self, now: Time) -> Option<(NodeId, P)> {
        self.end(|call| call.due <= now)
    }

    /// A call of a peer that is known to be gone: it will not be answered.
    pub(super) fn gone(&mut self, peer: NodeId) -> Option<P> {
        self.end(|call| call.callee == peer).map(|(_, procedure)| procedure)
    }

    /// CALL STOP
    pub(super) fn stop(&mut self) {
        self.pending.clear();
    }

    /// Whether an answer of that peer is awaited.
    pub(super) fn awaits(&self, peer: NodeId) -> bool {
        self.pending.iter().any(|call| call.callee == peer)
    }

    /// Whether any call awaits its answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn deadline(&self) -> Time {
        self.pending.iter().map(|call| call.due).min().unwrap_or(Time::NEVER)
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form, mut procedure: impl FnMut(&P, &mut Form)) {
        self.latest.canonical(form);
        form.number(self.pending.len() as u64);
        for call in &self.pending {
            call.no.canonical(form);
            form.node(call.callee);
            form.deadline(now, call.due);
            procedure(&call.procedure, form);
        }
    }

    fn end(&mut self, which: impl Fn(&Pending<P>) -> bool) -> Option<(NodeId, P)> {
        let at = self.pending.iter().position(which)?;
        let Pending { callee, procedure, .. } = self.pending.remove(at);
        Some((callee, procedure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Time = Time::from_micros(20);

    fn calls() -> (Calls<&'static str>, CallNo, CallNo) {
        let mut calls = Calls::new(NodeId(1), Incarnation(1));
        let first = calls.call(NodeId(2), "Halt", T);
        let second = calls.call(NodeId(3), "Ready", Time::from_micros(10));
        (calls, first, second)
    }

    #[test]
    fn an_answer_ends_its_own_call_once() {
        let (mut calls, first, second) = calls();
        assert_ne!(first, second);
        assert_eq!(calls.answered(NodeId(3), first), None, "it was not called so");
        assert_eq!(calls.answered(NodeId(2), first), Some("Halt"));
        assert_eq!(calls.answered(NodeId(2), first), None);
        assert!(calls.is_waiting());
    }

    #[test]
    fn a_call_times_out_when_its_time_is_up() {
        let (mut calls, first, _) = calls();
        assert_eq!(calls.deadline(), Time::from_micros(10));
        assert_eq!(calls.timed_out(Time::from_micros(9)), None);
        assert_eq!(calls.timed_out(Time::from_micros(10)), Some((NodeId(3), "Ready")));
        assert_eq!(calls.timed_out(T), Some((NodeId(2), "Halt")));
        assert_eq!(calls.answered(NodeId(2), first), None, "too late");
        assert_eq!(calls.deadline(), Time::NEVER);
    }

    #[test]
    fn whoever_is_gone_does_not_answer_and_stop_ends_all() {
        let (mut calls, first, _) = calls();
        assert_eq!(calls.gone(NodeId(3)), Some("Ready"));
        assert_eq!(calls.gone(NodeId(3)), None);
        calls.stop();
        assert!(!calls.is_waiting());
        assert_eq!(calls.answered(NodeId(2), first), None);
    }
}
