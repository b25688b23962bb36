//! The canonical form of a state, for searches that must notice when a state repeats.
//!
//! A state machine's future depends on its deadlines only through how far away they are, and in a search over all timings
//! only through their order. It depends on most counters (election numbers, incarnations, sequence numbers) only through
//! which are equal and which is larger, because the next number is always larger than all before. Some numbers begin anew
//! with every incarnation of a node. They are compared only with numbers of the same incarnation, and a later incarnation
//! comes after all earlier ones, so the same is true of them. Suspicions and periods are different: each begins at 0 and
//! grows by itself until it has caught up with another. There the differences count. They count of epochs, too; but a node
//! that has seen no epoch is written down like all others, so 0 has no meaning of its own.
//!
//! The form therefore keeps deadlines and counters apart from the plain content, and reduces them when it is finished.
//! Write a whole world into one form: a counter's order is only meaningful against every place where that counter occurs.

use alloc::vec::Vec;

use crate::ident::{ElectionId, GroupId, Incarnation, NodeId, WatchNo};
use crate::time::Time;

/// A state being written down.
#[derive(Clone, Debug, Default)]
pub struct Form {
    plain: Vec<u64>,
    deadlines: Vec<u64>,
    counters: Vec<(Counter, Value)>,
}

/// The incarnation, and a number of a counter that begins anew with every incarnation. The incarnation is 0
/// for other counters.
type Value = (u64, u64);

/// Differences of suspicions and periods are kept up to this. A larger one cannot arise in a search of a few steps. It
/// has grown, round after round, and goes on growing.
const DIFFERENCE_MAX: u64 = 64;

/// Which counter a value belongs to: values are only ever compared with values of the same counter.
#[derive(Clone, Copy, Debug)]
enum Counter {
    Incarnation(NodeId),
    Election(NodeId),
    Watch {
        watcher: NodeId,
        subject: NodeId,
    },
    Frame {
        from: NodeId,
        to: NodeId,
    },
    Question(NodeId),
    Reorganization(NodeId),
    Call(NodeId),
    /// Of a consistent link, whichever end speaks.
    Seen(NodeId, NodeId),
    Beat {
        from: NodeId,
        to: NodeId,
    },
    Carried {
        from: NodeId,
        to: NodeId,
    },
    /// One counter for all: counts of different nodes are compared with each other.
    Suspicions,
    Period,
    /// One counter for all: every node compares what it has seen with what others have.
    Epoch,
    Other(NodeId),
}

impl Form {
    /// An empty form.
    pub fn new() -> Self {
        Self::default()
    }

    /// Plain content.
    pub fn number(&mut self, value: u64) {
        self.plain.push(value);
    }

    /// A node, as plain content.
    pub fn node(&mut self, node: NodeId) {
        self.number(u64::from(node.0));
    }

    /// Several nodes, in this order.
    pub fn nodes(&mut self, nodes: &[NodeId]) {
        self.number(nodes.len() as u64);
        nodes.iter().for_each(|node| self.node(*node));
    }

    /// A short text, as plain content.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        text.bytes().for_each(|byte| self.number(u64::from(byte)));
    }

    /// Something that may be absent.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// A deadline, seen from `now` on the same clock. All that is due is alike.
    pub fn deadline(&mut self, now: Time, at: Time) {
        self.deadlines.push(at.as_deadline().map_or(u64::MAX, |at| at.since(now).as_micros()));
    }

    /// An incarnation of `node`.
    pub fn incarnation(&mut self, node: NodeId, incarnation: Incarnation) {
        self.counters.push((Counter::Incarnation(node), (0, incarnation.0)));
    }

    /// An election identifier.
    pub fn election(&mut self, id: ElectionId) {
        self.node(id.node);
        self.incarnation(id.node, id.incarnation);
        self.election_seq(id);
    }

    /// A view. Its number is compared with those of views that other nodes formed, and with what a disk counts.
    pub fn view(&mut self, GroupId(view): GroupId) {
        self.election(view);
        self.suspicions(view.seq);
    }

    /// A number from the counter of a node's elections in one incarnation.
    pub fn election_seq(&mut self, id: ElectionId) {
        self.counters.push((Counter::Election(id.node), (id.incarnation.0, id.seq)));
    }

    /// A number from the counter of `watcher`'s watches of `subject`. The incarnation is part of it.
    pub fn watch(&mut self, watcher: NodeId, subject: NodeId, no: WatchNo) {
        self.counters.push((Counter::Watch { watcher, subject }, (0, no.0)));
    }

    /// A number from the counter of frames that one node, in one incarnation, sends `to` another.
    pub fn frame_seq(&mut self, from: NodeId, incarnation: Incarnation, to: NodeId, seq: u64) {
        self.counters.push((Counter::Frame { from, to }, (incarnation.0, seq)));
    }

    /// A number from the counter of `node`'s questions as a leader, in one incarnation.
    pub fn question(&mut self, node: NodeId, incarnation: Incarnation, n: u64) {
        self.counters.push((Counter::Question(node), (incarnation.0, n)));
    }

    /// The number of one of a coordinator's reorganizations.
    pub fn reorganization(&mut self, id: ElectionId) {
        self.node(id.node);
        self.incarnation(id.node, id.incarnation);
        self.counters.push((Counter::Reorganization(id.node), (id.incarnation.0, id.seq)));
    }

    /// The number of one of a node's remote calls.
    pub fn call(&mut self, id: ElectionId) {
        self.node(id.node);
        self.incarnation(id.node, id.incarnation);
        self.counters.push((Counter::Call(id.node), (id.incarnation.0, id.seq)));
    }

    /// How many transitions an end of a link has seen. The two ends compare them.
    pub fn seen(&mut self, one: NodeId, other: NodeId, seen: u64) {
        self.counters.push((Counter::Seen(one.min(other), one.max(other)), (0, seen)));
    }

    /// A number from the counter of what one node, in one incarnation, says on its link to another.
    pub fn beat(&mut self, from: NodeId, incarnation: Incarnation, to: NodeId, no: u64) {
        self.counters.push((Counter::Beat { from, to }, (incarnation.0, no)));
    }

    /// A number from the counter of what a link carries while it is up for that time.
    pub fn carried(&mut self, from: NodeId, to: NodeId, seen: u64, nth: u64) {
        self.counters.push((Counter::Carried { from, to }, (seen, nth)));
    }

    /// How often somebody was suspected: counts of all nodes are compared with each other.
    pub fn suspicions(&mut self, count: u64) {
        self.counters.push((Counter::Suspicions, (0, count)));
    }

    /// The number of a period or round.
    pub fn period(&mut self, n: u64) {
        self.counters.push((Counter::Period, (0, n)));
    }

    /// The number of a leadership.
    pub fn epoch(&mut self, epoch: u64) {
        self.counters.push((Counter::Epoch, (0, epoch)));
    }

    /// A number from `node`'s remaining counter (probes, token rounds).
    pub fn other(&mut self, node: NodeId, value: u64) {
        self.counters.push((Counter::Other(node), (0, value)));
    }

    /// Goes on with what another form holds: a part that did not change need not be written down again.
    pub fn append(&mut self, part: &Self) {
        self.plain.extend_from_slice(&part.plain);
        self.deadlines.extend_from_slice(&part.deadlines);
        self.counters.extend_from_slice(&part.counters);
    }

    /// Begins anew, keeping the memory.
    pub fn clear(&mut self) {
        self.plain.clear();
        self.deadlines.clear();
        self.counters.clear();
    }

    /// The form with deadlines as distances from now: two states with the same form behave alike for ever, at the
    /// same pace.
    pub fn timed(self) -> Vec<u64> {
        let (mut words, mut sorted) = (Vec::new(), Vec::new());
        self.write_timed(&mut sorted, &mut words);
        words
    }

    /// As [`Form::timed`], appended to `words`; what `sorted` holds is of no interest, only its memory is.
    pub fn write_timed(&self, sorted: &mut Vec<Placed>, words: &mut Vec<u64>) {
        words.extend_from_slice(&self.plain);
        words.extend_from_slice(&self.deadlines);
        write_ranks(&self.counters, sorted, words);
    }

    /// The form with deadlines as distances and counters as they are, appended to `words`. Two states with the same
    /// form differ at most in what their clocks show.
    pub fn write_exact(&self, words: &mut Vec<u64>) {
        words.extend_from_slice(&self.plain);
        words.extend_from_slice(&self.deadlines);
        words.extend(self.counters.iter().flat_map(|(_, (incarnation, value))| [*incarnation, *value]));
    }

    /// The form with deadlines reduced to their order: two states with the same form behave alike under some
    /// timing. "Due now" and "never due" keep their own values.
    pub fn untimed(self) -> Vec<u64> {
        let Self { plain, deadlines, counters } = self;
        let mut order: Vec<u64> = deadlines.iter().copied().filter(|d| (1..u64::MAX).contains(d)).collect();
        order.sort_unstable();
        order.dedup();
        let rank = |d: u64| match d {
            0 | u64::MAX => d,
            later => order.binary_search(&later).expect("collected above") as u64 + 1,
        };
        let mut words: Vec<u64> = plain.into_iter().chain(deadlines.iter().map(|d| rank(*d))).collect();
        write_ranks(&counters, &mut Vec::new(), &mut words);
        words
    }
}

/// A counter's value, and its place in the form. Numbers alone: sorting them is most of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placed {
    counter: (u64, u32),
    value: Value,
    place: u32,
    scale: Scale,
}

/// What counts of the values of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scale {
    /// Their order.
    Order,
    /// Their differences.
    Differences,
    /// Their differences, also from nought.
    FromNought,
}

impl Counter {
    /// Different for different counters.
    fn code(self) -> (u64, u32) {
        let of = |kind: u64, node: NodeId| kind << 32 | u64::from(node.0);
        match self {
            Self::Incarnation(node) => (of(0, node), 0),
            Self::Election(node) => (of(1, node), 0),
            Self::Watch { watcher, subject } => (of(2, watcher), subject.0),
            Self::Frame { from, to } => (of(3, from), to.0),
            Self::Question(node) => (of(4, node), 0),
            Self::Suspicions => (of(5, NodeId(0)), 0),
            Self::Period => (of(6, NodeId(0)), 0),
            Self::Other(node) => (of(7, node), 0),
            Self::Reorganization(node) => (of(8, node), 0),
            Self::Call(node) => (of(9, node), 0),
            Self::Seen(one, other) => (of(10, one), other.0),
            Self::Beat { from, to } => (of(11, from), to.0),
            Self::Carried { from, to } => (of(12, from), to.0),
            Self::Epoch => (of(13, NodeId(0)), 0),
        }
    }

    fn scale(self) -> Scale {
        match self {
            Self::Suspicions | Self::Period => Scale::FromNought,
            Self::Epoch => Scale::Differences,
            _ => Scale::Order,
        }
    }
}

/// Each value's rank among the distinct values of its own counter, or its distance from nought, long ones cut short.
fn write_ranks(counters: &[(Counter, Value)], sorted: &mut Vec<Placed>, words: &mut Vec<u64>) {
    sorted.clear();
    sorted.extend(counters.iter().zip(0..).map(|((counter, value), place)| Placed {
        counter: counter.code(),
        value: *value,
        place,
        scale: counter.scale(),
    }));
    sorted.sort_unstable();
    let first = words.len();
    words.resize(first + counters.len(), 0);
    let mut rank = 0;
    let mut before: Option<&Placed> = None;
    for placed in &*sorted {
        let (_, value) = placed.value;
        rank = match before.filter(|before| before.counter == placed.counter) {
            None => match placed.scale {
                // Nought is no number of the counter: nothing has been counted or heard of yet.
                Scale::Order => u64::from(placed.value != (0, 0)),
                Scale::Differences => 0,
                Scale::FromNought => value.min(DIFFERENCE_MAX),
            },
            Some(before) if before.value == placed.value => rank,
            Some(_) if placed.scale == Scale::Order => rank + 1,
            Some(before) => rank + (value - before.value.1).min(DIFFERENCE_MAX),
        };
        words[first + placed.place as usize] = rank;
        before = Some(placed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(now: u64, deadlines: &[u64], seqs: &[u64]) -> Form {
        let mut form = Form::new();
        for at in deadlines {
            form.deadline(Time::from_micros(now), Time::from_micros(*at));
        }
        for seq in seqs {
            let incarnation = Incarnation(1);
            form.election_seq(ElectionId { node: NodeId(1), incarnation, seq: *seq });
        }
        form
    }

    #[test]
    fn deadlines_are_relative_and_counters_are_ordinal() {
        assert_eq!(form(0, &[10, 30], &[4, 9, 4]).timed(), form(100, &[110, 130], &[1, 2, 1]).timed());
        assert_ne!(form(0, &[10, 30], &[]).timed(), form(0, &[10, 31], &[]).timed());
        assert_ne!(form(0, &[], &[4, 9]).timed(), form(0, &[], &[9, 4]).timed());
    }

    #[test]
    fn a_later_incarnation_comes_after_all_that_an_earlier_one_counted() {
        let form = |incarnation, seq, stale| {
            let mut form = Form::new();
            form.frame_seq(NodeId(1), Incarnation(incarnation), NodeId(2), seq);
            form.frame_seq(NodeId(1), Incarnation(1), NodeId(2), stale);
            form.timed()
        };
        assert_eq!(form(2, 1, 7), form(3, 4, 2));
        assert_ne!(form(2, 1, 7), form(1, 1, 7));
    }

    /// One more suspicion makes a tie in one of them only.
    #[test]
    fn of_suspicions_and_periods_differences_count() {
        let form = |counts: [u64; 2], rounds: [u64; 2]| {
            let mut form = Form::new();
            counts.into_iter().for_each(|count| form.suspicions(count));
            rounds.into_iter().for_each(|round| form.period(round));
            form.timed()
        };
        assert_ne!(form([2, 0], [1, 1]), form([1, 0], [1, 1]));
        assert_ne!(form([2, 1], [1, 1]), form([3, 2], [1, 1]), "who begins anew begins at nought");
        assert_ne!(form([1, 1], [1, 3]), form([1, 1], [1, 2]));
        assert_eq!(form([900, 1], [80, 81]), form([500, 1], [90, 91]), "far ahead is far ahead");
        assert_ne!(form([900, 1], [80, 81]), form([900, 1], [80, 82]));
    }

    /// A node that has seen no epoch has an entry of its own.
    #[test]
    fn of_epochs_differences_count_wherever_they_begin() {
        let form = |epochs: &[u64]| {
            let mut form = Form::new();
            epochs.iter().for_each(|epoch| form.epoch(*epoch));
            form.timed()
        };
        assert_eq!(form(&[1, 2, 1]), form(&[5, 6, 5]));
        assert_ne!(form(&[1, 2]), form(&[1, 3]));
    }

    #[test]
    fn untimed_keeps_only_the_order_of_deadlines() {
        assert_eq!(form(0, &[10, 30, 10], &[]).untimed(), form(5, &[6, 900, 6], &[]).untimed());
        assert_ne!(form(0, &[10, 30], &[]).untimed(), form(0, &[30, 10], &[]).untimed());
        // Due and never are not deadlines to be ordered.
        assert_ne!(form(10, &[10], &[]).untimed(), form(10, &[11], &[]).untimed());
        assert_ne!(form(10, &[u64::MAX], &[]).untimed(), form(10, &[11], &[]).untimed());
    }
}
