//! Timely round trips: messages of the source to the nodes whose turn it is, and their immediate answers.
//!
//! Each leg takes at most half of δ. The model cannot know which message is an answer, so it counts every message
//! that is sent back at the instant at which the source's message arrives.

use bellwether_proto::canonical::Form;
use bellwether_proto::time::Time;
use rand_chacha::ChaCha8Rng;

use super::moving::Moving;
use super::{Promised, Timely};

#[derive(Debug)]
pub(super) struct Accessible {
    source: usize,
    moving: Moving,
    /// One leg of a round trip.
    leg: Timely,
    /// By node: when messages of the source that are under way will arrive.
    visits: Vec<Vec<Time>>,
}

impl Accessible {
    pub(super) fn new(nodes: usize, source: usize, moving: Moving, trip: Timely) -> Self {
        Self { source, moving, leg: trip.within(trip.high / 2), visits: vec![Vec::new(); nodes] }
    }

    pub(super) fn about(&mut self, now: Time, from: usize, to: usize, rng: &mut ChaCha8Rng) -> Promised {
        self.moving.pass(now);
        if from == self.source && self.moving.reaches(to) {
            let arrival = self.leg.arrival(now, rng);
            self.visits[to].retain(|visit| *visit >= now);
            self.visits[to].push(arrival);
            return Promised::At(arrival);
        }
        if to == self.source && self.visits[from].contains(&now) {
            return Promised::At(self.leg.arrival(now, rng));
        }
        Promised::NOTHING
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        self.moving.canonical(now, form);
        for visits in &self.visits {
            let coming: Vec<_> = visits.iter().filter(|visit| **visit >= now).collect();
            form.number(coming.len() as u64);
            coming.into_iter().for_each(|visit| form.deadline(now, *visit));
        }
    }
}
