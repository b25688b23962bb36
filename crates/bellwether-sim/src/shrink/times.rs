//! Rounder and earlier times.

use bellwether_proto::time::{Span, Time};

use super::goal::Broken;
use super::trials::Trials;
use crate::run::violated_at;
use crate::scenario::{Fault, Latency, Scenario};

/// From coarse to fine.
const UNITS: [Span; 5] =
    [Span::secs(1), Span::millis(100), Span::millis(10), Span::millis(1), Span::micros(100)];

/// Ends the run when the violation is there, or soon after at a rounder time.
pub(super) fn end_sooner(best: &mut Scenario, trials: &mut Trials<'_>) {
    let Broken::Property(property) = trials.goal().broken else { return };
    let Some(soonest) = trials.soonest_end(best) else { return };
    let violated = violated_at(best, property).unwrap_or(soonest).max(soonest);
    let ends = |best: &Scenario| {
        let ends = UNITS.iter().flat_map(|unit| [soonest, violated].map(|end| up_to(end, *unit)));
        let exact = [soonest, violated];
        ends.chain(exact).map(|until| Scenario { until, ..best.clone() }).collect::<Vec<_>>()
    };
    while let Some(smaller) = trials.smaller(best, ends(best)) {
        *best = smaller;
    }
}

/// Moves events to rounder and earlier times, by themselves and with all later events, and rounds delays.
pub(super) fn rounder(best: &mut Scenario, trials: &mut Trials<'_>) {
    for at in 0..best.events.len() {
        while let Some(smaller) = trials.smaller(best, moved(best, at)) {
            *best = smaller;
        }
        while let Some(smaller) = trials.smaller(best, delayed(best, at)) {
            *best = smaller;
        }
    }
}

/// The scenario with that event at other times: together with all later events, with those of the same instant, or by
/// itself. Coarse times come first.
pub(super) fn moved(scenario: &Scenario, event: usize) -> Vec<Scenario> {
    let at = scenario.events[event].at;
    let instants = UNITS.iter().flat_map(|unit| instants(at, *unit));
    let mut instants: Vec<Time> = [Time::ZERO].into_iter().chain(instants).collect();
    instants.dedup();
    let moved = |to: Time| {
        let tail = to < at;
        let with_tail = tail.then(|| shifted(scenario, |index, then| index >= event || then >= at, at, to));
        let together = shifted(scenario, |_, then| then == at, at, to);
        let alone = shifted(scenario, |index, _| index == event, at, to);
        with_tail.into_iter().chain([together, alone])
    };
    instants.into_iter().flat_map(moved).collect()
}

/// Times near `at` that are multiples of the unit, and half of it, for what may happen much sooner.
fn instants(at: Time, unit: Span) -> Vec<Time> {
    let down = down_to(at, unit);
    let up = up_to(at, unit);
    let half = down_to(Time::from_micros(at.as_micros() / 2), unit);
    let before = (down > Time::ZERO).then(|| down - unit);
    [Some(half), before, Some(down), Some(up)].into_iter().flatten().collect()
}

/// The events that are chosen, moved by as much as takes one from `from` to `to`, and all in order again.
fn shifted(scenario: &Scenario, chosen: impl Fn(usize, Time) -> bool, from: Time, to: Time) -> Scenario {
    let mut shifted = scenario.clone();
    for (index, planned) in shifted.events.iter_mut().enumerate() {
        if chosen(index, planned.at) {
            let moved = planned.at.as_micros() + to.as_micros();
            planned.at = Time::from_micros(moved.saturating_sub(from.as_micros()));
        }
    }
    shifted.events.sort_by_key(|planned| planned.at);
    shifted
}

/// The scenario with the delay of that event, or the time that something takes in it, constant and rounder.
fn delayed(scenario: &Scenario, event: usize) -> Vec<Scenario> {
    let ends = match scenario.events[event].fault {
        Fault::Slow { latency, .. } => [latency.low, latency.high],
        Fault::Work { ends_after: Some(time), .. } | Fault::ResignFor { hold: Some(time), .. } => [time; 2],
        Fault::Stall { lasts, .. } => [lasts; 2],
        _ => return Vec::new(),
    };
    let ends = ends.map(|span| Time::ZERO + span);
    let rounds = UNITS.iter().flat_map(|unit| ends.map(|end| [up_to(end, *unit), down_to(end, *unit)]));
    let spans = rounds.flatten().chain(ends).map(|time| time.since(Time::ZERO));
    let with = |span: Span| {
        let mut candidate = scenario.clone();
        match &mut candidate.events[event].fault {
            Fault::Slow { latency, .. } => *latency = Latency::constant(span),
            Fault::Work { ends_after: time, .. } | Fault::ResignFor { hold: time, .. } => *time = Some(span),
            Fault::Stall { lasts, .. } => *lasts = span,
            _ => {}
        }
        candidate
    };
    spans.filter(|span| *span > Span::ZERO).map(with).collect()
}

fn down_to(time: Time, unit: Span) -> Time {
    Time::from_micros(time.as_micros() / unit.as_micros() * unit.as_micros())
}

fn up_to(time: Time, unit: Span) -> Time {
    Time::from_micros(time.as_micros().next_multiple_of(unit.as_micros()))
}
