//! What is true of every algorithm.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{AnyElection, AnyMsg, Protocol};
use crate::canonical::Form;
use crate::election::{
    Action, Actions, Channels, Choices, Election, Input, Membership, Setup, Timing, Variant,
};
use crate::ident::{Incarnation, NodeId};
use crate::kind::Message;
use crate::opinion::Status;
use crate::promise::Assumption;
use crate::roster::Roster;
use crate::time::{Span, Time};

const NODES: u32 = 4;
const STEPS: u32 = 600;

/// A search takes two states with the same form for one: what a step changes must show in the form.
#[test]
fn whatever_a_step_changes_shows_in_the_canonical_form() {
    for_all(|name, walk| {
        let mut changes = 0;
        for _ in 0..STEPS {
            let step = walk.step();
            let same = all_that_matters(&step.before) == all_that_matters(&step.after);
            let form = |election: &AnyElection| exact(|form| election.canonical(step.now, form));
            assert_eq!(form(&step.before) == form(&step.after), same, "{name}: {step:?}");
            changes += u32::from(!same);
        }
        // An election that ends has little to change after it: each but the leader has learnt who leads.
        let promises = walk.protocol.spec().repaired;
        let ends = promises.iter().all(|promise| promise.under.contains(&Assumption::NoCrashes));
        let least = if ends { NODES - 1 } else { STEPS / 10 };
        assert!(changes >= least, "{name}: {changes} steps changed anything");
    });
}

#[test]
fn different_messages_have_different_canonical_forms() {
    for_all(|name, walk| {
        let mut said: Vec<AnyMsg> = Vec::new();
        let at_first: Vec<_> = walk.mail.iter().map(|(_, _, msg)| msg.clone()).collect();
        let later = (0..STEPS).flat_map(|_| walk.step().said);
        for msg in at_first.into_iter().chain(later) {
            if said.len() < 200 && !said.contains(&msg) {
                said.push(msg);
            }
        }
        assert!(!said.is_empty(), "{name}");
        for (at, one) in said.iter().enumerate() {
            let form = |msg: &AnyMsg| exact(|form| msg.canonical(form));
            let twin = said[at + 1..].iter().find(|other| form(other) == form(one));
            assert_eq!(twin, None, "{name}: {one:?}");
        }
    });
}

/// The kinds by which messages are counted and drawn are those that the algorithm declares.
#[test]
fn messages_are_of_the_kinds_that_the_algorithm_declares() {
    for_all(|name, walk| {
        for _ in 0..STEPS {
            for msg in walk.step().said {
                assert!(walk.protocol.spec().kinds.contains(&msg.kind()), "{name}: {msg:?}");
            }
        }
    });
}

#[test]
fn each_algorithm_is_held_to_its_own_invariants() {
    for_all(|name, walk| {
        let (young, mut old) = (walk.nodes[0].clone(), None);
        for _ in 0..STEPS {
            let step = walk.step();
            assert_eq!(step.after.breach(&step.before), None, "{name}");
            old = Some(walk.nodes[0].clone())
                .filter(|node| format!("{node:?}") != format!("{young:?}"))
                .or(old);
        }
        // To have forgotten what was learnt breaks an invariant of those who have learnt.
        if matches!(walk.protocol, Protocol::Adft | Protocol::Mmrt | Protocol::Fjr) {
            assert!(old.is_some_and(|old| young.breach(&old).is_some()), "{name}");
        }
    });
}

fn for_all(check: impl Fn(&str, &mut Walk)) {
    for protocol in Protocol::ALL {
        for variant in Variant::ALL {
            check(&format!("{} {}", protocol.name(), variant.name()), &mut Walk::new(protocol, variant));
        }
    }
}

/// When a member was heard last matters to `fjr` only when it knows too many and forgets one.
fn all_that_matters(election: &AnyElection) -> String {
    let text = format!("{election:?}");
    let mut parts = text.split("heard: ");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
    [first].into_iter().chain(rest).collect()
}

fn exact(write: impl Fn(&mut Form)) -> Vec<u64> {
    let (mut form, mut words) = (Form::new(), Vec::new());
    write(&mut form);
    form.write_exact(&mut words);
    words
}

/// A few nodes to which things happen: at random, but always the same.
struct Walk {
    protocol: Protocol,
    nodes: Vec<AnyElection>,
    now: Time,
    /// Sender, receiver, message.
    mail: VecDeque<(NodeId, NodeId, AnyMsg)>,
    /// Whose groups are about to be reorganized.
    formed: Vec<usize>,
    random: u64,
}

#[derive(Debug)]
#[allow(dead_code, reason = "some parts are there to be printed")]
struct Step {
    now: Time,
    input: Input<AnyMsg>,
    before: AnyElection,
    after: AnyElection,
    said: Vec<AnyMsg>,
}

impl Walk {
    fn new(protocol: Protocol, variant: Variant) -> Self {
        let members = || (1..=NODES).map(NodeId);
        let node = |me| {
            let timing = Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(7) };
            let roster = Roster::new(me, members(), protocol.spec().priority);
            let setup = Setup {
                protocol,
                variant,
                roster,
                incarnation: Incarnation(2),
                count: 0,
                t: 1,
                timing,
                choices: Choices::default(),
            };
            AnyElection::new(setup, Span::millis(50))
        };
        let nodes = members().map(node).collect();
        let mut walk =
            Self { protocol, nodes, now: Time::ZERO, mail: VecDeque::new(), formed: Vec::new(), random: 1 };
        (0..NODES as usize).for_each(|at| drop(walk.input(at, Input::Recovery)));
        walk
    }

    fn step(&mut self) -> Step {
        match self.below(8) {
            0..4 if !self.formed.is_empty() => {
                let at = self.formed.remove(0);
                self.input(at, Input::Reorganized)
            }
            0..4 if !self.mail.is_empty() => {
                let (from, to, msg) = self.mail.pop_front().expect("there is some");
                self.input(to.0 as usize - 1, Input::Message { from, msg })
            }
            4..7 => {
                let at = (0..self.nodes.len())
                    .min_by_key(|at| self.nodes[*at].deadline())
                    .expect("there are nodes");
                self.now = self.nodes[at].deadline().as_deadline().unwrap_or(self.now).max(self.now);
                self.input(at, Input::Deadline)
            }
            _ => {
                let (at, peer) = (self.below(NODES), self.below(NODES));
                let peer = NodeId(1 + if peer == at { (peer + 1) % NODES } else { peer });
                let first = self.below(2) == 0;
                let input = match self.protocol.spec().channels {
                    Channels::Consistent => Input::Link { peer, up: first.then(|| self.membership(peer)) },
                    _ if first => Input::DownSig(peer),
                    _ => Input::Gone(peer),
                };
                self.input(at as usize, input)
            }
        }
    }

    fn input(&mut self, at: usize, input: Input<AnyMsg>) -> Step {
        let (me, mut out, mut said) = (NodeId(1 + at as u32), Actions::new(), Vec::new());
        let before = self.nodes[at].clone();
        self.nodes[at].handle(self.now, input.clone(), &mut out);
        for action in out.drain() {
            let (to, msg) = match action {
                Action::Form(_) => {
                    self.formed.push(at);
                    continue;
                }
                Action::Send { to, msg } | Action::Join { to, msg } => (Vec::from([to]), msg),
                Action::Broadcast(msg) => ((1..=NODES).map(NodeId).filter(|to| *to != me).collect(), msg),
                _ => continue,
            };
            said.push(msg.clone());
            self.mail.extend(to.into_iter().map(|to| (me, to, msg.clone())));
        }
        self.mail.truncate(20); // What is beyond is lost.
        Step { now: self.now, input, before, after: self.nodes[at].clone(), said }
    }

    /// As the peer shows itself.
    fn membership(&self, peer: NodeId) -> Membership {
        let opinion = self.nodes[peer.0 as usize - 1].opinion();
        Membership { view: opinion.group, dead: opinion.status == Status::Dead }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as u32 % bound
    }
}
