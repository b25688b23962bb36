//! A detector by itself, and a small world of them.

use super::*;

pub(super) fn config(kind: DetectorKind) -> DetectorConfig {
    DetectorConfig {
        kind,
        period: PERIOD,
        delta: DELTA,
        step: Span::millis(7),
        reporters: 2,
        reports_new_incarnations: true,
    }
}

pub(super) fn ms(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

/// One detector among four nodes, everything else played by the test.
pub(super) struct Alone {
    pub(super) detector: Detector,
    pub(super) now: Time,
}

impl Alone {
    pub(super) fn new(config: DetectorConfig, rank: usize) -> Self {
        let roster = Roster::new(NodeId(rank as u32 + 1), (1..=4).map(NodeId), Priority::LowestId);
        Self { detector: Detector::new(config, roster, Incarnation(1), Time::ZERO), now: Time::ZERO }
    }

    pub(super) fn start(&mut self, rank: usize) -> Mail {
        let mut mail = Mail::new();
        self.detector.start(self.now, rank, &mut mail);
        mail
    }

    pub(super) fn stop(&mut self, rank: usize) -> Mail {
        let mut mail = Mail::new();
        self.detector.stop(self.now, rank, &mut mail);
        mail
    }

    pub(super) fn receive(&mut self, rank: usize, msg: DetectorMsg) -> Mail {
        self.receive_in(Incarnation(1), rank, msg)
    }

    pub(super) fn receive_in(&mut self, incarnation: Incarnation, rank: usize, msg: DetectorMsg) -> Mail {
        let mut mail = Mail::new();
        self.detector.heard(rank, incarnation);
        self.detector.handle(self.now, rank, incarnation, msg, &mut mail);
        mail
    }

    pub(super) fn wake_after(&mut self, span: Span) -> Mail {
        self.now = self.now + span;
        let mut mail = Mail::new();
        self.detector.wake(self.now, &mut mail);
        mail
    }

    pub(super) fn downs_after(&mut self, span: Span) -> Vec<usize> {
        let mut mail = self.wake_after(span);
        core::iter::from_fn(|| self.detector.next_down(self.now, &mut mail)).collect()
    }
}

/// Detectors, a clock and a network that takes up to δ and keeps no order. Nodes are named by rank.
#[derive(Clone)]
pub(super) struct World {
    pub(super) config: DetectorConfig,
    pub(super) roster: Roster,
    pub(super) now: Time,
    pub(super) nodes: Vec<Option<Detector>>,
    pub(super) incarnations: Vec<Incarnation>,
    /// The latest incarnation of the second that the first has seen.
    pub(super) known: Vec<Vec<Incarnation>>,
    pub(super) cuts: Vec<(usize, usize)>,
    pub(super) flight: Vec<Flight>,
    pub(super) sent: Vec<(Time, usize, DetectorMsg)>,
    /// When, by whom, of whom.
    pub(super) downs: Vec<(Time, usize, usize)>,
    pub(super) rng: u64,
}

#[derive(Clone)]
pub(super) struct Flight {
    pub(super) arrives: Time,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) incarnation: Incarnation,
    pub(super) msg: DetectorMsg,
}

impl World {
    pub(super) fn new(config: DetectorConfig, size: usize, seed: u64) -> Self {
        let roster = Roster::new(NodeId(1), (1..=size as u32).map(NodeId), Priority::LowestId);
        let mut world = Self {
            config,
            roster,
            now: Time::ZERO,
            nodes: vec![None; size],
            incarnations: vec![Incarnation(0); size],
            known: vec![vec![Incarnation(0); size]; size],
            cuts: Vec::new(),
            flight: Vec::new(),
            sent: Vec::new(),
            downs: Vec::new(),
            rng: seed,
        };
        (0..size).for_each(|rank| world.restart(rank));
        world
    }

    pub(super) fn start(&mut self, watcher: usize, subject: usize) {
        self.step(watcher, |node, now, mail| node.start(now, subject, mail));
    }

    pub(super) fn stop(&mut self, watcher: usize, subject: usize) {
        self.step(watcher, |node, now, mail| node.stop(now, subject, mail));
    }

    pub(super) fn probe(&mut self, watcher: usize, subject: usize) {
        self.step(watcher, |node, now, mail| node.probe(now, subject, mail));
    }

    pub(super) fn wake(&mut self, rank: usize) {
        self.step(rank, |node, now, mail| node.wake(now, mail));
    }

    pub(super) fn crash(&mut self, rank: usize) {
        self.nodes[rank] = None;
        self.tell_all(rank, false);
    }

    pub(super) fn restart(&mut self, rank: usize) {
        let incarnation = self.incarnations[rank].next().expect("few incarnations");
        self.incarnations[rank] = incarnation;
        let roster = self.roster.seen_by(self.roster.at(rank));
        self.nodes[rank] = Some(Detector::new(self.config, roster, incarnation, self.now));
        self.known[rank].fill(Incarnation(0));
        for peer in 0..self.nodes.len() {
            let alive = self.nodes[peer].is_some();
            self.step(rank, |node, now, _| node.oracle(now, peer, alive));
        }
        self.tell_all(rank, true);
    }

    /// Any message will do, here one that asks for nothing.
    pub(super) fn show_life(&mut self, from: usize, to: usize) {
        self.post(from, to, DetectorMsg::ProbeReply { n: 0 });
    }

    pub(super) fn cut(&mut self, from: usize, to: usize) {
        self.cuts.push((from, to));
    }

    pub(super) fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// Everything up to and including `until`. At one instant, what arrives comes before what is due.
    pub(super) fn run_until(&mut self, until: Time) {
        let mut idle = 0;
        loop {
            let arrival = self.flight.iter().map(|flight| flight.arrives).min().unwrap_or(Time::NEVER);
            let due = self.nodes.iter().flatten().map(Detector::deadline).min().unwrap_or(Time::NEVER);
            let next = arrival.min(due);
            if next > until {
                break;
            }
            idle = if next > self.now { 0 } else { idle + 1 };
            assert!(idle < 10_000, "time stands still at {}", self.now);
            self.now = self.now.max(next);
            match arrival <= due {
                true => self.deliver(),
                false => {
                    for rank in 0..self.nodes.len() {
                        if self.nodes[rank].as_ref().is_some_and(|node| node.deadline() <= self.now) {
                            self.wake(rank);
                        }
                    }
                }
            }
        }
        self.now = until;
    }

    pub(super) fn node(&mut self, rank: usize) -> &mut Detector {
        self.nodes[rank].as_mut().expect("it is up")
    }

    pub(super) fn reports(&self, watcher: usize, subject: usize) -> Vec<Time> {
        let of_both = self.downs.iter().filter(|(_, by, of)| (*by, *of) == (watcher, subject));
        of_both.map(|(at, ..)| *at).collect()
    }

    pub(super) fn tokens_in(&mut self, span: Span) -> usize {
        let sent = self.sent.len();
        self.run_for(span);
        self.sent[sent..].iter().filter(|(_, _, msg)| msg.kind() == TOKEN).count()
    }

    /// A peer that restarts unnoticed no longer beats; the watch then ends in a late but truthful report.
    pub(super) fn forgets_subscriptions(&self) -> bool {
        matches!(self.config.kind, DetectorKind::Heartbeat | DetectorKind::Adaptive)
    }

    pub(super) fn random(&mut self, below: usize) -> usize {
        self.rng = self.rng.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.rng;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    pub(super) fn random_pair(&mut self) -> (usize, usize) {
        let size = self.nodes.len();
        let (one, step) = (self.random(size), 1 + self.random(size - 1));
        (one, (one + step) % size)
    }

    pub(super) fn step(&mut self, rank: usize, act: impl FnOnce(&mut Detector, Time, &mut Mail)) {
        let mut mail = Mail::new();
        let Some(node) = &mut self.nodes[rank] else { return };
        act(node, self.now, &mut mail);
        while let Some(down) = node.next_down(self.now, &mut mail) {
            self.downs.push((self.now, rank, down));
        }
        mail.into_iter().for_each(|(to, msg)| self.post(rank, to, msg));
    }

    pub(super) fn post(&mut self, from: usize, to: usize, msg: DetectorMsg) {
        assert_ne!(from, to, "nobody writes to itself: {msg:?}");
        self.sent.push((self.now, from, msg.clone()));
        let arrives = self.now + Span::micros(self.random(DELTA.as_micros() as usize + 1) as u64);
        if !self.cuts.contains(&(from, to)) {
            self.flight.push(Flight { arrives, from, to, incarnation: self.incarnations[from], msg });
        }
    }

    pub(super) fn deliver(&mut self) {
        let first = (0..self.flight.len()).min_by_key(|at| self.flight[*at].arrives).expect("one is due");
        let Flight { from, to, incarnation, msg, .. } = self.flight.remove(first);
        if self.nodes[to].is_none() || incarnation < self.known[to][from] {
            return;
        }
        self.known[to][from] = incarnation;
        if self.node(to).heard(from, incarnation) {
            self.downs.push((self.now, to, from));
        }
        self.step(to, |node, now, mail| node.handle(now, from, incarnation, msg, mail));
    }

    pub(super) fn tell_all(&mut self, rank: usize, alive: bool) {
        for peer in (0..self.nodes.len()).filter(|peer| *peer != rank) {
            self.step(peer, |node, now, _| node.oracle(now, rank, alive));
        }
    }
}
