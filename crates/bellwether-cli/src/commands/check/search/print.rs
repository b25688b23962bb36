//! The result of a search: a line for each algorithm, what was judged and reached, and each violation with the command that
//! replays it.

use std::collections::BTreeMap;

use bellwether_proto::election::Variant;
use bellwether_sim::scenario::{Runs, Scenario};
use bellwether_sim::swarm::Search;
use bellwether_sim::swarm::reached::Situation;
use serde_json::{Value, json};

use super::counterexample::{Counterexample, Shrinking};
use super::{Searched, commands};
use crate::args::check::{Sizes, Subject};
use crate::layout::{Column, Entries, LABEL, hanging, label, table};
use crate::output::Printer;
use crate::words::counted;

/// A scenario that is longer is for a file, not for a screen.
const LINES_SHOWN_MAX: usize = 60;

pub(super) fn text(searched: &[Searched], left: &[Search], out: &Printer) {
    out.line(table(&COLUMNS, searched.iter().map(row).collect()));
    if let [one] = searched {
        out.line("");
        details(one).paragraphs().for_each(|paragraph| out.line(paragraph));
    } else {
        shortcomings(searched, out);
    }
    for one in searched {
        for found in &one.found {
            out.line("");
            counterexample(one, found, out);
        }
    }
    if !left.is_empty() {
        out.line("\nInterrupted. To go on:");
        for rest in left {
            out.line(format_args!("  {}", commands::check(rest, rest.first_seed, rest.runs)));
        }
    }
}

const COLUMNS: [Column; 7] = [
    Column::Whole("result"),
    Column::Whole("protocol"),
    Column::Number("runs"),
    Column::Number("events"),
    Column::Number("seconds"),
    Column::Whole("reached"),
    Column::Text("broken"),
];

fn row(one: &Searched) -> Vec<String> {
    let Searched { search, outcome, took, found } = one;
    let result = match (found.is_empty(), one.rest()) {
        (false, _) => "FAILED",
        (true, Some(_)) => "-",
        (true, None) if one.judged_nothing() => "EMPTY",
        (true, None) => "ok",
    };
    let (all, missed) = (search.must_reach().len(), one.missed().len());
    let broken: Vec<_> = found.iter().map(|found| found.property.to_string()).collect();
    vec![
        result.to_owned(),
        name(search),
        outcome.runs.to_string(),
        outcome.events.to_string(),
        format!("{:.1}", took.as_secs_f64()),
        format!("{} of {all}", all - missed),
        match broken.is_empty() {
            true if one.judged_nothing() => "not judged".to_owned(),
            true => "nothing".to_owned(),
            false => broken.join(", "),
        },
    ]
}

fn name(search: &Search) -> String {
    let protocol = search.protocol.name();
    match (search.variant, search.limits.runs) {
        (_, Runs::Exclusive) => Subject::EXCLUSIVE.to_owned(),
        (Variant::Printed, _) => format!("{protocol} printed"),
        (Variant::Repaired, Runs::Agents) => format!("{protocol} agent"),
        (Variant::Repaired, Runs::Elections) => protocol.to_owned(),
    }
}

/// What a single search looked at.
fn details(one: &Searched) -> Entries {
    let Searched { search, outcome, took, .. } = one;
    let mut entries = Entries::default();
    let per_second = |count: u64| count as f64 / took.as_secs_f64().max(1e-3);
    entries.add("nodes", Sizes::typed(&search.limits.nodes));
    entries.add("faults", faults(search).join(", "));
    let last = search.first_seed.saturating_add(outcome.runs.saturating_sub(1));
    entries.add("seeds", format!("{} to {last}", search.first_seed));
    let (runs, events) = (per_second(outcome.runs), per_second(outcome.events) / 1e6);
    entries.add("speed", format!("{runs:.0} runs/s, {events:.1} million events/s"));
    for (property, judged) in &outcome.judged {
        let verdict = match outcome.broken.get(property) {
            None => format!("holds in all {judged} runs in which it applies"),
            Some(broken) => format!("BROKEN in {broken} of {judged} runs in which it applies"),
        };
        entries.add(property.name(), verdict);
    }
    let apply: Vec<_> = search.protocol.spec().promises(search.variant).iter().map(|p| p.property).collect();
    for property in apply.iter().filter(|property| !outcome.judged.contains_key(property)) {
        entries.add(property.name(), "never applied: no run kept its assumptions");
    }
    let count = |(situation, runs): (&Situation, &u64)| {
        format!("{}\u{a0}{runs}", situation.to_string().replace(' ', "\u{a0}"))
    };
    let must = search.must_reach();
    let reached = outcome.reached.iter().filter(|(situation, _)| must.contains(situation));
    entries.add("reached, in runs", reached.map(count).collect::<Vec<_>>().join(", "));
    if let Some(missed) = never_reached(one) {
        entries.add(NEVER_REACHED, missed);
    }
    entries
}

/// For many searches: only what is missing.
fn shortcomings(searched: &[Searched], out: &Printer) {
    for one in searched {
        if let Some(missed) = never_reached(one) {
            out.line(format_args!("\n{}", name(&one.search)));
            entry(out, NEVER_REACHED, &missed);
        }
    }
}

const NEVER_REACHED: &str = "never reached";

fn never_reached(one: &Searched) -> Option<String> {
    let missed: Vec<_> =
        one.missed().iter().map(|situation| situation.to_string().replace(' ', "\u{a0}")).collect();
    (!missed.is_empty()).then(|| missed.join(", "))
}

fn counterexample(one: &Searched, found: &Counterexample, out: &Printer) {
    let Counterexample { property, seed, how, steps, files, .. } = found;
    let headline = format!("{} breaks {property} at {}: {}", name(&one.search), how.at, how.what);
    out.line(hanging("", &headline));
    entry(out, "  found", &format!("seed {seed}"));
    entry(out, "  shrunk", &shrunk(found));
    entry(out, "  broken", &format!("after {} of that run", counted(*steps, "step")));
    // In one line, however long: it is to be copied.
    out.line(format_args!("{:<LABEL$}{}", "  again", commands::check(&one.search, *seed, 1)));
    for file in files {
        out.line(format_args!("{:<LABEL$}{}", "  written", file.display()));
    }
    match files.first() {
        Some(scenario) => {
            out.line(format_args!(
                "{:<LABEL$}{}",
                "  replay",
                commands::sim(&scenario.display().to_string())
            ));
        }
        None => scenario(found, out),
    }
}

/// The result of shrinking, and whether it was complete.
fn shrunk(found: &Counterexample) -> String {
    let size = |scenario: &Scenario| {
        let (nodes, events) = (u64::from(scenario.nodes), scenario.events.len() as u64);
        format!("{}, {}", counted(nodes, "node"), counted(events, "event"))
    };
    let (to, from) = (size(&found.scenario), size(&found.drawn));
    let rest = match found.shrinking {
        Shrinking::NotAtAll => return format!("not at all: {to}"),
        Shrinking::Finished => String::new(),
        Shrinking::Stopped => "; that was cut short: the command below shrinks it to the end".to_owned(),
        Shrinking::GivenUp(runs) => format!("; given up after {runs} candidates, there may be a shorter one"),
    };
    format!("to {to}, from {from}{rest}")
}

fn scenario(found: &Counterexample, out: &Printer) {
    let toml = found.toml();
    let lines = toml.lines().count();
    if lines <= LINES_SHOWN_MAX {
        out.line(format_args!("\n{}", toml.trim_end()));
    } else {
        entry(out, "  scenario", &format!("{lines} lines: --out DIR writes it, and its trace, to files"));
    }
}

fn entry(out: &Printer, name: &str, text: &str) {
    out.line(hanging(&label(name), text));
}

fn faults(search: &Search) -> Vec<&'static str> {
    let classes = search.limits.classes(search.protocol, search.variant);
    classes.into_iter().map(|class| class.name()).collect()
}

pub(super) fn json(one: &Searched) -> Value {
    let Searched { search, outcome, took, found } = one;
    let violation = |found: &Counterexample| {
        let files: Vec<_> = found.files.iter().map(|file| file.display().to_string()).collect();
        json!({
            "property": found.property.name(),
            "seed": found.seed,
            "scenario": found.toml(),
            "steps": found.steps,
            "shrunk": {
                "from_nodes": found.drawn.nodes,
                "from_events": found.drawn.events.len(),
                "nodes": found.scenario.nodes,
                "events": found.scenario.events.len(),
                "finished": found.shrinking == Shrinking::Finished,
            },
            "at_us": found.how.at.as_micros(),
            "what": found.how.what,
            "runs": outcome.broken.get(&found.property),
            "files": files,
            "replay": commands::check(search, found.seed, 1),
        })
    };
    let missed: Vec<_> = one.missed().iter().map(ToString::to_string).collect();
    let mut reached: BTreeMap<_, _> =
        outcome.reached.iter().map(|(s, runs)| (s.to_string(), *runs)).collect();
    reached.extend(missed.iter().map(|missed| (missed.clone(), 0)));
    let judged: BTreeMap<_, _> = outcome.judged.iter().map(|(p, runs)| (p.name(), *runs)).collect();
    json!({
        "protocol": search.protocol.name(),
        "variant": search.variant.name(),
        "mode": "swarm",
        "nodes": nodes(search),
        "runs": outcome.runs,
        "events": outcome.events,
        "states": null,
        "wall_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "violations": found.iter().map(violation).collect::<Vec<_>>(),
        "reached": reached,
        "never_reached": missed,
        "agent": search.limits.runs != Runs::Elections,
        "exclusive": search.limits.runs == Runs::Exclusive,
        "faults": faults(search),
        "first_seed": search.first_seed,
        "messages": outcome.messages,
        "judged": judged,
        "go_on": one.rest().map(|rest| commands::check(&rest, rest.first_seed, rest.runs)),
    })
}

/// One number, or several of which each plan drew one.
fn nodes(search: &Search) -> Value {
    match search.limits.nodes[..] {
        [nodes] => nodes.into(),
        ref several => several.into(),
    }
}
