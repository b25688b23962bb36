//! LFA: the smallest live process leads (Raynal 2007, Fig. 1, after Larrea, Fernández and Arévalo).
//!
//! Each process follows the strongest that it does not suspect. A process that suspects all stronger ones leads, and
//! tells the weaker so every α; nobody else speaks. A process that hears from one it had given up goes back to it and
//! is more patient with it from then on.
//!
//! ```text
//!   1 ──ALIVE──► 2, 3, 4      every α; finally nothing else is ever sent
//!   1 dies: 2, 3, 4 wait timeout[1], then take 2 for the leader; 2 finds itself named and speaks
//! ```
//!
//! Assumes that, from some time on, what the strongest correct process sends arrives in time. That is weaker than the
//! eventual synchrony of the paper's section 5.1, and all that section 5.3 asks for. Under that: all follow it for ever,
//! and it alone sends, n - ℓ messages per α.
//!
//! Both variants: the timer is armed at the start only if there is somebody to wait for (E-RA2). Repaired: a process that
//! comes back in a new incarnation had crashed, and was not given up by mistake. Nothing is persisted: a stronger process
//! that comes back leads again.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::raynal::{self, Patience, first_timeout};
use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::promise::Assumption::{NoRecoveries, QuietEnd, StrongestReachesAll};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `lfa`.
pub const SPEC: Spec = Spec {
    name: "lfa",
    document: "Raynal 2007, Fig. 1",
    assumes: "from some time on, what the smallest live id sends arrives in time",
    guarantees: "in the end all name the smallest live id, for ever; until then names may differ",
    messages: "finally the leader alone sends: N-l ALIVE per tau for leader l",
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
    kinds: &[ALIVE],
    repaired: &[
        Promise { property: Property::Omega, under: &[StrongestReachesAll, QuietEnd] },
        Promise { property: Property::SingleSender, under: &[StrongestReachesAll, QuietEnd] },
    ],
    printed: &[
        Promise { property: Property::Omega, under: &[StrongestReachesAll, QuietEnd, NoRecoveries] },
        Promise { property: Property::SingleSender, under: &[StrongestReachesAll, QuietEnd, NoRecoveries] },
    ],
};

/// The only message: "I am alive, and lead."
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// ALIVE()
    Alive,
}

const ALIVE: Kind = Kind::protocol("ALIVE");

impl Message for Msg {
    fn kind(&self) -> Kind {
        ALIVE
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(ALIVE.id()));
    }
}

/// The algorithm's state at one node. Processes are known by their rank, the paper's ids less one.
#[derive(Clone, Debug)]
pub struct Lfa {
    setup: Setup,
    /// `leader_i`
    leader: usize,
    /// `timeout_i[1..i-1]`
    timeout: Vec<Patience>,
    /// `timer_i`: when the leader will have been silent for too long.
    timer: Time,
    /// When T1 is due.
    alive_due: Time,
}

impl Election for Lfa {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        let timeout = vec![Patience::new(first_timeout(&setup)); setup.roster.my_rank()];
        Self { setup, leader: 0, timeout, timer: Time::NEVER, alive_due: Time::NEVER }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.set_timer(now),
            Input::Message { from, msg: Msg::Alive } => {
                if let Some(j) = self.stronger(from) {
                    self.on_alive(now, j);
                }
            }
            Input::NewIncarnation(peer) => {
                if let Some(j) = self.stronger(peer) {
                    self.timeout[j].new_incarnation();
                }
            }
            Input::Gone(peer) | Input::Resigned { who: peer, .. } => {
                if self.stronger(peer) == Some(self.leader) {
                    self.give_up_leader(now);
                }
            }
            Input::Deadline => self.on_deadline(now),
            Input::DownSig(_) | Input::HandOver(_) => {} // It has timers of its own, and fixed priorities.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
            Input::Link { .. } => {}                     // Its links are not consistent.
        }
        self.alive(now, out);
    }

    fn deadline(&self) -> Time {
        self.timer.min(self.alive_due)
    }

    fn opinion(&self) -> Opinion {
        raynal::opinion(Some(self.setup.roster.at(self.leader))) // (110) (111)
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.leader as u64);
        self.timeout.iter().for_each(|timeout| timeout.canonical(form));
        form.deadline(now, self.timer);
        form.deadline(now, self.alive_due);
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        let leads = self.leads();
        if self.leader > self.setup.roster.my_rank() {
            return Some("leader_i <= i");
        }
        if self.timer == Time::NEVER && !leads || self.timer != Time::NEVER && leads {
            return Some("the timer is armed if and only if another leads");
        }
        Patience::any_has_shrunk(&self.timeout, &before.timeout).then_some("timeouts do not shrink")
    }
}

impl Lfa {
    /// Task T1, repeated every α: (101) if leader_i = i, ALIVE to all that are weaker. The period begins when the node
    /// begins to lead.
    fn alive(&mut self, now: Time, out: &mut Actions<Msg>) {
        if !self.leads() {
            self.alive_due = Time::NEVER;
        } else if self.alive_due == Time::NEVER || self.alive_due <= now {
            out.send_each(self.setup.roster.weaker_than_me(), &Msg::Alive);
            self.alive_due = now + self.setup.timing.tau;
        }
    }

    /// Task T2: ALIVE() received from p_j, which here is always stronger.
    fn on_alive(&mut self, now: Time, j: usize) {
        if j > self.leader {
            return; // (106)
        }
        if j < self.leader {
            self.timeout[j].heard(self.setup.timing.step); // (103)
            self.leader = j; // (105)
        }
        self.set_timer(now); // (102) (104)
    }

    /// Task T3: timer_i expires.
    fn on_deadline(&mut self, now: Time) {
        if self.timer <= now {
            self.timeout[self.leader].expired();
            self.give_up_leader(now);
        }
    }

    /// (108) (109)
    fn give_up_leader(&mut self, now: Time) {
        self.leader += 1;
        self.set_timer(now);
    }

    fn set_timer(&mut self, now: Time) {
        let waiting = self.timeout.get(self.leader);
        self.timer = waiting.map_or(Time::NEVER, |patience| now + patience.timeout());
    }

    fn leads(&self) -> bool {
        self.leader == self.setup.roster.my_rank()
    }

    fn stronger(&self, id: NodeId) -> Option<usize> {
        self.setup.roster.rank(id).filter(|rank| *rank < self.setup.roster.my_rank())
    }
}

#[cfg(test)]
mod tests;
