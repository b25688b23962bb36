//! Links without any promise.
//!
//! A link alternates between open and shut spells, each link for itself. Shut spells grow without bound, so that
//! every timeout is exceeded again and again; open spells do not, but are long enough for an algorithm to trust a
//! link that seemed dead. Messages that are sent in a shut spell arrive when it is over, in no order: late, but
//! not lost.
//!
//! Once somebody leads, it is worse: the links from the leader do not open at all, and the others do not shut, until
//! another leads. So the present leader always seems worse than the others.
//!
//! If the promise is about the order of responses, spells would be too kind: while they last, the same nodes answer
//! first. There each query and response takes a time of its own, from a range that grows without bound.

use bellwether_proto::canonical::Form;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;

use super::{Timely, unit};
use crate::chance::{Chance, below};
use crate::scenario::Scenario;

/// An open spell takes about that many of the leader's periods.
const OPEN_PERIODS: u64 = 4;

/// All links of a world, at their worst.
#[derive(Debug)]
pub(super) struct Hostile {
    nodes: usize,
    /// The shortest delay there is.
    low: Span,
    pace: Pace,
    /// Of a message, whatever spell it meets: each is lost or not independently, so that a link is fair.
    loss: Chance,
    /// By index of sender and receiver.
    spells: Vec<Spell>,
    leader: Option<usize>,
}

/// How long spells take.
#[derive(Clone, Copy, Debug)]
struct Pace {
    open: Span,
    unit: Span,
}

/// The spell that a link is in.
#[derive(Clone, Copy, Debug)]
struct Spell {
    open: bool,
    /// How many shut spells there have been, this one included.
    shut: u32,
    until: Time,
}

impl Hostile {
    pub(super) fn new(loss: f64, scenario: &Scenario, rng: &mut ChaCha8Rng) -> Self {
        let nodes = scenario.nodes as usize;
        let pace = Pace { open: scenario.timing.tau * OPEN_PERIODS, unit: unit(scenario) };
        let spells = (0..nodes * nodes).map(|_| Spell::first(pace, rng)).collect();
        let low = scenario.network.base.latency.low;
        Self { nodes, low, pace, loss: Chance::of(loss), spells, leader: None }
    }

    pub(super) fn arrival(
        &mut self,
        now: Time,
        from: usize,
        to: usize,
        rng: &mut ChaCha8Rng,
    ) -> Option<Time> {
        if self.loss.strikes(rng) {
            return None;
        }
        let spell = &mut self.spells[from * self.nodes + to];
        while spell.until <= now {
            spell.pass(self.pace, rng);
        }
        let open = match self.leader {
            None => spell.open,
            Some(leader) if leader == from => {
                spell.shut_at(now, self.pace, rng);
                false
            }
            Some(_) => true,
        };
        if open {
            let slack = Timely { low: self.low, high: self.low }.within(self.pace.unit);
            return Some(slack.arrival(now, rng));
        }
        let after = Span::micros(below(self.pace.unit.as_micros().saturating_add(1), rng));
        Some((now + self.low).max(spell.until + after))
    }

    pub(super) fn tell_leader(&mut self, node: usize) {
        self.leader = Some(node);
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.option(self.leader, |form, node| form.number(node as u64));
        for spell in &self.spells {
            form.number(u64::from(spell.shut) << 1 | u64::from(spell.open));
            form.deadline(now, spell.until);
        }
    }
}

impl Spell {
    /// What a link is found in at time 0: some way through an open spell, or through its first shut one.
    fn first(pace: Pace, rng: &mut ChaCha8Rng) -> Self {
        let open = below(2, rng) == 0;
        let shut = u32::from(!open);
        let longest = if open { pace.open } else { pace.unit };
        Self { open, shut, until: Time::ZERO + Span::micros(below(longest.as_micros(), rng)) }
    }

    /// Ends an open spell before its time.
    fn shut_at(&mut self, now: Time, pace: Pace, rng: &mut ChaCha8Rng) {
        if self.open {
            self.until = now;
            self.pass(pace, rng);
        }
    }

    fn pass(&mut self, pace: Pace, rng: &mut ChaCha8Rng) {
        self.open = !self.open;
        self.shut += u32::from(!self.open);
        let about = if self.open { pace.open } else { pace.unit * u64::from(self.shut) };
        self.until = self.until + roughly(about, rng);
    }
}

/// Between half of it and one and a half.
fn roughly(span: Span, rng: &mut ChaCha8Rng) -> Span {
    span / 2 + Span::micros(below(span.as_micros(), rng))
}

/// Delays without spells: each message's own, from a range that grows without bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jumble {
    low: Span,
    unit: Span,
}

impl Jumble {
    /// After this long, a message may take twice as long as at first, and so on.
    const DOUBLED_AFTER: Span = Span::secs(20);

    pub(super) fn new(scenario: &Scenario) -> Self {
        Self { low: scenario.network.base.latency.low, unit: unit(scenario) }
    }

    pub(super) fn arrival(&self, now: Time, rng: &mut ChaCha8Rng) -> Time {
        Timely { low: self.low, high: self.high(now) }.arrival(now, rng)
    }

    /// The longest that a message sent now may take.
    pub(super) fn high(&self, now: Time) -> Span {
        let unit = u128::from(self.unit.as_micros());
        let grown = unit + unit * u128::from(now.as_micros()) / u128::from(Self::DOUBLED_AFTER.as_micros());
        Span::micros(u64::try_from(grown).unwrap_or(u64::MAX)).max(self.low)
    }
}
