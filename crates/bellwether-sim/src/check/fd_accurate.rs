//! FD-ACCURATE (Stoller, section 2, (2)): "⟨DownSig, i⟩ is received only if node i was actually down after the most
//! recent invocation of Start(i)", and "is not received when node i is not being monitored".
//!
//! No detector can do that in an asynchronous system (section 6), so a report is also excused if, less than τ_FD ago
//! and since the watch began, the system was not stable where it mattered: the two were cut off from each other, a
//! message between them was lost or late, one of them was paused or held up by its machine, or the subject played dead
//! to the watcher, which is how it asks to be reported (E-ST9). Where k nodes must agree, messages between others may have carried their votes.
//!
//! A node that stands aside says so itself, and is believed. So it may be reported if it stood aside less than δ ago, though before the
//! watch began: its word was under way, and no watcher can tell it from one that was sent later.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::known::{Known, Passage, index};
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct FdAccurate {
    tau_fd: Span,
    delta: Span,
    /// Whether messages between others count.
    cooperative: bool,
    /// By watcher, then by subject: the watches that are armed.
    armed: Vec<BTreeMap<NodeId, Watch>>,
    /// By node: when it last came up.
    came_up: Vec<Option<EventNo>>,
    /// By node: until when its machine last held it up.
    held_up: Vec<Option<Time>>,
    /// When a cut between two nodes last was mended, or a message between them last was lost or late.
    trouble: BTreeMap<Pair, Time>,
    trouble_anywhere: Option<Time>,
    step: EventNo,
    judged: bool,
    /// Reports of nodes that nobody watched: nothing can excuse them.
    unasked: Option<Violation>,
    /// The first reports that only something that is late, and not known to be so yet, can excuse: a message, or a node. One
    /// for each pair is enough: what excuses it also excuses those that came after it.
    unfounded: BTreeMap<Pair, Violation>,
}

#[derive(Clone, Copy)]
struct Watch {
    began: Time,
    step: EventNo,
}

/// Counts events. Much happens at one instant, above all at the start of a run, and whether a node was down before or
/// after a watch began makes all the difference.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct EventNo(u64);

/// Two nodes, in either order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair(NodeId, NodeId);

impl FdAccurate {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            tau_fd: facts.detection(),
            delta: facts.stretched(facts.timing.delta),
            cooperative: facts.reporters > 1,
            armed: vec![BTreeMap::new(); facts.nodes],
            came_up: vec![None; facts.nodes],
            held_up: vec![None; facts.nodes],
            trouble: BTreeMap::new(),
            trouble_anywhere: None,
            step: EventNo::default(),
            judged: false,
            unasked: None,
            unfounded: BTreeMap::new(),
        }
    }

    fn report(&mut self, known: &Known, watcher: NodeId, reported: Event) {
        let now = known.now();
        let armed = &mut self.armed[index(watcher)];
        match reported {
            Event::Watch(subject) => {
                armed.insert(subject, Watch { began: now, step: self.step });
            }
            Event::Unwatch(subject) => {
                armed.remove(&subject);
            }
            Event::UnwatchAll => armed.clear(),
            Event::Down(subject) => match armed.remove(&subject) {
                Some(watch) => self.judge(known, watcher, subject, watch),
                None => self.unasked(now, watcher, subject),
            },
            Event::Opinion(_)
            | Event::Group(_)
            | Event::Announced(_)
            | Event::Granted { .. }
            | Event::GivenUp
            | Event::Reborn(_)
            | Event::PlayDead
            | Event::PlayAlive
            | Event::Link(_)
            | Event::ViewInstalled(_)
            | Event::Pending(_)
            | Event::Refused { .. } => {}
        }
    }

    fn judge(&mut self, known: &Known, watcher: NodeId, subject: NodeId, watch: Watch) {
        self.judged = true;
        if self.was_down(known, subject, watch) || self.seemed_down(known, watcher, subject, watch) {
            return;
        }
        let (began, tau_fd) = (watch.began, self.tau_fd);
        let violation = Violation {
            at: known.now(),
            what: format!(
                "{watcher} reports {subject}, which was up since the watch began at {began} and in touch for the \
                 last {tau_fd}"
            ),
        };
        self.unfounded.entry(Pair::of(watcher, subject)).or_insert(violation);
    }

    fn was_down(&self, known: &Known, subject: NodeId, watch: Watch) -> bool {
        !known.is_up(subject) || self.came_up[index(subject)].is_some_and(|step| step > watch.step)
    }

    fn seemed_down(&self, known: &Known, watcher: NodeId, subject: NodeId, watch: Watch) -> bool {
        let from = watch.began.max(known.now() - self.tau_fd);
        let trouble = self.trouble.get(&Pair::of(watcher, subject)).copied();
        let anywhere = self.trouble_anywhere.filter(|_| self.cooperative);
        !known.connected(watcher, subject)
            || trouble.max(anywhere).is_some_and(|at| at >= from)
            || [watcher, subject].iter().any(|party| {
                known.paused_since(*party, from)
                    || self.held_up[index(*party)].is_some_and(|until| until >= from)
            })
            || known.played_dead_since(subject, watcher, from)
            || known.aside_since(subject, known.now() - self.delta)
    }

    fn unasked(&mut self, at: Time, watcher: NodeId, subject: NodeId) {
        self.judged = true;
        let what = format!("{watcher} reports {subject}, which it does not watch");
        self.unasked.get_or_insert(Violation { at, what });
    }

    /// A message between the two was lost, or came late, or a cut was mended.
    fn trouble(&mut self, pair: Pair, at: Time) {
        self.trouble.insert(pair, at);
    }

    /// A message came that was late ever since it was sent, or a node went on that was held up ever since: a report made
    /// meanwhile is excused.
    fn excuse(&mut self, since: Time, concerned: impl Fn(&Pair) -> bool) {
        let cooperative = self.cooperative;
        self.unfounded.retain(|reported, report| report.at < since || !(cooperative || concerned(reported)));
    }
}

impl Checker for FdAccurate {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.step.0 += 1;
        match known.passage() {
            Some(Passage::Gone) => self.armed[index(event.node)].clear(),
            Some(Passage::Back) => self.came_up[index(event.node)] = Some(self.step),
            None => {}
        }
        match event.what {
            What::Node(reported) => self.report(known, event.node, reported),
            What::Crash | What::Recover => {}
            What::Mend(peer) => self.trouble(Pair::of(event.node, peer), event.at),
            What::Drop(msg, _) | What::Late(msg) => {
                self.trouble(Pair::of(msg.from, msg.to), event.at);
                self.trouble_anywhere = Some(event.at);
            }
            What::Recv(msg, sent) => {
                let pair = Pair::of(msg.from, msg.to);
                self.trouble(pair, event.at);
                self.trouble_anywhere = Some(event.at);
                self.excuse(sent, |reported| *reported == pair);
            }
            What::HeldUp(by) => {
                self.held_up[index(event.node)] = Some(event.at);
                if self.cooperative {
                    self.trouble_anywhere = Some(event.at);
                }
                self.excuse(event.at - by, |reported| reported.0 == event.node || reported.1 == event.node);
            }
            // Pauses and cuts that last are known.
            What::Pause | What::Resume | What::Cut(_) | What::Slow(_) | What::Unlinked(_) => {}
            What::Send(_) | What::Deadline | What::Persist(_) | What::Program(_) => {}
        }
    }

    fn violated(&self) -> bool {
        self.unasked.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        let first = self.unfounded.into_values().chain(self.unasked).min_by_key(|violation| violation.at);
        Verdict::new(self.judged, first)
    }
}

impl Pair {
    fn of(a: NodeId, b: NodeId) -> Self {
        Self(a.min(b), a.max(b))
    }
}
