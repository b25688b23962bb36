//! A set of t processes that changes: those that a moving source reaches now.
//!
//! The set is a window on a ring of all others that moves on by its own length, so that whoever was in it is out of
//! it next, unless there are too few others. It rests for ever longer, so that those who are out of it starve for
//! longer than any timeout they may have settled for.

use bellwether_proto::canonical::Form;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;

use super::{drawn, unit};
use crate::scenario::Scenario;

#[derive(Debug)]
pub(super) struct Moving {
    t: usize,
    unit: Span,
    /// By node: its place on the ring.
    place: Vec<usize>,
    /// How many nodes are on it.
    ring: usize,
    /// Where the window begins.
    first: usize,
    /// The number of the phase, from 1, and its end.
    phase: u64,
    until: Time,
}

impl Moving {
    pub(super) fn new(
        t: usize,
        others: Vec<usize>,
        from: Time,
        scenario: &Scenario,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let (unit, ring) = (unit(scenario), others.len());
        let mut place = vec![0; scenario.nodes as usize];
        for (at, node) in drawn(ring, others, rng).into_iter().enumerate() {
            place[node] = at;
        }
        Self { t, unit, place, ring, first: 0, phase: 1, until: from + unit }
    }

    /// Whether it is the turn of `to`, one of the others. All that is asked at one instant has one answer.
    pub(super) fn reaches(&mut self, now: Time, to: usize) -> bool {
        while self.until <= now {
            self.phase += 1;
            self.first = (self.first + self.t) % self.ring;
            self.until = self.until + self.unit * self.phase;
        }
        (self.place[to] + self.ring - self.first) % self.ring < self.t
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.first as u64);
        form.number(self.phase);
        form.deadline(now, self.until);
    }
}
