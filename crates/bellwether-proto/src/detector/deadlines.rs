//! A deadline for each member, and the one that is due first.

use alloc::vec;
use alloc::vec::Vec;

use crate::time::Time;

/// By rank: a deadline, or never.
///
/// Signs of incarnation put deadlines off all the time, so that must cost nothing: it leaves `next` alone, which may
/// then be early. The wake-up that finds nothing due looks through the table once and puts it right. A node looks
/// through it at most once for each time that a deadline comes up, however many were put off in between.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    at: Vec<Time>,
    /// Not later than any of those.
    next: Time,
}

impl Deadlines {
    pub(super) fn new(size: usize) -> Self {
        Self { at: vec![Time::NEVER; size], next: Time::NEVER }
    }

    pub(super) fn get(&self, rank: usize) -> Time {
        self.at[rank]
    }

    pub(super) fn is_set(&self, rank: usize) -> bool {
        self.at[rank] != Time::NEVER
    }

    #[inline]
    pub(super) fn set(&mut self, rank: usize, at: Time) {
        self.at[rank] = at;
        self.next = self.next.min(at);
    }

    pub(super) fn clear(&mut self, rank: usize) {
        self.at[rank] = Time::NEVER;
    }

    /// The earliest deadline, or something earlier: a wake-up that finds nothing due is harmless.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// The rank whose deadline is the earliest, if it is not after `now`. It stays until it is set anew or cleared.
    pub(super) fn first_due(&mut self, now: Time) -> Option<usize> {
        if self.any_due(now) { self.at.iter().position(|at| *at == self.next) } else { None }
    }

    /// Whether any deadline is not after `now`.
    #[inline]
    pub(super) fn any_due(&mut self, now: Time) -> bool {
        if self.next <= now {
            self.next = self.earliest();
        }
        self.next <= now
    }

    /// Clears the first deadline that is not after `by`, of the ranks from `rank` on, and says whose it was. Ask until there is
    /// none: only then `next` is put right.
    pub(super) fn take_due(&mut self, rank: usize, by: Time) -> Option<usize> {
        if self.next > by {
            return None;
        }
        let due = (rank..self.at.len()).find(|rank| self.at[*rank] <= by);
        match due {
            Some(rank) => self.clear(rank),
            None => self.next = self.earliest(),
        }
        due
    }

    fn earliest(&self) -> Time {
        self.at.iter().copied().fold(Time::NEVER, Time::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is set, put off, brought forward and cleared: what is due comes in order of time, then of rank.
        #[test]
        fn it_agrees_with_a_search_of_the_table(steps in prop::collection::vec((0..4usize, 0..50u64), 1..200)) {
            let mut deadlines = Deadlines::new(4);
            let mut table = [Time::NEVER; 4];
            for (now, (rank, at)) in steps.into_iter().enumerate() {
                let now = Time::from_micros(now as u64 / 4);
                let at = if at < 10 { Time::NEVER } else { now + crate::time::Span::micros(at - 10) };
                deadlines.set(rank, at);
                table[rank] = at;
                let first = table.iter().copied().min().expect("it has four entries");
                prop_assert!(deadlines.next() <= first);
                let expected = (first <= now).then(|| table.iter().position(|at| *at == first)).flatten();
                prop_assert_eq!(deadlines.first_due(now), expected);
                if rank == 0 {
                    let due: Vec<usize> = (0..4).filter(|rank| table[*rank] <= now).collect();
                    due.iter().for_each(|rank| table[*rank] = Time::NEVER);
                    let mut taken = Vec::new();
                    while let Some(rank) = deadlines.take_due(taken.last().map_or(0, |last| last + 1), now) {
                        taken.push(rank);
                    }
                    prop_assert_eq!(taken, due);
                } else if let Some(rank) = expected {
                    deadlines.clear(rank);
                    table[rank] = Time::NEVER;
                }
            }
        }
    }
}
