//! Γ: of all candidates, the lightest leads (Franceschetti and Bruck 1998, section 3.1, after Singh).
//!
//! Some nodes, the candidates, wake up by themselves; the others when a message arrives. A candidate asks everybody. A
//! lighter candidate does not answer; everybody else accepts. A candidate that all have accepted declares that it leads.
//!
//! ```text
//!   2 ──candidate──► 1, 3     3 ──candidate──► 1, 2      candidates 2 and 3 of three nodes
//!   2 ◄──accept── 1, 3        3 ◄──accept── 1            2 is lighter and does not answer 3
//!   2 ──leader──► 1, 3
//! ```
//!
//! Assumes that nobody fails and nothing is lost. Repaired: a node that was woken up by a message stays passive. As printed
//! it may still wake up by itself, be lighter than the leader, and lead as well (E-FB1).

use alloc::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::kind::{Kind, Message};
use crate::opinion::{Opinion, Status};
use crate::promise::Assumption::{NoCrashes, QuietEnd, Reliable};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `gamma`.
pub const SPEC: Spec = Spec {
    name: "gamma",
    document: "Franceschetti & Bruck 1998, section 3.1",
    assumes: "nobody fails, nothing is lost",
    guarantees: "one leader, the lightest candidate, and all know it",
    messages: "2k(n-1) - k(k-1)/2 + n-1 with k candidates",
    in_agent: InAgent::No("assumes that nobody ever fails"),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::Never,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: &[CANDIDATE, ACCEPT, LEADER],
    repaired: PROMISES,
    printed: PROMISES,
};

const PROMISES: &[Promise] = &[
    Promise { property: Property::Sle1, under: &[Reliable, NoCrashes] },
    Promise { property: Property::Omega, under: &[Reliable, NoCrashes, QuietEnd] },
];

/// The messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// "I stand."
    Candidate,
    /// "You may."
    Accept,
    /// "I lead."
    Leader,
}

const CANDIDATE: Kind = Kind::protocol("candidate");
const ACCEPT: Kind = Kind::protocol("accept");
const LEADER: Kind = Kind::protocol("leader");

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::Candidate => CANDIDATE,
            Self::Accept => ACCEPT,
            Self::Leader => LEADER,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Gamma {
    setup: Setup,
    role: Role,
    /// Who accepted this node.
    accepts: BTreeSet<NodeId>,
    leader: Option<NodeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Asleep,
    Candidate,
    Passive,
}

impl Election for Gamma {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self { setup, role: Role::Asleep, accepts: BTreeSet::new(), leader: None }
    }

    fn handle(&mut self, _now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery if self.setup.choices.candidate => self.wake_up(out),
            Input::Message { from, msg } if self.setup.roster.rank(from).is_some() => {
                self.on_message(from, msg, out);
            }
            // It assumes that none of these happen.
            _ => {}
        }
    }

    fn deadline(&self) -> Time {
        Time::NEVER
    }

    fn opinion(&self) -> Opinion {
        let status = match (self.leader, self.role) {
            (Some(_), _) => Status::Normal,
            (None, Role::Candidate) => Status::Election,
            (None, Role::Asleep | Role::Passive) => Status::Waiting,
        };
        Opinion { status, leader: self.leader, group: None }
    }

    fn canonical(&self, _now: Time, form: &mut Form) {
        form.number(self.role as u64);
        form.number(self.accepts.len() as u64);
        self.accepts.iter().for_each(|peer| form.node(*peer));
        form.option(self.leader, Form::node);
    }
}

impl Gamma {
    /// The node wakes up by itself.
    fn wake_up(&mut self, out: &mut Actions<Msg>) {
        if self.role == Role::Passive && self.setup.variant == Variant::Repaired {
            return;
        }
        self.role = Role::Candidate;
        self.send_all(Msg::Candidate, out);
        self.lead_if_all_accepted(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        if self.role == Role::Asleep {
            self.role = Role::Passive;
        }
        match msg {
            Msg::Candidate => {
                let me = self.setup.roster.me();
                if self.role != Role::Candidate || !self.setup.roster.stronger(me, from) {
                    out.send(from, Msg::Accept);
                }
            }
            Msg::Accept => {
                self.accepts.insert(from);
                self.lead_if_all_accepted(out);
            }
            Msg::Leader => self.leader = Some(from),
        }
    }

    fn lead_if_all_accepted(&mut self, out: &mut Actions<Msg>) {
        let (me, all) = (self.setup.roster.me(), self.setup.roster.size());
        if self.role == Role::Candidate && self.accepts.len() + 1 == all && self.leader != Some(me) {
            self.leader = Some(me);
            self.send_all(Msg::Leader, out);
        }
    }

    fn send_all(&self, msg: Msg, out: &mut Actions<Msg>) {
        out.send_each(self.setup.roster.stronger_than_me(), &msg);
        out.send_each(self.setup.roster.weaker_than_me(), &msg);
    }
}

#[cfg(test)]
mod tests;
