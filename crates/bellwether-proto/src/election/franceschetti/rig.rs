//! Several nodes over links that a test turns up and down as it likes. What is sent arrives at once, in order.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{About, Change, Msg};
use crate::cause::Cause;
use crate::election::raynal::rig::decide;
use crate::election::{
    Action, Actions, Choices, Election, Input, Membership, Primary, Protocol, Setup, Timing, Variant,
};
use crate::ident::{Incarnation, NodeId};
use crate::members::Members;
use crate::opinion::{Opinion, Status};
use crate::roster::{Priority, Roster};
use crate::time::{Span, Time};

pub(in crate::election) struct Rig<E> {
    pub(in crate::election) nodes: Vec<E>,
    now: Time,
    memberships: Vec<Membership>,
    pub(in crate::election) counts: Vec<u64>,
    incarnations: Vec<u64>,
    /// Which links are up.
    links: Vec<Vec<bool>>,
    mail: VecDeque<(usize, usize, Msg)>,
    /// As in `1 cand_down(3) 2`, in the order of sending.
    pub(in crate::election) said: Vec<String>,
    pub(in crate::election) remembers: Vec<bool>,
    /// Why each gave its last leader up.
    pub(in crate::election) why: Vec<Option<Cause>>,
    setup: Setup,
}

impl<E: Election<Msg = Msg>> Rig<E> {
    /// All are up, and linked with each other.
    pub(in crate::election) fn new(nodes: u32, variant: Variant, primary: Primary) -> Self {
        Self::without(nodes, variant, primary, &[])
    }

    /// As [`Rig::new`], but these are linked with nobody.
    pub(in crate::election) fn without(
        nodes: u32,
        variant: Variant,
        primary: Primary,
        isolated: &[u32],
    ) -> Self {
        let setup = Setup {
            protocol: Protocol::FbOmega, // No algorithm looks at it.
            variant,
            roster: Roster::new(NodeId(1), (1..=nodes).map(NodeId), Priority::LowestId),
            incarnation: Incarnation(1),
            count: 0,
            t: 0,
            timing: Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(10) },
            choices: Choices { candidate: true, primary },
        };
        let size = nodes as usize;
        let mut rig = Self {
            nodes: Vec::new(),
            now: Time::ZERO,
            memberships: alloc::vec![Membership::default(); size],
            counts: alloc::vec![0; size],
            incarnations: alloc::vec![0; size],
            links: alloc::vec![alloc::vec![false; size]; size],
            mail: VecDeque::new(),
            said: Vec::new(),
            remembers: alloc::vec![false; size],
            why: alloc::vec![None; size],
            setup,
        };
        for at in 0..size {
            let node = rig.boot(at);
            rig.nodes.push(node);
        }
        (0..size).for_each(|at| rig.input(at, Input::Recovery));
        let out = |at: usize| isolated.contains(&(at as u32 + 1));
        for (a, b) in pairs(size).filter(|(a, b)| !out(*a) && !out(*b)) {
            rig.set(a, b, true);
        }
        rig.pass(Span::secs(10));
        rig.deliver();
        rig.said.clear();
        rig
    }

    fn boot(&mut self, at: usize) -> E {
        self.incarnations[at] += 1;
        let roster = self.setup.roster.seen_by(NodeId(at as u32 + 1));
        let (incarnation, count) = (Incarnation(self.incarnations[at]), self.counts[at]);
        E::new(Setup { roster, incarnation, count, ..self.setup.clone() }, Span::ZERO)
    }

    fn input(&mut self, at: usize, input: Input<Msg>) {
        let mut actions = Actions::new();
        self.why[at] = decide(&mut self.nodes[at], self.now, input, &mut actions).or(self.why[at]);
        let (mut stands, mut reorganized) = (false, false);
        for action in actions.drain() {
            match action {
                Action::Send { to, msg } => {
                    let to = to.0 as usize - 1;
                    if self.links[at][to] {
                        self.said.push(in_words(at, &msg, to));
                        self.mail.push_back((at, to, msg));
                    }
                }
                Action::Stand(membership) => {
                    stands |= core::mem::replace(&mut self.memberships[at], membership) != membership;
                }
                Action::Persist { count } => self.counts[at] = count,
                Action::Remember(remembers) => self.remembers[at] = remembers,
                // A fault manager with nothing to do.
                Action::Form(_) => reorganized = true,
                Action::Disband => reorganized = false,
                Action::Install(_) => {}
                other => panic!("{other:?}"),
            }
        }
        if reorganized {
            self.input(at, Input::Reorganized);
        }
        // A beat tells the others, after what is on its way.
        if stands {
            self.deliver();
            for peer in (0..self.nodes.len()).filter(|peer| *peer != at) {
                if self.links[at][peer] {
                    self.tell(peer, at);
                }
            }
        }
    }

    /// These are told why the node's links are about to go down.
    pub(in crate::election) fn tell_of(&mut self, told: &[u32], input: impl Fn() -> Input<Msg>) {
        told.iter().for_each(|node| self.input(*node as usize - 1, input()));
    }

    /// Why these gave their last leaders up.
    pub(in crate::election) fn whys(&self, nodes: &[u32]) -> Vec<Option<Cause>> {
        nodes.iter().map(|node| self.why[*node as usize - 1]).collect()
    }

    fn tell(&mut self, to: usize, about: usize) {
        let up = self.links[to][about].then_some(self.memberships[about]);
        self.input(to, Input::Link { peer: NodeId(about as u32 + 1), up });
    }

    fn set(&mut self, a: usize, b: usize, up: bool) {
        if self.links[a][b] != up {
            (self.links[a][b], self.links[b][a]) = (up, up);
            self.mail.retain(|(from, to, _)| ![(a, b), (b, a)].contains(&(*from, *to)));
            self.tell(a, b);
            self.tell(b, a);
        }
    }

    /// Everything that is on its way arrives.
    pub(in crate::election) fn deliver(&mut self) {
        while let Some((from, to, msg)) = self.mail.pop_front() {
            self.input(to, Input::Message { from: NodeId(from as u32 + 1), msg });
        }
    }

    /// Time passes: whatever is due happens.
    pub(in crate::election) fn pass(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            let due = (0..self.nodes.len()).map(|at| (self.nodes[at].deadline(), at)).min();
            let Some((at, node)) = due.filter(|(at, _)| *at <= until) else { break };
            self.now = self.now.max(at);
            self.input(node, Input::Deadline);
            self.deliver();
        }
        self.now = until;
    }

    /// Links go down, one after the other; nothing that follows from it arrives meanwhile.
    pub(in crate::election) fn cut(&mut self, links: &[(u32, u32)]) {
        links.iter().for_each(|(a, b)| self.set(*a as usize - 1, *b as usize - 1, false));
    }

    pub(in crate::election) fn mend(&mut self, links: &[(u32, u32)]) {
        links.iter().for_each(|(a, b)| self.set(*a as usize - 1, *b as usize - 1, true));
    }

    /// All links of a node.
    pub(in crate::election) fn of(&self, node: u32) -> Vec<(u32, u32)> {
        (1..=self.nodes.len() as u32).filter(|peer| *peer != node).map(|peer| (node, peer)).collect()
    }

    /// The node loses its memory, and its links with it.
    pub(in crate::election) fn restart(&mut self, node: u32) {
        let links = self.of(node);
        let were: Vec<_> =
            links.into_iter().filter(|(a, b)| self.links[*a as usize - 1][*b as usize - 1]).collect();
        let at = node as usize - 1;
        self.nodes[at] = self.boot(at);
        for (_, peer) in &were {
            let peer = *peer as usize - 1;
            (self.links[at][peer], self.links[peer][at]) = (false, false);
            self.mail.retain(|(from, to, _)| ![(at, peer), (peer, at)].contains(&(*from, *to)));
            self.tell(peer, at);
        }
        self.input(at, Input::Recovery);
        self.mend(&were);
    }

    pub(in crate::election) fn opinion(&self, node: u32) -> Opinion {
        self.nodes[node as usize - 1].opinion()
    }

    pub(in crate::election) fn is_dead(&self, node: u32) -> bool {
        self.opinion(node).status == Status::Dead
    }

    /// Whom each of these nodes follows, if it is in service.
    pub(in crate::election) fn leaders(&self, nodes: &[u32]) -> Vec<Option<u32>> {
        nodes.iter().map(|node| self.opinion(*node).normal_leader().map(|leader| leader.0)).collect()
    }

    pub(in crate::election) fn take_said(&mut self) -> Vec<String> {
        core::mem::take(&mut self.said)
    }
}

fn pairs(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |a| (a + 1..size).map(move |b| (a, b)))
}

fn in_words(from: usize, msg: &Msg, to: usize) -> String {
    let (from, to) = (from + 1, to + 1);
    let one = |name: &str, about: &About| {
        let change = match about.change {
            Change::Down => "down",
            Change::Up => "up",
        };
        format!("{from} {name}_{change}({}) {to}", about.node)
    };
    match msg {
        Msg::Cand(about) => one("cand", about),
        Msg::Accept(about) => one("accept", about),
        Msg::Cancel(about) => one("cancel", about),
        Msg::View(next) => format!("{from} view{} {to}", list(next.members)),
    }
}

fn list(members: Members) -> String {
    let ids: Vec<String> = members.ranks().map(|rank| format!("{}", rank + 1)).collect();
    format!("{{{}}}", ids.join(","))
}
