//! Which assumptions a recorded run kept, as far as traces and truth can tell.

use std::collections::BTreeSet;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};

use super::merge::{befalls, half_time};
use crate::scenario::Runs;
use crate::trace_file::Setup;

/// A summary of what happened to the nodes.
#[derive(Debug)]
pub(super) struct Kept {
    nodes: usize,
    detector: Option<DetectorKind>,
    delta: Span,
    /// When the last thing befell somebody.
    last: Time,
    half_time: Time,
    up: BTreeSet<NodeId>,
    paused: BTreeSet<NodeId>,
    cuts: BTreeSet<(NodeId, NodeId)>,
    was_up: BTreeSet<NodeId>,
    recoveries: bool,
    pauses: bool,
    ever_cut: bool,
    late: bool,
    /// What ran on the nodes, by what they told.
    runs: Runs,
    /// Messages that were lost although their receiver was neither down nor cut off, as far as is known, and
    /// when.
    lost: Vec<(Time, NodeId)>,
}

impl Kept {
    pub(super) fn new(events: &[TraceEvent], nodes: usize, setup: &Setup) -> Self {
        let mut kept = Self {
            nodes,
            detector: setup.detector,
            delta: setup.timing.delta,
            last: Time::ZERO,
            half_time: half_time(events),
            up: BTreeSet::new(),
            paused: BTreeSet::new(),
            cuts: BTreeSet::new(),
            was_up: BTreeSet::new(),
            recoveries: false,
            pauses: false,
            ever_cut: false,
            late: false,
            runs: Runs::Elections,
            lost: Vec::new(),
        };
        events.iter().for_each(|event| kept.note(event));
        kept
    }

    pub(super) fn runs(&self) -> Runs {
        self.runs
    }

    pub(super) fn keeps(&self, assumption: Assumption) -> bool {
        match assumption {
            Assumption::Reliable => self.lost.is_empty() && !self.ever_cut,
            // Connections keep the order of what they carry, and do not repeat it.
            Assumption::Fifo | Assumption::NoDuplicates => true,
            Assumption::BoundedDelay => !self.late,
            Assumption::NoPauses => !self.pauses,
            // A trace says when something was written, not when that was asked for: disks are taken to be as quick as they should be.
            Assumption::QuickDisks => true,
            Assumption::AccurateDetector => self.detector == Some(DetectorKind::Perfect),
            Assumption::ReportsCrashes => self.detector != Some(DetectorKind::Cooperative),
            Assumption::ReportsUnreachable => match self.detector {
                Some(DetectorKind::Ping | DetectorKind::Heartbeat | DetectorKind::Adaptive) => true,
                Some(DetectorKind::Ring) => !self.ever_cut,
                Some(DetectorKind::Perfect | DetectorKind::Cooperative) => false,
                // Whoever has none has timers of its own.
                None => true,
            },
            // The checkers allow for what a clock may be off.
            Assumption::ClocksAgree | Assumption::TrustedClocks => true,
            // No real clock is perfect; and whose responses come first, nobody records.
            Assumption::NoDrift | Assumption::MessagePattern => false,
            Assumption::NoCrashes => self.up.len() == self.was_up.len() && !self.recoveries,
            Assumption::NoRecoveries => !self.recoveries,
            Assumption::QuietEnd => self.is_quiet_at_the_end(),
            Assumption::FewCrashes => self.nodes - self.up.len() <= self.nodes.saturating_sub(1) / 2,
            // A network on which nothing is lost and nobody is cut off is as timely as these ask for.
            Assumption::StrongestReachesAll | Assumption::OneReachesAll | Assumption::TSource => {
                !self.up.is_empty() && self.is_quiet_at_the_end()
            }
        }
    }

    fn note(&mut self, event: &TraceEvent) {
        if befalls(&event.what) {
            self.befall(event);
            return;
        }
        match &event.what {
            What::Drop(MsgRef { to, .. }, DropReason::Lost | DropReason::Dropped) => {
                self.lost.push((event.at, *to));
            }
            What::Late(_) | What::HeldUp(_) => self.late = true,
            What::Node(Event::Granted { .. }) | What::Program(Program::Valid { .. }) => {
                self.runs = Runs::Exclusive;
            }
            What::Node(Event::Announced(_)) if self.runs == Runs::Elections => self.runs = Runs::Agents,
            What::Recv(_, sent) => self.late |= event.at.since(*sent) > self.delta,
            _ => {}
        }
    }

    fn befall(&mut self, event: &TraceEvent) {
        let node = event.node;
        match event.what {
            What::Crash => {
                self.up.remove(&node);
                self.paused.remove(&node);
            }
            What::Recover => {
                self.up.insert(node);
                self.recoveries |= !self.was_up.insert(node);
            }
            What::Pause => {
                self.pauses = true;
                self.paused.insert(node);
            }
            What::Resume => drop(self.paused.remove(&node)),
            What::Cut(peer) => {
                self.ever_cut = true;
                self.cuts.insert((node, peer));
            }
            What::Mend(peer) => drop(self.cuts.remove(&(node, peer))),
            _ => {}
        }
        self.last = event.at;
    }

    /// Whether nothing befell anybody in the second half, and what befell somebody before was over. Messages to nodes that
    /// are down are lost, as they must be.
    fn is_quiet_at_the_end(&self) -> bool {
        let over = self.paused.is_empty() && self.cuts.is_empty();
        let lost = self.lost.iter().any(|(at, to)| *at > self.half_time && self.up.contains(to));
        self.last <= self.half_time && over && !lost
    }
}
