//! What happens next: deliveries and deadlines in order of time, and at one instant deliveries before deadlines,
//! each in order of creation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bellwether_proto::time::Time;

/// The deadlines' bit in an entry's place: it puts them behind every delivery of the same instant.
const DEADLINE: u64 = 1 << 63;
/// The rank of news: the frames of a connection arrive before the news of its end.
const NEWS: u64 = 1 << 62;
/// That of applications' answers.
const ANSWER: u64 = 1 << 61;
const CLASSES: u64 = DEADLINE | NEWS | ANSWER;

/// Pending deliveries and deadlines.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(Time, u64, u32)>>,
    created: u64,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The message in that slot arrives.
    Delivery(usize),
    /// The news in that slot.
    News(usize),
    /// The application's answer in that slot.
    Answer(usize),
    /// The host of that index wanted to be woken.
    Deadline(usize),
}

impl Queue {
    pub(crate) fn delivery(&mut self, at: Time, slot: usize) {
        self.push(at, 0, slot);
    }

    pub(crate) fn tell(&mut self, at: Time, slot: usize) {
        self.push(at, NEWS, slot);
    }

    pub(crate) fn answer(&mut self, at: Time, slot: usize) {
        self.push(at, ANSWER, slot);
    }

    pub(crate) fn deadline(&mut self, at: Time, host: usize) {
        self.push(at, DEADLINE, host);
    }

    /// When the next thing is due.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, Due)> {
        let Reverse((at, place, item)) = self.heap.pop()?;
        let item = item as usize;
        let due = match place & CLASSES {
            0 => Due::Delivery(item),
            NEWS => Due::News(item),
            ANSWER => Due::Answer(item),
            _ => Due::Deadline(item),
        };
        Some((at, due))
    }

    /// The deliveries that are pending, in order, with the slots of their messages.
    pub(crate) fn deliveries(&self) -> Vec<(Time, usize)> {
        self.pending(0)
    }

    /// As [`Queue::deliveries`], of news.
    pub(crate) fn news(&self) -> Vec<(Time, usize)> {
        self.pending(NEWS)
    }

    fn pending(&self, class: u64) -> Vec<(Time, usize)> {
        let of_class = |Reverse((_, place, _)): &&Reverse<_>| place & CLASSES == class;
        let mut pending: Vec<_> = self.heap.iter().filter(of_class).collect();
        pending.sort_unstable_by_key(|Reverse(entry)| *entry);
        pending.into_iter().map(|Reverse((at, _, slot))| (*at, *slot as usize)).collect()
    }

    fn push(&mut self, at: Time, class: u64, item: usize) {
        let item = u32::try_from(item).expect("fewer than four billion messages are in flight");
        self.heap.push(Reverse((at, class | self.created, item)));
        self.created += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_come_before_deadlines_and_each_in_order_of_creation() {
        let (early, late) = (Time::from_micros(1), Time::from_micros(2));
        let mut queue = Queue::default();
        queue.deadline(early, 7);
        queue.delivery(late, 0);
        queue.delivery(early, 1);
        queue.deadline(early, 3);
        queue.delivery(early, 2);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(
            order,
            [
                (early, Due::Delivery(1)),
                (early, Due::Delivery(2)),
                (early, Due::Deadline(7)),
                (early, Due::Deadline(3)),
                (late, Due::Delivery(0)),
            ]
        );
    }
}
