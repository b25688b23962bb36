//! Progress and result of an exhaustive search.

use std::time::Duration;

use bellwether_proto::promise::Property;
use bellwether_sim::explore::{Extent, INSTANTS_MAX, Outcome, Progress, UNBOUNDED};
use serde_json::{Value, json};

use super::request::{Agents, Request};
use super::{Found, Searched};
use crate::layout::{LABEL, hanging, label};
use crate::output::Printer;
use crate::words::counted;

pub(super) fn progress(request: &Request, progress: Progress, took: Duration) -> String {
    let Progress { states, depth, frontier, .. } = progress;
    let rate = states as f64 / took.as_secs_f64().max(1e-3);
    let name = request.name();
    format!(
        "{name} {} states, {rate:.0} states/s, depth {depth}, frontier {}",
        grouped(states),
        grouped(frontier)
    )
}

pub(super) fn text(searched: &Searched, out: &Printer) {
    let Searched { request, outcome, took, found } = searched;
    out.line(hanging(&format!("{}: ", request.name()), &headline(searched)));
    if let Some(Agents { preferred: Some(preferred), .. }) = request.agents {
        entry(out, "preferred", &format!("node {preferred}"));
    }
    entry(out, "judged", &names(&request.judged));
    if !request.not_judged.is_empty() {
        entry(
            out,
            "not judged",
            &format!("{}: not promised within these bounds", names(&request.not_judged)),
        );
    }
    let seconds = took.as_secs_f64();
    let speed = outcome.states as f64 / seconds.max(1e-3);
    entry(
        out,
        "effort",
        &format!(
            "{} steps, depth {}, {seconds:.1} s, {speed:.0} states/s",
            grouped(outcome.transitions),
            outcome.depth
        ),
    );
    entry(out, "bounds reached", &reached(outcome));
    entry(out, "slowest", &format!("{} until a state that was left alone had settled", outcome.slowest));
    if outcome.undecided > 0 {
        entry(out, "undecided", &undecided(outcome));
    }
    let odds = odds(outcome.states);
    entry(out, "certainty", &format!("the odds that any two states were taken for one are {odds:.0e}"));
    for one in found {
        out.line("");
        steps(one).iter().for_each(|line| out.line(line));
        // In one line, however long: it is to be copied.
        out.line(format_args!("{:<LABEL$}{}", "  again", request.command()));
        for file in &one.files {
            out.line(format_args!("{:<LABEL$}{}", "  written", file.display()));
        }
    }
}

/// What was covered. It says "all" only when the search was complete.
fn headline(searched: &Searched) -> String {
    let Searched { request, outcome, .. } = searched;
    let Request { nodes, bounds, .. } = request;
    let states = grouped(outcome.states);
    let covered = match outcome.extent {
        Extent::All => format!("all {states} states"),
        Extent::UpToViolation => format!("{states} states, those no further away than the first violation,"),
        Extent::StatesMax => format!("only the first {states} states, because of --states-max,"),
        Extent::Stopped => format!("only the first {states} states, because it was interrupted,"),
    };
    let verdict = match (searched.found.len(), outcome.undecided) {
        (0, 0) => "no violation".to_owned(),
        (0, _) => "no violation, but liveness is undecided".to_owned(),
        (1, _) => "1 violation".to_owned(),
        (more, _) => format!("{more} violations"),
    };
    format!("{covered} with {}, {bounds}: {verdict}", counted(*nodes, "node"))
}

/// Properties that are neither kept nor broken.
fn undecided(outcome: &Outcome) -> String {
    let (states, instants) = (grouped(outcome.undecided), grouped(INSTANTS_MAX as u64));
    format!("whether {states} of the states settle when left alone: they did not within {instants} instants")
}

/// A counterexample, line by line.
pub(super) fn steps(found: &Found) -> Vec<String> {
    let Found { counterexample, story, .. } = found;
    let (broken, steps) = (counterexample.broken.name(), counted(story.lines.len() as u64, "step"));
    let headline = hanging("", &format!("{broken} is broken after {steps}: {}", counterexample.what));
    let step = |(nth, line): (usize, &String)| hanging(&format!("  {:>3}  ", nth + 1), line);
    [headline].into_iter().chain(story.lines.iter().enumerate().map(step)).collect()
}

pub(super) fn json(searched: &Searched) -> Value {
    let Searched { request, outcome, took, found } = searched;
    let violation = |found: &Found| {
        let files: Vec<_> = found.files.iter().map(|file| file.display().to_string()).collect();
        json!({
            "property": found.counterexample.broken.name(),
            "seed": null,
            "scenario": null,
            "steps": found.story.lines.len(),
            "what": found.counterexample.what,
            "path": found.story.lines,
            "files": files,
            "replay": request.command(),
        })
    };
    let bounds = request.bounds;
    let bounded = |bound: u8| Some(bound).filter(|bound| *bound != UNBOUNDED);
    json!({
        "protocol": request.protocol.name(),
        "variant": request.variant.name(),
        "mode": "exhaustive",
        "nodes": request.nodes,
        "runs": null,
        "events": outcome.transitions,
        "states": outcome.states,
        "complete": outcome.extent == Extent::All,
        "depth": outcome.depth,
        "wall_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "bounds": {
            "crashes": bounds.crashes, "recoveries": bounds.recoveries, "losses": bounds.losses,
            "duplicates": bounds.duplicates, "lies": bounds.lies, "expiries": bounded(bounds.expiries),
            "waits": bounds.waits, "commands": bounds.commands, "early": bounded(bounds.early),
            "in_flight": bounds.in_flight,
        },
        "agent": request.agents.is_some(),
        "preferred": request.agents.and_then(|agents| agents.preferred).map(|preferred| preferred.0),
        "judged": request.judged.iter().map(|property| property.name()).collect::<Vec<_>>(),
        "violations": found.iter().map(violation).collect::<Vec<_>>(),
        "reached": { "in_flight": outcome.reached.in_flight, "expiries": outcome.reached.expiries },
        "slowest_us": outcome.slowest.as_micros(),
        "undecided": outcome.undecided,
    })
}

fn reached(outcome: &Outcome) -> String {
    let (full, late) = (outcome.reached.in_flight, outcome.reached.expiries);
    format!("a channel was full {} times, no expiry was left {} times", grouped(full), grouped(late))
}

fn entry(out: &Printer, name: &str, text: &str) {
    out.line(hanging(&label(name), text));
}

fn names(properties: &[Property]) -> String {
    properties.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ")
}

/// The odds that two of so many states share their 64 bits.
fn odds(states: u64) -> f64 {
    let states = states as f64;
    states * states / 2.0_f64.powi(65)
}

/// 12,345,678
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use bellwether_proto::election::{AnyElection, Protocol, Variant};
    use bellwether_sim::explore::{Bounds, Flow, Limits, System, explore};

    use super::*;
    use crate::Status;

    /// Neither a violation nor a pass.
    #[test]
    fn what_is_undecided_is_said_to_be() {
        let bounds = Bounds::suited_to(Protocol::Lfa);
        let system: System<AnyElection> = System::new(Protocol::Lfa, Variant::Repaired, 2, bounds);
        let limits = Limits { states_max: 9, instants_max: 0, threads: NonZeroUsize::MIN };
        let judged = vec![Property::Omega];
        let outcome = explore(&system, &judged, limits, |_| Flow::GoOn);
        let (protocol, variant) = (Protocol::Lfa, Variant::Repaired);
        let (agents, not_judged) = (None, Vec::new());
        let request = Request { protocol, variant, nodes: 2, bounds, agents, judged, not_judged, limits };
        let mut searched = Searched { request, outcome, took: Duration::ZERO, found: Vec::new() };
        assert!(headline(&searched).ends_with(": no violation, but liveness is undecided"));
        assert_eq!((json(&searched)["undecided"].as_u64(), searched.status()), (Some(9), Status::Failed));
        searched.outcome.extent = Extent::All;
        assert_eq!(searched.status(), Status::Failed);
        searched.outcome.undecided = 0;
        assert_eq!(searched.status(), Status::Done);
    }

    #[test]
    fn numbers_are_grouped() {
        let expected = [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")];
        for (number, text) in expected {
            assert_eq!(grouped(number), text);
        }
    }
}
