//! A set of t processes that changes: those that a moving source reaches now.
//!
//! The set is a window on a ring of all others. It moves on by its own length, so that a node that was in it is out
//! of it next, unless there are too few others. It rests for ever longer, so that the nodes outside of it hear
//! nothing for longer than any timeout that they have reached. If the leader is known, only the leader's set moves: a
//! source that is followed seems worse than the others until another is followed.

use bellwether_proto::canonical::Form;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;

use super::{drawn, unit};
use crate::chance::below;
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
        // Sources that move at one instant would be taken for one another less often.
        let until = from + unit + Span::micros(below(unit.as_micros(), rng));
        Self { t, unit, place, ring, first: 0, phase: 1, until }
    }

    /// Moves on if it is time.
    pub(super) fn pass(&mut self, now: Time) {
        if self.until <= now {
            self.phase += 1;
            self.first = (self.first + self.t) % self.ring;
            self.until = now + self.unit * self.phase;
        }
    }

    /// Whether it is the turn of `to`, one of the others.
    pub(super) fn reaches(&self, to: usize) -> bool {
        (self.place[to] + self.ring - self.first) % self.ring < self.t
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.first as u64);
        form.number(self.phase);
        form.deadline(now, self.until);
    }
}
