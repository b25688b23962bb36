//! The message pattern: the source's response to each query of some others is among the first n − t.
//!
//! Only the order of responses is promised. Delays have no bound, and do grow for ever. For each process q that
//! has the pattern:
//!
//! - A query from q to the source, and the source's response to q, take at most D each, which grows with time. So a
//!   query that q sends at s has its response from the source by `hold`, which is s + D(s) + D(s + D(s)).
//! - n − t − 2 others are *exempt*: quicker still. With q's own response and the source's that makes n − t.
//! - Responses of anybody else to q arrive after `hold`.
//!
//! The exempt set changes, but only when no query can be waiting for the source: no query meets two sets. All other
//! messages meet hostile links, including those between q and the source if the source asks. And a leader that is not
//! the source is *unlucky*: its responses are the last everywhere.

use bellwether_proto::canonical::Form;
use bellwether_proto::message::Part;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;

use super::hostile::Jumble;
use super::{Promised, Timely, drawn, members};
use crate::scenario::{Model, ModelKind, index};

/// D has doubled after this long, and grows on at that pace.
const DOUBLED_AFTER: Span = Span::secs(10);

#[derive(Debug)]
pub(super) struct Pattern {
    source: usize,
    nodes: usize,
    t: usize,
    gst: Time,
    timely: Timely,
    /// By node: those whose link from the source is timely, if that is promised instead.
    linked: Vec<bool>,
    /// By node: those that have the pattern.
    asking: Vec<Option<Asking>>,
    /// Whose responses are the last now.
    unlucky: Option<usize>,
    jumble: Jumble,
}

/// A process whose queries the source answers among the first.
#[derive(Clone, Debug, Default)]
struct Asking {
    /// By when the source has answered everything so far, at the latest.
    hold: Time,
    /// How many queries the source has not answered yet, and when the last of its answers arrives.
    waiting: u32,
    answered: Time,
    /// By node: whether it may answer sooner.
    exempt: Vec<bool>,
}

impl Pattern {
    /// If it is combined with timely links, every other one of `chosen` has such a link and no pattern.
    pub(super) fn new(model: &Model, nodes: usize, chosen: &[usize], timely: Timely, jumble: Jumble) -> Self {
        let every = if model.kind == ModelKind::Combined { 2 } else { 1 };
        let mut asking = vec![None; nodes];
        for q in chosen.iter().step_by(every) {
            asking[*q] = Some(Asking { exempt: vec![false; nodes], ..Asking::default() });
        }
        let linked: Vec<_> = chosen.iter().copied().filter(|q| asking[*q].is_none()).collect();
        Self {
            source: index(model.source),
            nodes,
            t: model.t as usize,
            gst: model.gst,
            timely,
            linked: members(nodes, &linked),
            asking,
            unlucky: None,
            jumble,
        }
    }

    pub(super) fn about(
        &mut self,
        now: Time,
        from: usize,
        to: usize,
        part: Part,
        rng: &mut ChaCha8Rng,
    ) -> Promised {
        if from == self.source && self.linked[to] {
            return Promised::At(self.timely.arrival(now, rng));
        }
        match part {
            Part::Query => self.about_query(now, from, to, rng),
            Part::Response => self.about_response(now, from, to, rng),
            Part::Neither => Promised::NOTHING,
        }
    }

    fn about_query(&mut self, now: Time, q: usize, to: usize, rng: &mut ChaCha8Rng) -> Promised {
        if to == self.source && self.asking[q].is_some() {
            self.ask(now, q, rng);
            return Promised::At(self.soon(now).arrival(now, rng));
        }
        match &self.asking[q] {
            Some(asking) if asking.exempt[to] => Promised::At(self.at_once(now).arrival(now, rng)),
            Some(_) | None => Promised::NOTHING,
        }
    }

    fn about_response(&mut self, now: Time, from: usize, q: usize, rng: &mut ChaCha8Rng) -> Promised {
        let unlucky = if self.unlucky == Some(from) { now + self.jumble.high(now) * 4 } else { now };
        let (soon, at_once) = (self.soon(now), self.at_once(now));
        match &mut self.asking[q] {
            None => Promised::NotBefore(unlucky),
            Some(asking) if from == self.source => {
                let arrival = soon.arrival(now, rng);
                asking.waiting = asking.waiting.saturating_sub(1);
                asking.answered = asking.answered.max(arrival);
                Promised::At(arrival)
            }
            Some(asking) if asking.exempt[from] => Promised::At(at_once.arrival(now, rng)),
            Some(asking) => Promised::NotBefore(unlucky.max(asking.hold + Span::micros(1))),
        }
    }

    pub(super) fn tell_leader(&mut self, node: usize) {
        self.unlucky = (node != self.source).then_some(node);
    }

    /// Between the source and those that have the pattern.
    fn soon(&self, now: Time) -> Timely {
        self.timely.within(self.drift(now))
    }

    /// Quicker than that.
    fn at_once(&self, now: Time) -> Timely {
        self.timely.within(self.drift(now) / 4)
    }

    /// q asks the source.
    fn ask(&mut self, now: Time, q: usize, rng: &mut ChaCha8Rng) {
        let heard = now + self.within_drift(now);
        let answered = heard + self.within_drift(heard);
        let quick = self.nodes - self.t - 2;
        let not_exempt = [Some(q), Some(self.source), self.unlucky];
        let others: Vec<usize> = (0..self.nodes).filter(|node| !not_exempt.contains(&Some(*node))).collect();
        let Some(asking) = &mut self.asking[q] else { return };
        if now >= asking.hold || asking.waiting == 0 && now >= asking.answered {
            asking.exempt = members(self.nodes, &drawn(quick, others, rng));
        }
        asking.waiting += 1;
        asking.hold = asking.hold.max(answered);
    }

    /// D: the longest delay between the source and those that have the pattern, if the shortest there is allows.
    fn drift(&self, now: Time) -> Span {
        let delta = u128::from(self.timely.high.as_micros().max(1));
        let (since, double) = (now.since(self.gst).as_micros(), DOUBLED_AFTER.as_micros());
        let grown = delta + delta * u128::from(since) / u128::from(double);
        Span::micros(u64::try_from(grown).unwrap_or(u64::MAX))
    }

    fn within_drift(&self, now: Time) -> Span {
        self.timely.within(self.drift(now)).high
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.drift(now).as_micros());
        for asking in self.asking.iter().flatten() {
            form.deadline(now, asking.hold);
            form.deadline(now, asking.answered);
            form.number(u64::from(asking.waiting));
            asking.exempt.iter().for_each(|exempt| form.number(u64::from(*exempt)));
        }
        form.option(self.unlucky, |form, node| form.number(node as u64));
    }
}
