//! What happens next: deliveries and deadlines in order of time, and at one instant deliveries before deadlines,
//! each in order of creation.

mod heap;

use bellwether_proto::time::Time;

use heap::Heap;

/// Pending deliveries and deadlines.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: Heap,
    created: u64,
}

/// When something is due, what comes first at one instant, and what it is: one number, because a heap compares and moves its
/// entries all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

/// What is due, in the order in which it happens at one instant: what a connection carried arrives before the news of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Delivery,
    Answer,
    News,
    Deadline,
}

// From the lowest bits on: the item, the order of creation, the class, the time.
const ITEM_BITS: u32 = 32;
const CREATED_BITS: u32 = 44;
const CLASS_BITS: u32 = 2;
const TIME_BITS: u32 = u128::BITS - CLASS_BITS - CREATED_BITS - ITEM_BITS;

/// Some 35 years after the beginning: no run takes that long.
pub(crate) const HORIZON: Time = Time::from_micros((1 << TIME_BITS) - 1);

impl Entry {
    #[inline]
    fn new(at: Time, class: Class, created: u64, item: u32) -> Self {
        let time_and_class = at.as_micros() << CLASS_BITS | class as u64;
        let place = u128::from(time_and_class) << CREATED_BITS | u128::from(created);
        Self(place << ITEM_BITS | u128::from(item))
    }

    #[inline]
    fn at(self) -> Time {
        Time::from_micros((self.0 >> (u128::BITS - TIME_BITS)) as u64)
    }

    #[inline]
    fn class(self) -> Class {
        match (self.0 >> (ITEM_BITS + CREATED_BITS)) as u64 & ((1 << CLASS_BITS) - 1) {
            0 => Class::Delivery,
            1 => Class::Answer,
            2 => Class::News,
            _ => Class::Deadline,
        }
    }

    #[inline]
    fn item(self) -> usize {
        (self.0 as u32) as usize
    }
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
    #[inline]
    pub(crate) fn delivery(&mut self, at: Time, slot: usize) {
        self.push(at, Class::Delivery, slot);
    }

    pub(crate) fn tell(&mut self, at: Time, slot: usize) {
        self.push(at, Class::News, slot);
    }

    pub(crate) fn answer(&mut self, at: Time, slot: usize) {
        self.push(at, Class::Answer, slot);
    }

    /// One after the end of every run is forgotten.
    pub(crate) fn deadline(&mut self, at: Time, host: usize) {
        if at <= HORIZON {
            self.push(at, Class::Deadline, host);
        }
    }

    /// When the next thing is due.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|entry| Entry(entry).at())
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Due)> {
        let entry = Entry(self.heap.pop()?);
        let item = entry.item();
        let due = match entry.class() {
            Class::Delivery => Due::Delivery(item),
            Class::News => Due::News(item),
            Class::Answer => Due::Answer(item),
            Class::Deadline => Due::Deadline(item),
        };
        Some((entry.at(), due))
    }

    /// The deliveries that are pending, in order, with the slots of their messages.
    pub(crate) fn deliveries(&self) -> Vec<(Time, usize)> {
        self.pending(Class::Delivery)
    }

    /// As [`Queue::deliveries`], of news.
    pub(crate) fn news(&self) -> Vec<(Time, usize)> {
        self.pending(Class::News)
    }

    fn pending(&self, class: Class) -> Vec<(Time, usize)> {
        let mut pending: Vec<Entry> =
            self.heap.iter().map(Entry).filter(|entry| entry.class() == class).collect();
        pending.sort_unstable();
        pending.into_iter().map(|entry| (entry.at(), entry.item())).collect()
    }

    #[inline]
    fn push(&mut self, at: Time, class: Class, item: usize) {
        // What is due after the end of every run does not happen in any.
        let at = at.min(HORIZON);
        let item = u32::try_from(item).expect("fewer than four billion messages are in flight");
        self.heap.push(Entry::new(at, class, self.created, item).0);
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

    #[test]
    fn what_a_connection_carried_comes_before_answers_and_news() {
        let at = HORIZON;
        let mut queue = Queue::default();
        queue.deadline(at, 1);
        queue.tell(at, 2);
        queue.answer(at, 3);
        queue.delivery(at, u32::MAX as usize);
        queue.deadline(Time::NEVER, 5);
        queue.delivery(Time::NEVER, 6);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        let expected = [
            Due::Delivery(u32::MAX as usize),
            Due::Delivery(6),
            Due::Answer(3),
            Due::News(2),
            Due::Deadline(1),
        ];
        assert_eq!(order, expected.map(|due| (at, due)), "a deadline that never comes is not among them");
    }
}
