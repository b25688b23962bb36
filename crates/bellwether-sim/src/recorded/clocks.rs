//! Wall clocks that were wrong when a node started.
//!
//! A process tells the time by the wall clock of its start, and by a monotonic clock from there on. If the wall clock was wrong just
//! then, and was set before the next start, all that the one process recorded seems to be later than what the next one did, or
//! earlier than what the one before did. A file is in the order in which things happened, so that shows, and the process is put back
//! between the two others: to where the truth says that it started, if it is known.

use std::collections::BTreeMap;
use std::ops::Range;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{Program, TraceEvent, What};

/// The events of one file, each node's in the order in which they were recorded.
pub(super) fn straighten(events: &mut [TraceEvent], truth: &[TraceEvent]) {
    let mut nodes: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        nodes.entry(event.node).or_default().push(at);
    }
    for (node, places) in nodes {
        let started = truth.iter().filter(|event| event.node == node && event.what == What::Recover);
        let started: Vec<u64> = started.map(|event| event.at.as_micros()).collect();
        let lives = lives(events, &places);
        for (life, by) in lives.iter().zip(shifts(&lives, &started)) {
            places[life.places.clone()].iter().for_each(|place| shift(&mut events[*place], by));
        }
    }
}

/// What a node recorded in one process.
struct Life {
    /// Which of the node's events.
    places: Range<usize>,
    start: u64,
    end: u64,
}

fn lives(events: &[TraceEvent], places: &[usize]) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    for (no, place) in places.iter().enumerate() {
        let (event, at) = (&events[*place], events[*place].at.as_micros());
        match lives.last_mut() {
            // A process may go through several incarnations: its clock is one.
            Some(life) if event.what != What::Recover => {
                (life.places.end, life.end) = (no + 1, life.end.max(at));
            }
            _ => lives.push(Life { places: no..no + 1, start: at, end: at }),
        }
    }
    lives
}

/// By how many microseconds to move each, from the last to the first: nobody records after it has ended.
fn shifts(lives: &[Life], started: &[u64]) -> Vec<i64> {
    let mut spans: Vec<(u64, u64)> = lives.iter().map(|life| (life.start, life.end)).collect();
    for later in (1..spans.len()).rev() {
        let ((_, before), (start, end)) = (spans[later - 1], spans[later]);
        if before <= start {
            continue;
        }
        let fits = spans.get(later + 1).filter(|next| before + (end - start) <= next.0);
        match fits.copied() {
            // The later one was behind: it has its place between its neighbours.
            Some((next, _)) => move_to(&mut spans[later], started, before, next),
            // The earlier one was ahead.
            None => {
                let room_from = later.checked_sub(2).map_or(0, |first| spans[first].1);
                move_to(&mut spans[later - 1], started, room_from, start);
            }
        }
    }
    let moved = |(life, (start, _)): (&Life, &(u64, u64))| start.wrapping_sub(life.start).cast_signed();
    lives.iter().zip(&spans).map(moved).collect()
}

/// Into that room: when it was started, or as late as can be.
fn move_to((start, end): &mut (u64, u64), started: &[u64], from: u64, until: u64) {
    let length = *end - *start;
    let latest = until.saturating_sub(length);
    let known = started.iter().copied().filter(|started| (from..=latest).contains(started)).max();
    *start = known.unwrap_or(latest);
    *end = *start + length;
}

fn shift(event: &mut TraceEvent, by: i64) {
    event.at = moved(event.at, by);
    if let What::Program(Program::Valid { until, .. }) = &mut event.what {
        *until = until.as_deadline().map_or(Time::NEVER, |until| moved(until, by));
    }
}

fn moved(time: Time, by: i64) -> Time {
    Time::from_micros(time.as_micros().saturating_add_signed(by))
}

#[cfg(test)]
mod tests {
    use bellwether_proto::ident::Incarnation;

    use super::*;

    const DAY: u64 = 86_400_000_000;

    fn event((incarnation, at): (u64, u64)) -> TraceEvent {
        let (at, incarnation) = (Time::from_micros(at), Incarnation(incarnation));
        TraceEvent { at, node: NodeId(1), incarnation, what: What::Deadline }
    }

    /// Each incarnation is one process.
    fn straightened(recorded: &[(u64, u64)], started: &[u64]) -> Vec<u64> {
        let mut events: Vec<_> = recorded.iter().copied().map(event).collect();
        let starts = |no: usize| no == 0 || recorded[no].0 != recorded[no - 1].0;
        (0..events.len()).filter(|no| starts(*no)).for_each(|no| events[no].what = What::Recover);
        let truth: Vec<_> =
            started.iter().map(|at| TraceEvent { what: What::Recover, ..event((0, *at)) }).collect();
        straighten(&mut events, &truth);
        events.iter().map(|event| event.at.as_micros()).collect()
    }

    /// What a step shows is stamped with when the step began, so it may be earlier than what was written down before.
    #[test]
    fn a_process_that_goes_on_in_another_incarnation_has_the_same_clock() {
        let mut events: Vec<_> = [(1, 100), (1, 203), (2, 200), (2, 300)].map(event).to_vec();
        events[0].what = What::Recover;
        let truth = [TraceEvent { what: What::Recover, ..event((0, 50)) }];
        let before = events.clone();
        straighten(&mut events, &truth);
        assert_eq!(events, before);
    }

    #[test]
    fn what_is_in_order_stays_as_it_is() {
        let times = [100, 200, 200, 350, 500];
        let recorded = [(1, 100), (1, 200), (2, 200), (2, 350), (3, 500)];
        assert_eq!(straightened(&recorded, &[150]), times);
    }

    #[test]
    fn a_clock_that_was_ahead_at_one_start_is_put_back() {
        let recorded = [(1, DAY + 100), (1, DAY + 200), (2, 2 * DAY), (2, 2 * DAY + 30), (3, DAY + 300)];
        assert_eq!(straightened(&recorded, &[]), [DAY + 100, DAY + 200, DAY + 270, DAY + 300, DAY + 300]);
        assert_eq!(
            straightened(&recorded, &[DAY + 90, DAY + 210, DAY + 299]),
            [DAY + 100, DAY + 200, DAY + 210, DAY + 240, DAY + 300],
            "it was started at 210"
        );
    }

    #[test]
    fn so_is_one_that_was_behind() {
        let recorded = [(1, DAY + 100), (2, 200), (2, 220), (3, DAY + 300)];
        assert_eq!(straightened(&recorded, &[DAY + 150]), [DAY + 100, DAY + 150, DAY + 170, DAY + 300]);
    }

    #[test]
    fn of_several_that_were_ahead_the_order_stays() {
        let recorded = [(1, 100), (2, DAY), (3, DAY + 50), (3, DAY + 60), (4, 200)];
        assert_eq!(straightened(&recorded, &[]), [100, 190, 190, 200, 200]);
    }
}
