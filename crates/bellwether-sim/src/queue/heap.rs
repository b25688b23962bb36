//! A heap of numbers, the least first. Each has four children, which share a cache line.
//!
//! In a large world the heap is larger than the caches near a core, and what it costs to take a number is the lines that are
//! looked at on the way down: half as many as in a binary heap.

/// Four siblings.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u128; 4]);

/// Where there is no number.
const NONE: u128 = u128::MAX;

/// The first three places are never used, so that the children of every place are the places of one line.
const ROOT: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Heap {
    lines: Vec<Line>,
    len: usize,
}

impl Heap {
    #[inline]
    pub(super) fn peek(&self) -> Option<u128> {
        self.lines.first().map(|line| line.0[ROOT]).filter(|least| *least != NONE)
    }

    /// Adds a number, which is not the largest that there is.
    #[inline]
    pub(super) fn push(&mut self, number: u128) {
        debug_assert_ne!(number, NONE, "it stands for none");
        let mut place = ROOT + self.len;
        if place / 4 == self.lines.len() {
            self.lines.push(Line([NONE; 4]));
        }
        self.len += 1;
        while place > ROOT {
            let parent = place / 4 + 2;
            let above = self.get(parent);
            if above <= number {
                break;
            }
            self.set(place, above);
            place = parent;
        }
        self.set(place, number);
    }

    /// Takes the least.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u128> {
        let least = self.peek()?;
        self.len -= 1;
        let end = ROOT + self.len;
        let last = self.get(end);
        self.set(end, NONE);
        if end > ROOT {
            self.sink(last);
        }
        Some(least)
    }

    /// All of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u128> {
        self.lines.iter().flat_map(|line| line.0).filter(|number| *number != NONE)
    }

    /// Puts a number where the root is missing.
    #[inline]
    fn sink(&mut self, number: u128) {
        // Places are counted by line here: that is one step from a place to its children.
        let (mut line, mut at) = (0, ROOT);
        loop {
            let below = 4 * line + at - 2;
            let Some(children) = self.lines.get(below) else { break };
            let (which, least) = children.least();
            if number <= least {
                break;
            }
            self.lines[line].0[at % 4] = least;
            (line, at) = (below, which);
        }
        self.lines[line].0[at % 4] = number;
    }

    #[inline]
    fn get(&self, place: usize) -> u128 {
        self.lines[place / 4].0[place % 4]
    }

    #[inline]
    fn set(&mut self, place: usize, number: u128) {
        self.lines[place / 4].0[place % 4] = number;
    }
}

impl Line {
    #[inline]
    fn least(&self) -> (usize, u128) {
        let [a, b, c, d] = self.0;
        let (left, right) = (if b < a { (1, b) } else { (0, a) }, if d < c { (3, d) } else { (2, c) });
        if right.1 < left.1 { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is added and taken.
        #[test]
        fn it_agrees_with_a_binary_heap(steps in prop::collection::vec(prop::option::of(0..50_u128), 1..300)) {
            let (mut heap, mut other) = (Heap::default(), BinaryHeap::new());
            for step in steps {
                match step {
                    Some(number) => {
                        heap.push(number);
                        other.push(Reverse(number));
                    }
                    None => prop_assert_eq!(heap.pop(), other.pop().map(|Reverse(number)| number)),
                }
                prop_assert_eq!(heap.peek(), other.peek().map(|Reverse(number)| *number));
                let (mut all, mut others): (Vec<_>, Vec<_>) =
                    (heap.iter().collect(), other.iter().map(|Reverse(number)| *number).collect());
                all.sort_unstable();
                others.sort_unstable();
                prop_assert_eq!(all, others);
            }
        }
    }
}
