//! The protocols as the paper prints them: sections 3.2.2 (Φ) and 3.3.2 (Ψ), Fig. 2 (Ω).
//!
//! "Initially the network is composed of a fully connected component and a number of isolated nodes": the nodes that a node
//! is linked with when it has started are `conn`, the others `dead`, for ever: nothing in the paper changes them (E-FB7). A
//! node that is linked with nobody then is dead itself, and so is one that comes back from a crash; the paper does not
//! mention those.
//!
//! Kept as they are: links to lighter nodes count, dead or not (E-FB5); an unanswered cand is excused if the link of the node
//! that it is about is down (Ω, Def. 3.2, E-FB4); the condition for leading does not ask whether the node is dead (E-FB3);
//! and there is no primary component (E-FB6). Read as conditions, not events (E-FB2), as Table 1 has them.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{About, Change, Level, Msg, Said, first_view, members_form, said_form};
use crate::canonical::Form;
use crate::election::{Action, Actions, Input, Setup};
use crate::ident::{GroupId, NodeId};
use crate::link::consistent::Pace;
use crate::members::Members;
use crate::opinion::{Opinion, Status};
use crate::time::Time;

/// The state of one node. Nodes are known by rank: a lower one is lighter.
#[derive(Clone, Debug)]
pub(in crate::election) struct Printed {
    level: Level,
    setup: Setup,
    /// By rank: whether the link to that node is up. This node's own entry means nothing.
    links: Vec<bool>,
    /// Until when the network is taken to be coming up.
    starts: Time,
    /// conn, once the network is up.
    conn: Option<Members>,
    dead: bool,
    leads: bool,
    /// cand sent; accept received for it.
    candidacies: BTreeSet<Said>,
    accepted: BTreeSet<Said>,
    /// cand received; accept sent for it.
    proposals: BTreeSet<Said>,
    accepts: BTreeSet<Said>,
    /// α and β of Fig. 2: the nodes to which a cancel would be owed.
    owed: BTreeSet<Said>,
}

impl Printed {
    pub(super) fn new(level: Level, setup: Setup) -> Self {
        Self {
            level,
            links: vec![false; setup.roster.size()],
            starts: Time::NEVER,
            conn: None,
            dead: false,
            leads: false,
            candidacies: BTreeSet::new(),
            accepted: BTreeSet::new(),
            proposals: BTreeSet::new(),
            accepts: BTreeSet::new(),
            owed: BTreeSet::new(),
            setup,
        }
    }

    pub(super) fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.on_recovery(now, out),
            Input::Link { peer, up } => {
                if let Some(j) = self.setup.roster.rank(peer) {
                    self.links[j] = up.is_some();
                }
                if self.others().all(|j| self.links[j]) {
                    self.begin();
                }
            }
            Input::Message { from, msg } => self.on_message(from, msg),
            Input::Deadline if self.starts <= now => self.begin(),
            Input::Deadline => {}
            Input::NewIncarnation(_) | Input::DownSig(_) | Input::Gone(_) | Input::Resigned { .. } => {}
            Input::HandOver(_) | Input::Reorganized | Input::ReorganizationFailed(_) => {}
        }
        if self.conn.is_some() {
            self.rule_1(out);
            self.rule_2(out);
            self.leads |= self.converged();
        }
    }

    pub(super) fn deadline(&self) -> Time {
        if self.conn.is_none() { self.starts } else { Time::NEVER }
    }

    /// The paper has a leader at first, and says who becomes one; how others learn of that it does not say.
    pub(super) fn opinion(&self) -> Opinion {
        let normal = |leader| Opinion { status: Status::Normal, leader: Some(leader), group: None };
        let Some(conn) = self.conn else {
            return Opinion { status: Status::Waiting, leader: None, group: None };
        };
        if self.leads {
            return normal(self.setup.roster.me());
        }
        if self.dead {
            return Opinion { status: Status::Dead, leader: None, group: None };
        }
        let whole = self.others().all(|j| self.links[j] == conn.contains(j));
        match conn.ranks().next() {
            Some(lightest) if whole => normal(self.setup.roster.at(lightest)),
            _ if self.candidacies.is_empty() => {
                Opinion { status: Status::Waiting, leader: None, group: None }
            }
            _ => Opinion { status: Status::Election, leader: None, group: None },
        }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        self.links.iter().for_each(|up| form.number(u64::from(*up)));
        form.deadline(now, self.deadline());
        form.option(self.conn, |form, conn| members_form(conn, form));
        form.number(u64::from(self.dead));
        form.number(u64::from(self.leads));
        for said in [&self.candidacies, &self.accepted, &self.proposals, &self.accepts, &self.owed] {
            said_form(said, form);
        }
    }

    /// This is not the node's first incarnation. Its component went on without it, and it is isolated.
    fn on_recovery(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.setup.count > 0 {
            (self.conn, self.dead) = (Some(Members::of([self.me()])), true);
        }
        self.starts = now + Pace::of(self.setup.timing).settles();
        out.push(Action::Persist { count: 1 });
    }

    fn begin(&mut self) {
        if self.conn.is_none() {
            let conn = Members::of(self.others().filter(|j| self.links[*j]).chain([self.me()]));
            self.dead = conn.count() == 1 && self.setup.roster.size() > 1;
            self.conn = Some(conn);
        }
    }

    fn on_message(&mut self, from: NodeId, msg: Msg) {
        let Some(s) = self.setup.roster.rank(from) else { return };
        let said = |about: About| Some((about.change, self.setup.roster.rank(about.node)?, s));
        match msg {
            Msg::Cand(about) => self.proposals.extend(said(about)),
            Msg::Accept(about) => self.accepted.extend(said(about)),
            Msg::Cancel(about) => {
                if let Some(said) = said(about).filter(|_| self.level == Level::Omega) {
                    self.proposals.remove(&said);
                    self.accepted.remove(&said);
                }
            }
            Msg::View(_) => {} // The paper has none.
        }
    }

    /// Rule 1 of Fig. 2, and what Φ and Ψ have of it.
    fn rule_1(&mut self, out: &mut Actions<Msg>) {
        let lighter = (0..self.me()).any(|j| self.links[j]);
        let others: Vec<usize> = self.others().collect();
        for j in others.iter().copied() {
            let change = match (self.links[j], self.in_conn(j)) {
                (false, true) if others.iter().all(|i| !self.links[*i]) => {
                    self.enter_dead();
                    return;
                }
                (false, true) => Change::Down,
                (true, false) if self.level >= Level::Psi => Change::Up,
                (true, true) => {
                    self.cancel(Change::Down, j, out);
                    continue;
                }
                (false, false) => {
                    self.cancel(Change::Up, j, out);
                    continue;
                }
                (true, false) => continue,
            };
            if self.dead || lighter {
                continue;
            }
            for i in others.iter().copied().filter(|i| self.links[*i]) {
                if self.candidacies.insert((change, j, i)) {
                    self.owed.insert((change, j, i));
                    out.send(self.setup.roster.at(i), Msg::Cand(self.about(change, j)));
                }
            }
        }
    }

    /// Rule 2 of Fig. 2: "if link to node j has failed (is available) and η_s = 0".
    fn rule_2(&mut self, out: &mut Actions<Msg>) {
        if self.dead && self.level == Level::Phi {
            return; // "It stops performing any action."
        }
        let proposals: Vec<Said> = self.proposals.difference(&self.accepts).copied().collect();
        for (change, j, s) in proposals {
            let agrees = match change {
                Change::Down => j != self.me() && !self.links[j],
                Change::Up => j == self.me() || self.links[j],
            };
            let outranked = (0..s).any(|p| self.links[p] && self.in_conn(p));
            if agrees && !outranked && self.links[s] {
                self.accepts.insert((change, j, s));
                self.owed.insert((change, j, s));
                out.send(self.setup.roster.at(s), Msg::Accept(self.about(change, j)));
            }
        }
    }

    fn cancel(&mut self, change: Change, j: usize, out: &mut Actions<Msg>) {
        if self.level < Level::Omega {
            return;
        }
        let owed = self.owed.iter().filter(|(c, about, i)| (*c, *about) == (change, j) && self.links[*i]);
        let owed: Vec<Said> = owed.copied().collect();
        for said in owed {
            // "Flushing memory regarding sent messages, upon sending cancel messages."
            self.owed.remove(&said);
            self.candidacies.remove(&said);
            self.accepts.remove(&said);
            out.send(self.setup.roster.at(said.2), Msg::Cancel(self.about(change, j)));
        }
    }

    /// Def. 3.1 (Φ, Ψ) and Def. 3.2 (Ω).
    fn converged(&self) -> bool {
        let excused = |(_, j, i): &Said| match self.level {
            Level::Phi | Level::Psi => !self.links[*i],
            Level::Omega => !self.links[*j],
        };
        let lighter = self.level == Level::Omega && (0..self.me()).any(|j| self.links[j]);
        let mut open = self.candidacies.difference(&self.accepted);
        !lighter && !self.candidacies.is_empty() && open.all(excused)
    }

    /// Table 1 shows nothing of a dead node's memory; that the condition for leading does not hold of it the paper does
    /// not say.
    fn enter_dead(&mut self) {
        if !core::mem::replace(&mut self.dead, true) {
            self.leads = false;
        }
    }

    fn about(&self, change: Change, j: usize) -> About {
        let view = GroupId(first_view(self.setup.roster.at(0)));
        About { view, change, node: self.setup.roster.at(j) }
    }

    fn in_conn(&self, j: usize) -> bool {
        self.conn.is_some_and(|conn| conn.contains(j))
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me();
        (0..self.setup.roster.size()).filter(move |j| *j != me)
    }

    fn me(&self) -> usize {
        self.setup.roster.my_rank()
    }
}
