//! MMRT: the least suspected process leads, without clocks (Raynal 2007, Fig. 3, after Mostéfaoui, Mourgaya, Raynal and
//! Travers).
//!
//! A process asks all, itself included, and waits for the first n - t responses. Each response names the processes whose
//! responses its sender got to its own last query. A process that is in none of these sets is counted once more.
//!
//! ```text
//!   QUERY_ALIVE(count) ──► all         count := max
//!   ◄── RESPONSE(rec_from)             after n - t: count[j] grows for each j in none of the rec_from
//!   leader()                           the smallest (count[k], k)
//! ```
//!
//! Assumes reliable channels, at most t crashes, and the message pattern MP: a correct p whose response to each query of
//! t others (t + 1 counting p itself, E-RA1) is, from some time on, among the first n - t. Any n - t responders and these
//! t + 1 have one in common, so p is counted no more. Delays may grow for ever. Under that: all name the same correct
//! process for ever. On a network with uniform latencies it does not hold, and leaders come and go.
//!
//! Both variants: `let rec_from_i` assigns the variable that T2 reads (E-RA3); the response to oneself is the first.
//! Repaired: an open query is sent again every τ to those that have not answered (E-RA7); a query is known by the
//! asker's incarnation and a number; a process keeps its own count on stable storage and rejoins above its leader's.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::raynal::{self, SuspicionCounts, left_at_least, rejoin};
use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant};
use crate::bounded;
use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId};
use crate::kind::{Kind, Message};
use crate::link::ACQUAINTANCES_MAX;
use crate::opinion::Opinion;
use crate::promise::Assumption::{FewCrashes, MessagePattern, NoRecoveries, QuietEnd, Reliable};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `mmrt`.
pub const SPEC: Spec = Spec {
    name: "mmrt",
    document: "Raynal 2007, Fig. 3",
    assumes: "at most t crashes; from some time on the responses of some live node to t others are always among the \
              first n-t",
    guarantees: "in the end all name one live node, for ever, however slow the network; until then names may differ",
    messages: "2(N-1) per query of each node, for ever",
    in_agent: InAgent::No("needs the message pattern MP, which a LAN does not give: leaders come and go"),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: &[QUERY_ALIVE, RESPONSE],
    repaired: &[Promise { property: Property::Omega, under: &[MessagePattern, FewCrashes, QuietEnd] }],
    printed: &[Promise {
        property: Property::Omega,
        under: &[MessagePattern, FewCrashes, QuietEnd, NoRecoveries, Reliable],
    }],
};

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// QUERY_ALIVE(count)
    QueryAlive(QueryNo, SuspicionCounts),
    /// RESPONSE(rec_from)
    Response(QueryNo, RecFrom),
}

/// "Appropriately tagged in order not to confuse RESPONSE() messages" (section 7.1): the incarnation of the asker,
/// and the number of the query in it. In the printed variant it is always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QueryNo {
    /// The asker's incarnation.
    pub incarnation: Incarnation,
    /// Which query.
    pub sn: u64,
}

/// The processes whose responses a process received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecFrom(#[serde(deserialize_with = "bounded::list::<ACQUAINTANCES_MAX, _, _>")] Vec<NodeId>);

impl RecFrom {
    /// These.
    pub fn of(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        Self(nodes.into_iter().collect())
    }
}

const QUERY_ALIVE: Kind = Kind::query("QUERY_ALIVE");
const RESPONSE: Kind = Kind::response("RESPONSE");

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::QueryAlive(..) => QUERY_ALIVE,
            Self::Response(..) => RESPONSE,
        }
    }

    fn canonical(&self, form: &mut Form) {
        // Whose query it is, the frame's sender and receiver tell; the number is compared with nothing else.
        form.number(u64::from(self.kind().id()));
        match self {
            Self::QueryAlive(no, count) => {
                no.canonical(form);
                count.canonical_in_flight(form);
            }
            Self::Response(no, rec_from) => {
                no.canonical(form);
                form.nodes(&rec_from.0);
            }
        }
    }

    fn largest_counter(&self) -> u64 {
        match self {
            Self::QueryAlive(no, count) => no.sn.max(count.largest()),
            Self::Response(no, _) => no.sn,
        }
    }
}

impl QueryNo {
    /// As it is: whose it is shows elsewhere.
    fn canonical(self, form: &mut Form) {
        form.number(self.incarnation.0);
        form.period(self.sn);
    }
}

/// The algorithm's state at one node. Sets and tables are by rank.
#[derive(Clone, Debug)]
pub struct Mmrt {
    setup: Setup,
    /// `count_i`
    count: SuspicionCounts,
    /// `rec_from_i`
    rec_from: BTreeSet<usize>,
    query: Query,
    /// When T1 asks next, or again.
    due: Time,
    /// How many rounds are still to end before a node that has just come up, and hears no query, names a leader.
    listening: u32,
}

/// The query that is open or was open last.
#[derive(Clone, Debug, Default)]
struct Query {
    no: QueryNo,
    is_open: bool,
    /// When it was sent first.
    asked: Time,
    responders: BTreeSet<usize>,
    /// The union of what they said.
    union: BTreeSet<usize>,
}

impl Election for Mmrt {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        let (nodes, incarnation) = (setup.roster.size(), setup.incarnation);
        let (incarnation, listening) = match setup.variant {
            Variant::Printed => (Incarnation::default(), 0),
            // In a period of its own, each of the others asks once.
            Variant::Repaired => (incarnation, 2),
        };
        Self {
            count: SuspicionCounts::zero(nodes),
            rec_from: (0..nodes).collect(),
            query: Query { no: QueryNo { incarnation, sn: 0 }, ..Query::default() },
            due: Time::NEVER,
            listening,
            setup,
        }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        let led = self.count.leading();
        match input {
            Input::Recovery => self.recover(now, out),
            Input::Message { from, msg } => {
                let Some(j) = self.setup.roster.rank(from) else { return };
                match msg {
                    Msg::QueryAlive(no, count) => self.on_query(j, no, &count, out),
                    Msg::Response(no, rec_from) => self.on_response(now, j, no, &rec_from, out),
                }
            }
            Input::Deadline => self.on_deadline(now, out),
            // It judges by order, not by time; who is gone does not answer.
            Input::NewIncarnation(_)
            | Input::Gone(_)
            | Input::Resigned { .. }
            | Input::Reorganized
            | Input::ReorganizationFailed(_)
            | Input::Link { .. }
            | Input::HandOver(_)
            | Input::DownSig(_) => {}
        }
        self.count.explain(led, &self.setup.roster, out);
    }

    fn deadline(&self) -> Time {
        self.due
    }

    fn opinion(&self) -> Opinion {
        // (309) (310)
        raynal::opinion((self.listening == 0).then(|| self.setup.roster.at(self.count.least())))
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        let Query { no, is_open, responders, union, .. } = &self.query;
        self.count.canonical(&self.setup.roster, form);
        no.canonical(form);
        form.number(u64::from(self.listening) << 1 | u64::from(*is_open));
        form.deadline(now, self.due);
        for set in [&self.rec_from, responders, union] {
            form.number(set.len() as u64);
            set.iter().for_each(|rank| form.number(*rank as u64));
        }
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        if self.count.has_shrunk_since(&before.count) {
            return Some("counts do not shrink");
        }
        if self.rec_from.len() < left_at_least(&self.setup) {
            return Some("|rec_from_i| >= n - t");
        }
        let moved = self.query.no.sn != before.query.no.sn;
        (moved && before.query.is_open)
            .then_some("a new query is issued only when the previous one has terminated")
    }
}

impl Mmrt {
    fn recover(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.setup.variant == Variant::Repaired {
            self.count.set(self.me(), self.setup.incarnation, rejoin(self.setup.count, None));
            self.keep_count(out);
        }
        self.ask(now, out);
    }

    /// Task T1: (301) QUERY_ALIVE(count_i) to all. The response of a process to itself is always among the first.
    fn ask(&mut self, now: Time, out: &mut Actions<Msg>) {
        let no = QueryNo { sn: self.query.no.sn.saturating_add(1), ..self.query.no };
        let (responders, union) = (BTreeSet::new(), BTreeSet::new());
        self.query = Query { no, is_open: true, asked: now, responders, union };
        self.send_query(out);
        let mine = self.rec_from.clone();
        self.take_response(now, self.me(), mine, out);
    }

    fn send_query(&self, out: &mut Actions<Msg>) {
        let msg = Msg::QueryAlive(self.query.no, self.count.clone());
        for j in (0..self.setup.roster.size()).filter(|j| *j != self.me()) {
            if !self.query.responders.contains(&j) {
                out.send(self.setup.roster.at(j), msg.clone());
            }
        }
    }

    fn on_response(&mut self, now: Time, j: usize, no: QueryNo, rec_from: &RecFrom, out: &mut Actions<Msg>) {
        if self.query.is_open && no == self.query.no {
            let ranks = rec_from.0.iter().filter_map(|id| self.setup.roster.rank(*id)).collect();
            self.take_response(now, j, ranks, out);
        }
    }

    /// (302) wait until n - t have responded.
    fn take_response(&mut self, now: Time, j: usize, said: BTreeSet<usize>, out: &mut Actions<Msg>) {
        self.query.responders.insert(j);
        self.query.union.extend(said); // (303)
        if self.query.responders.len() >= left_at_least(&self.setup) {
            self.terminate(now, out);
        } else if j == self.me() {
            self.due = match self.setup.variant {
                Variant::Printed => Time::NEVER,
                Variant::Repaired => now + self.setup.timing.tau,
            };
        }
    }

    fn terminate(&mut self, now: Time, out: &mut Actions<Msg>) {
        // (304) (305)
        for j in (0..self.setup.roster.size()).filter(|j| !self.query.union.contains(j)) {
            self.count.raise(j);
        }
        self.rec_from.clone_from(&self.query.responders); // (306)
        self.query.is_open = false;
        if self.listening == 1 {
            self.count.assume_no_less_than(self.setup.count.saturating_sub(1)); // As it was when the node came up.
        }
        self.listening = self.listening.saturating_sub(1);
        self.keep_count(out);
        // "A process can introduce an arbitrary delay before issuing a query-response challenge" (section 7.3).
        self.due = (self.query.asked + self.setup.timing.tau).max(now);
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.due > now {
            return;
        }
        if self.query.is_open {
            self.send_query(out);
            self.due = now + self.setup.timing.tau;
        } else {
            self.ask(now, out);
        }
    }

    /// Task T2: QUERY_ALIVE(c_j) received from p_j.
    fn on_query(&mut self, j: usize, no: QueryNo, count: &SuspicionCounts, out: &mut Actions<Msg>) {
        self.count.merge(count); // (307)
        if self.listening > 0 {
            self.listening = 0;
            let above_leader = self.count.lowest().saturating_add(1);
            self.count.set(self.me(), self.setup.incarnation, above_leader.max(self.count.get(self.me())));
        }
        self.keep_count(out);
        let rec_from = RecFrom::of(self.rec_from.iter().map(|rank| self.setup.roster.at(*rank)));
        out.send(self.setup.roster.at(j), Msg::Response(no, rec_from)); // (308)
    }

    fn keep_count(&mut self, out: &mut Actions<Msg>) {
        let count = self.count.get(self.me());
        raynal::keep_count(&mut self.setup, count, out);
    }

    fn me(&self) -> usize {
        self.setup.roster.my_rank()
    }
}

#[cfg(test)]
mod tests;
