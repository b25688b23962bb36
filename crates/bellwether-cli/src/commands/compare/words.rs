//! What was measured, in sentences.

use std::collections::BTreeMap;

use bellwether_proto::election::Protocol;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::measure::compare::{Campaign, Row};
use bellwether_sim::measure::faults::{APART, LASTING, SHARE, SLOWER};
use bellwether_sim::plan::FaultClass;
use bellwether_sim::scenario::Scenario;

use super::request::Request;

/// For the top of a picture.
pub(super) fn title(request: &Request) -> String {
    match request {
        Request::Campaign(_) => "Leader election, side by side".to_owned(),
        Request::Staged { scenario, .. } => scenario.name.clone(),
    }
}

/// What was measured, and with which figures.
pub(super) fn about(request: &Request) -> String {
    match request {
        Request::Campaign(campaign) => format!("{} {}", network(campaign), runs_of(campaign)),
        Request::Staged { scenario, runs, .. } => of_scenario(scenario, *runs),
    }
}

fn network(campaign: &Campaign) -> String {
    let figures = &campaign.figures;
    let (low, high) = (figures.latency.low, figures.latency.high);
    let takes = if low == high { low.to_string() } else { format!("{low} to {high}") };
    let loses = match figures.loss {
        0.0 => "nothing is lost".to_owned(),
        loss => format!("{} of 100 messages are lost", (loss * 1e6).round() / 1e4),
    };
    let agents = if figures.agent { " Nodes run as agents, connected." } else { "" };
    let (period, delta) = (figures.period, figures.delta());
    format!("Messages take {takes} and {loses}; the leader's period is {period}, delta {delta}.{agents}")
}

fn runs_of(campaign: &Campaign) -> String {
    let Campaign { runs, seed, .. } = campaign;
    let seeds = seeds(*seed, *runs);
    let crash = match (campaign.crashes(), campaign.rages()) {
        (true, false) => " in each the leader crashes once",
        (true, true) => " in each the leader crashes once; afterwards",
        (false, _) => " in each",
    };
    format!("{runs} runs each ({seeds}):{crash}{}.", rage(campaign))
}

/// Which faults happen, and for how long.
fn rage(campaign: &Campaign) -> String {
    let times = campaign.times();
    let kinds = campaign.faults.iter().filter_map(|class| match class {
        FaultClass::Crash => None,
        FaultClass::Recover => Some("nodes restart".to_owned()),
        FaultClass::Loss => Some(format!("{:.0} of 100 messages are lost", SHARE * 100.0)),
        FaultClass::Duplicate => Some(format!("{:.0} of 100 messages come twice", SHARE * 100.0)),
        FaultClass::Delay => Some(format!("messages take up to {SLOWER} times as long")),
        FaultClass::Pause => Some("nodes pause".to_owned()),
        FaultClass::Partition => Some("the network splits in two".to_owned()),
    });
    let kinds: Vec<_> = kinds.collect();
    if kinds.is_empty() {
        return String::new();
    }
    let timeout = campaign.figures.timeout();
    format!(
        ", for {}, now and then {} (every {} or so, for {})",
        rough(times.end.since(times.rage)),
        listed(&kinds),
        rough(timeout * APART),
        rough(timeout * LASTING)
    )
}

fn of_scenario(scenario: &Scenario, runs: u32) -> String {
    let Scenario { nodes, until, seed, variant, .. } = scenario;
    let agents = if scenario.agent { " run as agents" } else { "" };
    format!(
        "{nodes} nodes{agents}, {variant} protocols, {} long, {runs} runs each ({}). The file's expectations are about {} \
         only, and are not judged.",
        rough(until.since(Time::ZERO)),
        seeds(*seed, runs),
        scenario.protocol.name(),
        variant = variant.name(),
    )
}

/// How long each run's leadership was looked at, and from when.
pub(super) fn watched(request: &Request) -> String {
    match request {
        Request::Campaign(campaign) => {
            let times = campaign.times();
            let from = if campaign.crashes() { "from the crash on" } else { "while faults happen" };
            format!("{from}, {} of each run", rough(times.end.since(times.counted)))
        }
        Request::Staged { .. } => "in all of each run".to_owned(),
    }
}

/// What must not be overlooked.
pub(super) fn notes(request: &Request, rows: &[Row]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let (mut unkept, mut broken): (Grouped, Grouped) = Default::default();
    for row in rows {
        unkept.entry(not_kept(row)).or_default().push(row.protocol);
        broken.entry(violations(row)).or_default().push(row.protocol);
    }
    let told = |groups: Grouped, words: &str| {
        let told = groups.into_iter().filter(|(what, _)| !what.is_empty());
        told.map(|(what, of)| format!("{}: {words}{what}.", names(&of))).collect::<Vec<_>>()
    };
    notes.extend(told(unkept, ""));
    notes.extend(told(broken, "BROKEN: "));
    if let Request::Staged { oracles, .. } = request
        && !oracles.is_empty()
    {
        let names = names(oracles);
        notes.push(format!("{names}: the detector is an oracle, which no network has: it costs nothing."));
    }
    notes
}

type Grouped = BTreeMap<String, Vec<Protocol>>;

/// Properties with the same missing assumption are listed together.
fn not_kept(row: &Row) -> String {
    let mut whys: Vec<(&str, Vec<&str>)> = Vec::new();
    for (property, why) in &row.not_kept {
        match whys.iter_mut().find(|(known, _)| known == why) {
            Some((_, properties)) => properties.push(property.name()),
            None => whys.push((why, vec![property.name()])),
        }
    }
    let told = |(why, properties): (&str, Vec<&str>)| match properties[..] {
        [only] => format!("{only} is not promised here: it presumes {why}"),
        _ => format!("{} are not promised here: they presume {why}", properties.join(" and ")),
    };
    whys.into_iter().map(told).collect::<Vec<_>>().join("; ")
}

fn violations(row: &Row) -> String {
    let broken = row.judged.iter().filter(|judged| judged.broken > 0);
    let told =
        broken.map(|judged| format!("{} in {} of {} runs", judged.property, judged.broken, judged.runs));
    told.collect::<Vec<_>>().join(", ")
}

/// Each once, in the order of their lines.
fn names(protocols: &[Protocol]) -> String {
    let mut names: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
    names.dedup();
    names.join(", ")
}

fn seeds(first: u64, runs: u32) -> String {
    match runs {
        1 => format!("seed {first}"),
        runs => format!("seeds {first} to {}", first + u64::from(runs) - 1),
    }
}

fn listed(parts: &[String]) -> String {
    match parts {
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// In the unit that a person would take.
fn rough(span: Span) -> String {
    match span.as_micros() {
        us @ ..1_000_000 => format!("{} ms", us / 1_000),
        us => format!("{:.1} s", us as f64 / 1e6),
    }
}
