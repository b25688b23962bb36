//! ADFT: the least suspected process leads (Raynal 2007, Fig. 2, after Aguilera, Delporte-Gallet, Fauconnier and Toueg).
//!
//! Every α, every process tells all others that it is alive, and how often each process was suspected. A process that
//! is silent for too long is suspected, and all are told. When n - t processes suspect one, its count grows. A crashed
//! process is suspected for ever by all that are left, and these are at least n - t. A process with t timely links is
//! never suspected by more than n - t - 1.
//!
//! ```text
//!   every α          ALIVE(count) ──► all others          count := max, reset the timer
//!   timer of k       SUSPECT(k)   ──► all, and oneself    n - t suspect k ⇒ count[k] grows
//!   leader()         the smallest (count[k], k)
//! ```
//!
//! Assumes reliable channels, at most t crashes, and an eventual t-source: a correct process of which t links are timely
//! from some time on. Under that: all name the same correct process for ever. Everybody sends for ever.
//!
//! Both variants: SUSPECT counts for its sender too (E-RA4). Repaired: a process keeps its own count on stable storage and
//! rejoins just above its leader's. The suspicions that it collected while it was down do not count. Whoever suspects one,
//! as n - t do, puts it behind itself at once, however often it was suspected itself. Timeouts grow only when a suspicion
//! proves to have been a mistake. Counts travel with every ALIVE, so channels may lose messages.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::raynal::{self, Patience, Stage, SuspicionCounts, first_timeout, left_at_least, rejoin};
use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::promise::Assumption::{FewCrashes, NoRecoveries, QuietEnd, Reliable, TSource};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `adft`.
pub const SPEC: Spec = Spec {
    name: "adft",
    document: "Raynal 2007, Fig. 2",
    assumes: "at most t crashes; from some time on t links of some live node are timely",
    guarantees: "in the end all name one live node, for ever; until then names may differ",
    messages: "N(N-1) ALIVE per tau, for ever, and N-1 SUSPECT per suspicion",
    in_agent: InAgent::Yes,
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: &[ALIVE, SUSPECT],
    repaired: &[Promise { property: Property::Omega, under: &[TSource, FewCrashes, QuietEnd] }],
    printed: &[Promise {
        property: Property::Omega,
        under: &[TSource, FewCrashes, QuietEnd, NoRecoveries, Reliable],
    }],
};

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// ALIVE(count)
    Alive(SuspicionCounts),
    /// SUSPECT(k)
    Suspect(NodeId),
}

const ALIVE: Kind = Kind::protocol("ALIVE");
const SUSPECT: Kind = Kind::protocol("SUSPECT");

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::Alive(_) => ALIVE,
            Self::Suspect(_) => SUSPECT,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Alive(count) => count.canonical_in_flight(form),
            Self::Suspect(k) => form.node(*k),
        }
    }

    fn largest_counter(&self) -> u64 {
        match self {
            Self::Alive(count) => count.largest(),
            Self::Suspect(_) => 0,
        }
    }
}

/// The algorithm's state at one node. Tables are by rank.
#[derive(Clone, Debug)]
pub struct Adft {
    setup: Setup,
    stage: Stage,
    /// `count_i`
    count: SuspicionCounts,
    /// `suspect_i`: the processes that suspect each.
    suspect: Vec<BTreeSet<usize>>,
    /// `timeout_i`
    timeout: Vec<Patience>,
    /// `timer_i`; one's own is never set.
    timer: Vec<Time>,
    /// When T1 is due.
    alive_due: Time,
}

impl Election for Adft {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        let nodes = setup.roster.size();
        Self {
            stage: Stage::TakingPart,
            count: SuspicionCounts::zero(nodes),
            suspect: vec![BTreeSet::new(); nodes],
            timeout: vec![Patience::new(first_timeout(&setup)); nodes],
            timer: vec![Time::NEVER; nodes],
            alive_due: Time::NEVER,
            setup,
        }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.recover(now),
            Input::Message { from, msg } => {
                let Some(j) = self.setup.roster.rank(from) else { return };
                let led = self.count.leading();
                match msg {
                    Msg::Alive(count) => self.on_alive(now, j, &count, out),
                    Msg::Suspect(k) => self.on_suspect(j, k),
                }
                self.count.explain(led, &self.setup.roster, out);
            }
            Input::NewIncarnation(peer) => self.with_rank(peer, |this, k| this.timeout[k].new_incarnation()),
            Input::Gone(peer) | Input::Resigned { who: peer, .. } => {
                self.with_rank(peer, |this, k| this.suspect_aloud(now, k, out));
            }
            Input::Deadline => self.on_deadline(now, out),
            Input::DownSig(_) | Input::HandOver(_) => {} // It has timers of its own, and no way to prefer one.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
            Input::Link { .. } => {}                     // Its links are not consistent.
        }
        self.keep_count(out);
        self.alive(now, out);
    }

    fn deadline(&self) -> Time {
        let timers = self.timer.iter().copied().min().unwrap_or(Time::NEVER);
        timers.min(self.alive_due).min(self.stage.deadline())
    }

    fn opinion(&self) -> Opinion {
        // (211) (212)
        raynal::opinion((!self.stage.is_listening()).then(|| self.setup.roster.at(self.count.least())))
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        form.deadline(now, self.stage.deadline());
        self.count.canonical(&self.setup.roster, form);
        for suspect in &self.suspect {
            form.number(suspect.len() as u64);
            suspect.iter().for_each(|rank| form.number(*rank as u64));
        }
        self.timeout.iter().for_each(|timeout| timeout.canonical(form));
        self.timer.iter().for_each(|timer| form.deadline(now, *timer));
        form.deadline(now, self.alive_due);
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        if self.count.has_shrunk_since(&before.count) {
            return Some("counts do not shrink");
        }
        if self.suspect.iter().any(|suspect| suspect.len() >= left_at_least(&self.setup)) {
            return Some("n - t suspicions are counted, and forgotten");
        }
        Patience::any_has_shrunk(&self.timeout, &before.timeout).then_some("timeouts do not shrink")
    }
}

impl Adft {
    /// The repaired variant listens first.
    fn recover(&mut self, now: Time) {
        self.stage = Stage::at_start(&self.setup, now);
        if !self.stage.is_listening() {
            self.begin(now);
        }
    }

    /// init
    fn begin(&mut self, now: Time) {
        let me = self.me();
        (0..self.timer.len()).filter(|k| *k != me).for_each(|k| self.set_timer(now, k));
        self.alive_due = now;
    }

    /// Task T1, repeated every α: (201) ALIVE(count_i) to all others.
    fn alive(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.alive_due <= now {
            raynal::send_to_others(&self.setup, &Msg::Alive(self.count.clone()), out);
            self.alive_due = now + self.setup.timing.tau;
        }
    }

    /// Task T2: ALIVE(count) received from p_j.
    fn on_alive(&mut self, now: Time, j: usize, count: &SuspicionCounts, out: &mut Actions<Msg>) {
        self.count.merge(count); // (202)
        self.timeout[j].heard(self.setup.timing.step);
        if self.stage.is_listening() {
            self.take_part(now, Some(self.count.lowest()), out);
        }
        self.set_timer(now, j); // (203)
    }

    /// Task T3: timer_i[k] expires.
    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.stage.deadline() <= now {
            self.take_part(now, None, out);
        }
        for k in 0..self.timer.len() {
            if self.timer[k] <= now {
                match self.setup.variant {
                    Variant::Printed => self.timeout[k].grow(self.setup.timing.step), // (204)
                    Variant::Repaired => self.timeout[k].expired(),
                }
                self.suspect_aloud(now, k, out);
            }
        }
    }

    fn suspect_aloud(&mut self, now: Time, k: usize, out: &mut Actions<Msg>) {
        if self.stage.is_listening() {
            return;
        }
        let suspected = self.setup.roster.at(k);
        raynal::send_to_others(&self.setup, &Msg::Suspect(suspected), out); // (205)
        self.on_suspect(self.me(), suspected); // (205), to itself: E-RA4
        self.set_timer(now, k); // (206)
    }

    /// Task T4: SUSPECT(k) received from p_j. Repaired: k goes behind this node, if that suspects it, too. As printed, a node that has been
    /// suspected again and again, because it was paused or had crashed, would have to suspect k as often before it leads.
    fn on_suspect(&mut self, j: usize, k: NodeId) {
        let Some(k) = self.setup.roster.rank(k) else { return };
        self.suspect[k].insert(j); // (207)
        if self.suspect[k].len() >= left_at_least(&self.setup) {
            if self.setup.variant == Variant::Repaired && self.suspect[k].contains(&self.me()) {
                self.count.raise_to(k, self.count.get(self.me()));
            }
            self.count.raise(k); // (208) (209)
            self.suspect[k].clear();
        }
    }

    /// Comes back with a count above its own earlier count and above the leader's.
    fn take_part(&mut self, now: Time, leader: Option<u64>, out: &mut Actions<Msg>) {
        self.stage = Stage::TakingPart;
        if leader.is_none() {
            self.count.assume_no_less_than(self.setup.count);
        }
        self.count.set(self.me(), self.setup.incarnation, rejoin(self.setup.count, leader));
        self.keep_count(out);
        self.begin(now);
    }

    /// A node that takes part has its own count on stable storage before it sends anything.
    fn keep_count(&mut self, out: &mut Actions<Msg>) {
        if !self.stage.is_listening() {
            let count = self.count.get(self.me());
            raynal::keep_count(&mut self.setup, count, out);
        }
    }

    fn set_timer(&mut self, now: Time, k: usize) {
        self.timer[k] = now + self.timeout[k].timeout();
    }

    fn with_rank(&mut self, peer: NodeId, then: impl FnOnce(&mut Self, usize)) {
        if let Some(k) = self.setup.roster.rank(peer) {
            then(self, k);
        }
    }

    fn me(&self) -> usize {
        self.setup.roster.my_rank()
    }
}

#[cfg(test)]
mod tests;
