//! Every order in which links of three nodes fail and come back, nodes restart, news come and patience ends, over links whose
//! ends see the same transitions by construction: what the layer below promises, and no more of it than that.
//!
//! In every state, that whoever is in a view agrees on it; and of every state, that all end up in one view, remembering
//! nothing, if the network is whole and nothing befalls it any more. Time is arbitrary: news may take longer than anybody waits.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use bellwether_proto::canonical::Form;
use bellwether_proto::election::fb_omega::FbOmega;
use bellwether_proto::election::franceschetti::Msg;
use bellwether_proto::election::phi::Phi;
use bellwether_proto::election::{
    Action, Actions, Choices, Election, Input, Primary, Protocol, Setup, Standing, Timing, Variant,
};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::message::Message;
use bellwether_proto::roster::{Priority, Roster};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::view::{Members, Status};

const NODES: usize = 3;

/// What may still happen.
#[derive(Clone, Copy, Debug, Hash)]
struct Left {
    /// Ends of links that go down by themselves.
    cuts: u8,
    /// Ends that go up by themselves.
    mends: u8,
    restarts: u8,
    /// Nodes whose patience ends.
    expiries: u8,
}

/// More states than any of these searches has: views follow each other without end.
const STATES_MAX: usize = 50_000;

/// Two failures and a repair, a failure that passes while somebody loses patience, a restart.
#[test]
fn fb_omega_agrees_in_every_state_and_converges_from_each() {
    let fails = Left { cuts: 2, mends: 1, restarts: 0, expiries: 0 };
    let flaps = Left { cuts: 1, mends: 1, restarts: 0, expiries: 1 };
    let restart = Left { cuts: 0, mends: 0, restarts: 1, expiries: 0 };
    for (left, least) in [(fails, 10_000), (flaps, 40), (restart, 5_000)] {
        for primary in Primary::ALL {
            let states = search::<FbOmega>(left, primary, Judged::Converges);
            assert!(states > least, "{left:?}: {states} states");
        }
    }
}

/// Nobody comes back with Φ, so that nothing need become of a state.
#[test]
fn phi_agrees_in_every_state() {
    let left = Left { cuts: 3, mends: 0, restarts: 0, expiries: 0 };
    let states = search::<Phi>(left, Primary::Any, Judged::Agrees);
    assert!(states > 2_000, "{left:?}: {states} states");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Agrees,
    Converges,
}

/// Looks at every state, breadth first, and says how many there are.
fn search<E: Election<Msg = Msg>>(left: Left, primary: Primary, judged: Judged) -> usize {
    let first = State::<E>::new(left, primary);
    let mut known: BTreeSet<u64> = BTreeSet::from([first.print()]);
    let mut todo = VecDeque::from([(first, Vec::new())]);
    while let Some((state, path)) = todo.pop_front() {
        if let Some(wrong) = state.disagreement() {
            panic!("{wrong}: {path:#?}");
        }
        if judged == Judged::Converges
            && let Err(wrong) = state.clone().calm()
        {
            panic!("{wrong}, after {path:#?}");
        }
        assert!(known.len() < STATES_MAX, "without end: {path:#?}");
        for step in state.steps() {
            let mut next = state.clone();
            next.take(step);
            if known.insert(next.print()) {
                let mut path = path.clone();
                path.push(step);
                todo.push_back((next, path));
            }
        }
    }
    known.len()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The end of the first goes down, or up, by itself.
    Turn(usize, usize),
    /// It sees what the other end has seen.
    Follow(usize, usize),
    /// The first message from the first arrives at the second.
    Deliver(usize, usize),
    /// How the first stands arrives at the second.
    Stand(usize, usize),
    Expire(usize),
    Restart(usize),
}

#[derive(Clone)]
struct State<E> {
    hosts: Vec<Host<E>>,
    /// What the end of the first has seen of its link to the second, in their present lives.
    seen: [[u8; NODES]; NODES],
    /// On its way: from the first to the second, sent when the sender had seen so much.
    mail: [[VecDeque<(u8, Msg)>; NODES]; NODES],
    /// News of how the first stands that the second has not heard.
    news: [[bool; NODES]; NODES],
    left: Left,
}

#[derive(Clone)]
struct Host<E> {
    node: E,
    now: Time,
    life: u64,
    count: u64,
    standing: Standing,
    members: Option<Members>,
    remembers: bool,
    setup: Setup,
}

impl<E: Election<Msg = Msg>> State<E> {
    fn new(left: Left, primary: Primary) -> Self {
        let hosts = (0..NODES).map(|at| Host::new(at, primary)).collect();
        let mut state = Self {
            hosts,
            seen: [[0; NODES]; NODES],
            mail: Default::default(),
            news: [[false; NODES]; NODES],
            left: Left { cuts: 0, mends: 6, restarts: 0, expiries: 0 },
        };
        (0..NODES).for_each(|at| state.input(at, Input::Recovery));
        for (a, b) in pairs() {
            state.turn(a, b);
            state.turn(b, a);
        }
        state.settle_news();
        state.left = left;
        state
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (a, b) in pairs().flat_map(|(a, b)| [(a, b), (b, a)]) {
            let (mine, theirs) = (self.seen[a][b], self.seen[b][a]);
            let may_turn = match mine % 2 {
                1 => self.left.cuts > 0,
                _ => mine == theirs && self.left.mends > 0,
            };
            if may_turn {
                steps.push(Step::Turn(a, b));
            }
            if mine < theirs {
                steps.push(Step::Follow(a, b));
            }
            if !self.mail[a][b].is_empty() {
                steps.push(Step::Deliver(a, b));
            }
            if self.news[a][b] && self.is_up(b, a) {
                steps.push(Step::Stand(a, b));
            }
        }
        for (at, host) in self.hosts.iter().enumerate() {
            if self.left.expiries > 0 && host.node.deadline() != Time::NEVER {
                steps.push(Step::Expire(at));
            }
            if self.left.restarts > 0 {
                steps.push(Step::Restart(at));
            }
        }
        steps
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Turn(a, b) => {
                let left = if self.seen[a][b] % 2 == 1 { &mut self.left.cuts } else { &mut self.left.mends };
                *left -= 1;
                self.turn(a, b);
            }
            Step::Follow(a, b) => self.turn(a, b),
            Step::Deliver(a, b) => self.deliver(a, b),
            Step::Stand(a, b) => self.tell(a, b),
            Step::Expire(at) => {
                self.left.expiries -= 1;
                self.expire(at);
            }
            Step::Restart(at) => {
                self.left.restarts -= 1;
                self.restart(at);
            }
        }
    }

    fn is_up(&self, a: usize, b: usize) -> bool {
        self.seen[a][b] % 2 == 1
    }

    fn turn(&mut self, a: usize, b: usize) {
        self.seen[a][b] += 1;
        self.news[b][a] = false;
        let up = self.is_up(a, b).then_some(self.hosts[b].standing);
        self.input(a, Input::Link { peer: id(b), up });
    }

    /// What was sent in an up arrives in it: the receiver sees what its sender had seen first; what it is past is lost.
    fn deliver(&mut self, a: usize, b: usize) {
        let Some((seen, msg)) = self.mail[a][b].pop_front() else { return };
        while self.seen[b][a] < seen {
            self.turn(b, a);
        }
        if self.seen[b][a] == seen {
            self.input(b, Input::Message { from: id(a), msg });
        }
    }

    fn tell(&mut self, a: usize, b: usize) {
        self.news[a][b] = false;
        self.input(b, Input::Link { peer: id(a), up: Some(self.hosts[a].standing) });
    }

    fn expire(&mut self, at: usize) {
        self.hosts[at].now = self.hosts[at].now.max(self.hosts[at].node.deadline());
        self.input(at, Input::Deadline);
    }

    /// The others see the old life end when the new one speaks to them, which is before they hear anything of it.
    fn restart(&mut self, at: usize) {
        self.hosts[at].boot();
        for peer in (0..NODES).filter(|peer| *peer != at) {
            self.mail[at][peer].clear();
            self.mail[peer][at].clear();
            if self.is_up(peer, at) {
                self.turn(peer, at);
            }
            (self.seen[at][peer], self.seen[peer][at]) = (0, 0);
            (self.news[at][peer], self.news[peer][at]) = (false, false);
        }
        self.input(at, Input::Recovery);
        // Links to a node that restarts come up again, whatever is left.
        self.left.mends += 2;
    }

    fn input(&mut self, at: usize, input: Input<Msg>) {
        let mut actions = Actions::new();
        let host = &mut self.hosts[at];
        host.node.handle(host.now, input, &mut actions);
        let mut reorganized = false;
        for action in actions.drain() {
            match action {
                Action::Send { to, msg } => {
                    let to = to.0 as usize - 1;
                    if self.seen[at][to] % 2 == 1 {
                        self.mail[at][to].push_back((self.seen[at][to], msg));
                    }
                }
                Action::Stand(standing) => {
                    let changed = std::mem::replace(&mut self.hosts[at].standing, standing) != standing;
                    (0..NODES)
                        .for_each(|peer| self.news[at][peer] |= changed && self.seen[peer][at] % 2 == 1);
                }
                Action::Persist { count } => self.hosts[at].count = count,
                Action::Install(members) => self.hosts[at].members = Some(members),
                Action::Remember(remembers) => self.hosts[at].remembers = remembers,
                // A fault manager with nothing to do.
                Action::Form(_) => reorganized = true,
                Action::Disband => reorganized = false,
                other => panic!("{other:?}"),
            }
        }
        if reorganized {
            self.input(at, Input::Reorganized);
        }
    }

    /// Whoever shows a view is a member of it, and all who show one show the same.
    fn disagreement(&self) -> Option<String> {
        let shown = self.hosts.iter().enumerate().filter_map(|(at, host)| {
            let view = host.node.view();
            view.group.map(|group| (at, group, host.members, view))
        });
        let shown: Vec<_> = shown.collect();
        for (at, group, members, view) in &shown {
            if !members.is_some_and(|members| members.contains(*at)) {
                return Some(format!("{} is in view {group}, of which it is no member", at + 1));
            }
            if view.leader.is_some_and(|leader| leader != group.0.node) {
                return Some(format!("{} names another leader than view {group} has", at + 1));
            }
            if let Some((other, ..)) = shown.iter().find(|(_, g, m, _)| g == group && m != members) {
                return Some(format!("{} and {} are in view {group} with other members", at + 1, other + 1));
            }
        }
        None
    }

    /// The network is whole, and nothing befalls it any more: all come to be in one view.
    fn calm(mut self) -> Result<(), String> {
        for _ in 0..500 {
            self.settle_news();
            let done = pairs().all(|(a, b)| self.is_up(a, b) && self.seen[a][b] == self.seen[b][a]);
            let due = (0..NODES).map(|at| (self.hosts[at].node.deadline(), at)).min();
            match due {
                Some((deadline, at)) if deadline != Time::NEVER => {
                    // All clocks run at the same pace.
                    self.hosts.iter_mut().for_each(|host| host.now = host.now.max(deadline));
                    self.expire(at);
                }
                _ if done => return self.settled(),
                _ => {}
            }
        }
        Err("it does not come to rest".to_owned())
    }

    /// Whatever takes no patience.
    fn settle_news(&mut self) {
        loop {
            let mut moved = false;
            for (a, b) in pairs().flat_map(|(a, b)| [(a, b), (b, a)]) {
                if !self.mail[a][b].is_empty() {
                    self.deliver(a, b);
                    moved = true;
                } else if self.seen[a][b] < self.seen[b][a]
                    || !self.is_up(a, b) && self.seen[a][b] == self.seen[b][a]
                {
                    self.turn(a, b);
                    moved = true;
                } else if self.news[a][b] && self.is_up(b, a) {
                    self.tell(a, b);
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn settled(&self) -> Result<(), String> {
        let views: Vec<_> = self.hosts.iter().map(|host| host.node.view()).collect();
        let one = views.iter().all(|view| view.status == Status::Normal && view.group == views[0].group);
        let clean = self.hosts.iter().all(|host| !host.remembers);
        if one && clean { Ok(()) } else { Err(format!("clean: {clean}, {views:#?}")) }
    }

    fn print(&self) -> u64 {
        let mut form = Form::new();
        for host in &self.hosts {
            form.incarnation(host.setup.roster.me(), Incarnation(host.life));
            host.node.canonical(host.now, &mut form);
            form.number(host.count);
            form.number(u64::from(host.remembers));
            form.number(host.members.map_or(0, |members| members.0 as u64 + 1));
        }
        for (_, msg) in self.mail.iter().flatten().flatten() {
            msg.canonical(&mut form);
        }
        let mail: Vec<Vec<u8>> = self
            .mail
            .iter()
            .flatten()
            .map(|letters| letters.iter().map(|(seen, _)| *seen).collect())
            .collect();
        let mut hasher = DefaultHasher::new();
        (form.timed(), self.seen, mail, self.news, self.left).hash(&mut hasher);
        hasher.finish()
    }
}

impl<E: Election<Msg = Msg>> Host<E> {
    fn new(at: usize, primary: Primary) -> Self {
        let setup = Setup {
            protocol: Protocol::FbOmega, // No algorithm looks at it.
            variant: Variant::Repaired,
            roster: Roster::new(id(at), (0..NODES).map(id), Priority::LowestId),
            incarnation: Incarnation(1),
            count: 0,
            t: 0,
            timing: Timing { delta: Span::millis(1), tau: Span::millis(10), step: Span::millis(1) },
            choices: Choices { candidate: true, primary },
        };
        let node = E::new(setup.clone(), Span::ZERO);
        let standing = Standing::default();
        Self { node, now: Time::ZERO, life: 1, count: 0, standing, members: None, remembers: false, setup }
    }

    fn boot(&mut self) {
        self.life += 1;
        let (incarnation, count) = (Incarnation(self.life), self.count);
        self.node = E::new(Setup { incarnation, count, ..self.setup.clone() }, Span::ZERO);
        (self.members, self.remembers) = (None, false);
    }
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (a, b)))
}

fn id(at: usize) -> NodeId {
    NodeId(at as u32 + 1)
}
