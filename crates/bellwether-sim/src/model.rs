//! Links of a network model: when does a message arrive that is sent now?
//!
//! A model makes a promise about some messages, from its time on. Everything else is [`Hostile`], and so is
//! everything before that time. So only the promise can explain that an algorithm works.
//!
//! | kind | promise |
//! |---|---|
//! | synchronous, gst | [`Promise::Everything`] |
//! | kcs | [`Promise::Source`], to everybody |
//! | t-source | [`Promise::Source`], to a few |
//! | t-moving-source | [`Promise::Moving`] |
//! | t-accessible | [`Promise::Accessible`] |
//! | mp, combined | [`Promise::Pattern`] |

mod accessible;
mod hostile;
mod moving;
mod pattern;
#[cfg(test)]
mod tests;

use bellwether_proto::canonical::Form;
use bellwether_proto::message::Part;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;

use crate::chance::below;
use crate::scenario::{Model, ModelKind, Scenario, index};
use accessible::Accessible;
use hostile::{Hostile, Jumble};
use moving::Moving;
use pattern::Pattern;

/// A model of the links, and its state.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// When the promise begins.
    gst: Time,
    promise: Promise,
    hostile: Hostile,
    jumble: Jumble,
}

/// What is promised.
#[derive(Debug)]
enum Promise {
    /// Every message is timely.
    Everything(Timely),
    /// What the source sends to these is timely.
    Source { source: usize, receivers: Vec<bool>, timely: Timely },
    /// Messages to the nodes whose turn it is are timely, whoever sends them. One source would be enough; the others do
    /// the same, so that it does not stand out.
    Moving { of: Vec<Moving>, leader: Option<usize>, timely: Timely },
    /// Their immediate answers are timely as well.
    Accessible(Accessible),
    /// The source's response is among the first.
    Pattern(Pattern),
}

/// What a promise says about one message.
#[derive(Clone, Copy, Debug)]
enum Promised {
    /// It arrives then.
    At(Time),
    /// It is at the mercy of a hostile link, but will not arrive before then.
    NotBefore(Time),
}

impl Promised {
    const NOTHING: Self = Self::NotBefore(Time::ZERO);
}

impl Behaviour {
    /// `None` for a model that leaves the links to the rule of `[network]`.
    pub(crate) fn new(scenario: &Scenario, rng: &mut ChaCha8Rng) -> Option<Self> {
        let model = scenario.network.model.as_ref()?;
        let promise = Promise::new(model, scenario, rng)?;
        let hostile = Hostile::new(model.loss, scenario, rng);
        Some(Self { gst: model.gst, promise, hostile, jumble: Jumble::new(scenario) })
    }

    /// When a message that is sent now arrives; never, if it is lost. Time must not run backwards.
    pub(crate) fn arrival(
        &mut self,
        now: Time,
        from: usize,
        to: usize,
        part: Part,
        rng: &mut ChaCha8Rng,
    ) -> Option<Time> {
        let promised =
            if now < self.gst { Promised::NOTHING } else { self.promise.about(now, from, to, part, rng) };
        let hostile = |hostile: &mut Hostile, rng: &mut ChaCha8Rng| match (&self.promise, part) {
            (Promise::Pattern(_), Part::Query | Part::Response) => Some(self.jumble.arrival(now, rng)),
            _ => hostile.arrival(now, from, to, rng),
        };
        match promised {
            Promised::At(arrival) => Some(arrival),
            Promised::NotBefore(hold) => Some(hostile(&mut self.hostile, rng)?.max(hold)),
        }
    }

    /// This node leads now. The hostile links turn against it.
    pub(crate) fn tell_leader(&mut self, node: usize) {
        self.hostile.tell_leader(node);
        match &mut self.promise {
            Promise::Moving { leader, .. } => *leader = Some(node),
            Promise::Pattern(pattern) => pattern.tell_leader(node),
            Promise::Everything(_) | Promise::Source { .. } | Promise::Accessible(_) => {}
        }
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        form.deadline(now, self.gst);
        self.promise.canonical(now, form);
        if now < self.gst || !matches!(self.promise, Promise::Everything(_)) {
            self.hostile.canonical(now, form);
        }
    }
}

impl Promise {
    fn new(model: &Model, scenario: &Scenario, rng: &mut ChaCha8Rng) -> Option<Self> {
        let (nodes, source, t) = (scenario.nodes as usize, index(model.source), model.t as usize);
        let others: Vec<usize> = (0..nodes).filter(|node| *node != source).collect();
        let timely = Timely { low: scenario.network.base.latency.low, high: model.delta };
        Some(match model.kind {
            ModelKind::Synchronous | ModelKind::Gst => Self::Everything(timely),
            ModelKind::Kcs => Self::Source { source, receivers: members(nodes, &others), timely },
            ModelKind::TSource => {
                let receivers = members(nodes, &drawn(t, others, rng));
                Self::Source { source, receivers, timely }
            }
            ModelKind::TMovingSource => {
                let others_of = |sender: usize| (0..nodes).filter(|node| *node != sender).collect();
                let moving = |sender| Moving::new(t, others_of(sender), model.gst, scenario, rng);
                Self::Moving { of: (0..nodes).map(moving).collect(), leader: None, timely }
            }
            ModelKind::TAccessible => {
                let moving = Moving::new(t, others, model.gst, scenario, rng);
                Self::Accessible(Accessible::new(nodes, source, moving, timely))
            }
            ModelKind::Mp | ModelKind::Combined => {
                let chosen = drawn(t, others, rng);
                Self::Pattern(Pattern::new(model, nodes, &chosen, timely, Jumble::new(scenario)))
            }
            ModelKind::Adversary => return None,
        })
    }

    fn about(&mut self, now: Time, from: usize, to: usize, part: Part, rng: &mut ChaCha8Rng) -> Promised {
        match self {
            Self::Everything(timely) => Promised::At(timely.arrival(now, rng)),
            Self::Source { source, receivers, timely } => {
                timely.if_so(from == *source && receivers[to], now, rng)
            }
            Self::Moving { of, leader, timely } => {
                if leader.is_none_or(|leader| leader == from) {
                    of[from].pass(now);
                }
                timely.if_so(of[from].reaches(to), now, rng)
            }
            Self::Accessible(accessible) => accessible.about(now, from, to, rng),
            Self::Pattern(pattern) => pattern.about(now, from, to, part, rng),
        }
    }

    /// What never changes is left out.
    fn canonical(&self, now: Time, form: &mut Form) {
        match self {
            Self::Everything(_) | Self::Source { .. } => {}
            Self::Moving { of, leader, .. } => {
                form.option(*leader, |form, leader| form.number(leader as u64));
                of.iter().for_each(|moving| moving.canonical(now, form));
            }
            Self::Accessible(accessible) => accessible.canonical(now, form),
            Self::Pattern(pattern) => pattern.canonical(now, form),
        }
    }
}

/// The delays of a message that is timely, both ends included.
#[derive(Clone, Copy, Debug)]
struct Timely {
    low: Span,
    high: Span,
}

impl Timely {
    /// Of at most `high`, if the shortest delay there is allows.
    fn within(self, high: Span) -> Self {
        Self { high: high.max(self.low), ..self }
    }

    fn if_so(self, promised: bool, now: Time, rng: &mut ChaCha8Rng) -> Promised {
        if promised { Promised::At(self.arrival(now, rng)) } else { Promised::NOTHING }
    }

    fn arrival(self, now: Time, rng: &mut ChaCha8Rng) -> Time {
        let spread = self.high.as_micros() - self.low.as_micros();
        now + self.low + Span::micros(below(spread.saturating_add(1), rng))
    }
}

/// The unit in which hostile delays and the phases of a promise grow: what an algorithm that sends every τ, and has
/// made one mistake, is sure to notice.
fn unit(scenario: &Scenario) -> Span {
    (scenario.timing.tau + scenario.timing.step) * 2
}

/// `count` of them at random, in random order.
fn drawn(count: usize, mut from: Vec<usize>, rng: &mut ChaCha8Rng) -> Vec<usize> {
    for place in 0..count {
        let other = place + below((from.len() - place) as u64, rng) as usize;
        from.swap(place, other);
    }
    from.truncate(count);
    from
}

/// A set of nodes, as a table.
fn members(nodes: usize, of: &[usize]) -> Vec<bool> {
    let mut table = vec![false; nodes];
    of.iter().for_each(|node| table[*node] = true);
    table
}
