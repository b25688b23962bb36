//! The watches of a detector: which peers it watches, since which Start, and how long each may be silent.

use alloc::vec;
use alloc::vec::Vec;

use super::deadlines::Deadlines;
use crate::canonical::Form;
use crate::ident::{Incarnation, WatchNo};
use crate::roster::Roster;
use crate::time::Time;

/// One entry for each member, by rank.
#[derive(Clone, Debug)]
pub(super) struct Watches {
    table: Vec<Watch>,
    /// Until when silence is forgiven.
    deadlines: Deadlines,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    state: State,
    no: WatchNo,
    /// The peer's incarnation as of its first sign of life for this watch.
    incarnation: Option<Incarnation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Armed,
    Reported,
}

impl Watches {
    pub(super) fn new(size: usize, incarnation: Incarnation) -> Self {
        let before_first = WatchNo(incarnation.0.wrapping_sub(1) << 32);
        let idle = Watch { state: State::Idle, no: before_first, incarnation: None };
        Self { table: vec![idle; size], deadlines: Deadlines::new(size) }
    }

    /// Begins a watch, or resets it, and returns its number.
    pub(super) fn arm(&mut self, rank: usize, deadline: Time) -> WatchNo {
        let watch = &mut self.table[rank];
        let no = WatchNo(watch.no.0.wrapping_add(1));
        *watch = Watch { state: State::Armed, no, incarnation: None };
        self.deadlines.set(rank, deadline);
        no
    }

    /// A sign of life for the current watch: the peer may be silent until `deadline`.
    #[inline]
    pub(super) fn confirm(&mut self, rank: usize, incarnation: Incarnation, deadline: Time) {
        self.table[rank].incarnation.get_or_insert(incarnation);
        self.set_deadline(rank, deadline);
    }

    #[inline]
    pub(super) fn set_deadline(&mut self, rank: usize, deadline: Time) {
        self.deadlines.set(rank, deadline);
    }

    pub(super) fn deadline_of(&self, rank: usize) -> Time {
        self.deadlines.get(rank)
    }

    /// The client has been told: nothing more is owed until the next Start.
    pub(super) fn report(&mut self, rank: usize) {
        self.table[rank].state = State::Reported;
        self.deadlines.clear(rank);
    }

    /// As [`Watches::report`], if the peer has begun a new incarnation since this watch heard from it.
    #[inline]
    pub(super) fn report_if_reborn(&mut self, rank: usize, incarnation: Incarnation) -> bool {
        let watch = &self.table[rank];
        let reborn =
            watch.state == State::Armed && watch.incarnation.is_some_and(|known| incarnation > known);
        if reborn {
            self.report(rank);
        }
        reborn
    }

    /// The watch is stopped.
    pub(super) fn forget(&mut self, rank: usize) {
        self.table[rank].state = State::Idle;
        self.deadlines.clear(rank);
    }

    pub(super) fn is_armed(&self, rank: usize) -> bool {
        self.table[rank].state == State::Armed
    }

    /// Watched, or reported and not yet stopped.
    pub(super) fn is_known(&self, rank: usize) -> bool {
        self.table[rank].state != State::Idle
    }

    /// Whether a message with that number belongs to the watch that is now armed.
    pub(super) fn is_current(&self, rank: usize, no: WatchNo) -> bool {
        self.is_armed(rank) && self.table[rank].no == no
    }

    /// The number of the latest watch.
    pub(super) fn no(&self, rank: usize) -> WatchNo {
        self.table[rank].no
    }

    /// Whether the current watch has had a sign of life.
    pub(super) fn is_confirmed(&self, rank: usize) -> bool {
        self.table[rank].incarnation.is_some()
    }

    /// Whether silence is being counted against the peer of that armed watch.
    pub(super) fn is_counting(&self, rank: usize) -> bool {
        self.is_armed(rank) && self.deadlines.is_set(rank)
    }

    /// Whether the deadline of that watch has passed.
    pub(super) fn is_overdue(&self, rank: usize, now: Time) -> bool {
        self.deadlines.get(rank) <= now
    }

    /// The watch whose deadline passed first.
    pub(super) fn expired(&mut self, now: Time) -> Option<usize> {
        self.deadlines.first_due(now)
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadlines.next()
    }

    pub(super) fn canonical(&self, now: Time, roster: &Roster, form: &mut Form) {
        for (rank, watch) in self.table.iter().enumerate().filter(|(rank, _)| *rank != roster.my_rank()) {
            let id = roster.at(rank);
            form.number(watch.state as u64);
            form.watch(roster.me(), id, watch.no);
            form.option(watch.incarnation, |form, incarnation| form.incarnation(id, incarnation));
            form.deadline(now, self.deadlines.get(rank));
        }
    }
}
