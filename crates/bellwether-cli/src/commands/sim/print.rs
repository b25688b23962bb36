//! What `sim` shows to a person: a line for each scenario, the details of a single one, and what went wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bellwether_proto::election::Variant;
use bellwether_proto::opinion::Status;
use bellwether_proto::promise::Property;
use bellwether_sim::environment;
use bellwether_sim::operations::{Operation, Outcome};
use bellwether_sim::report::{FinalNode, Judged, Report};
use bellwether_sim::scenario::Scenario;

use super::Run;
use crate::args::sim::SimArgs;
use crate::layout::{Column, Entries, hanging, table};
use crate::output::{Printer, invocation};

/// How many leaders are named before the rest is only counted.
const LEADERS_NAMED_MAX: usize = 4;

pub(super) fn all(args: &SimArgs, runs: &[Run<'_>], out: &Printer) {
    out.line(summary(runs));
    if let [run] = runs {
        return details(run, out);
    }
    for run in runs.iter().filter(|run| !run.passed) {
        failure(run, out);
        out.line(format_args!("  replay: {} {}", invocation(), arguments(args, run.file)));
    }
}

fn summary(runs: &[Run<'_>]) -> String {
    use Column::{Number, Text, Whole};
    let columns = [
        Whole("result"),
        Text("scenario"),
        Text("protocol"),
        Number("nodes"),
        Whole("led by"),
        Number("messages"),
        Text("judged"),
    ];
    let row = |Run { report, passed, .. }: &Run<'_>| {
        vec![
            if *passed { "ok" } else { "FAILED" }.to_owned(),
            report.scenario.clone(),
            protocol(report),
            report.nodes.to_string(),
            leaders(report),
            report.messages.sent.to_string(),
            judged(report),
        ]
    };
    table(&columns, runs.iter().map(row).collect())
}

fn protocol(report: &Report) -> String {
    match report.variant {
        Variant::Repaired => report.protocol.name().to_owned(),
        Variant::Printed => format!("{} {}", report.protocol.name(), report.variant.name()),
    }
}

/// The leaders at the end: the nodes that name themselves.
fn leaders(report: &Report) -> String {
    let leads = |node: &&FinalNode| node.status == Status::Normal && node.leader == Some(node.node);
    let leaders: Vec<_> = report.last.iter().filter(leads).map(|node| node.node.to_string()).collect();
    match leaders.len() {
        0 => "none".to_owned(),
        1..=LEADERS_NAMED_MAX => leaders.join(", "),
        count => format!("{}, … ({count})", leaders[..LEADERS_NAMED_MAX - 1].join(", ")),
    }
}

fn judged(report: &Report) -> String {
    let broken: Vec<_> =
        report.properties.iter().filter(|judged| !judged.holds).map(|j| j.property.name()).collect();
    let hold = report.properties.len() - broken.len();
    if broken.is_empty() {
        if hold == 0 { "nothing".to_owned() } else { format!("{hold} hold") }
    } else {
        format!("{hold} hold, {} broken", broken.join(", "))
    }
}

/// The details, for a single scenario.
fn details(Run { scenario, report, .. }: &Run<'_>, out: &Printer) {
    out.line(format_args!("\n{}\n", nodes(report, scenario.agent)));
    let mut entries = Entries::default();
    let mut entry = |name: &str, text: &str| entries.add(name, text);
    let messages = &report.messages;
    entry(
        "messages",
        &format!(
            "{} sent ({} protocol, {} detector), {} received, {} lost, the rest under way",
            messages.sent, messages.protocol, messages.detector, messages.delivered, messages.lost
        ),
    );
    let kinds: Vec<_> = messages.by_kind.iter().map(|(kind, count)| format!("{kind}\u{a0}{count}")).collect();
    entry("", &kinds.join(", "));
    for (at, operation) in report.operations.iter().enumerate() {
        entry(if at == 0 { "operations" } else { "" }, &fate(operation));
    }
    entry("leader changes", &report.leader_changes.to_string());
    entry("seed", &report.seed.to_string());
    entry("trace hash", &report.trace_hash);
    for judged in &report.properties {
        let expected = scenario.expect.violates.contains(&judged.property);
        let foreign = foreign(scenario, judged.property);
        entry(judged.property.name(), &format!("{}{foreign}", verdict(judged, expected)));
    }
    for (property, why) in environment::left_out(scenario) {
        entry(property.name(), &format!("not judged: it needs {why}"));
    }
    for property in environment::judged(scenario) {
        if !report.properties.iter().any(|judged| judged.property == property) {
            let foreign = foreign(scenario, property);
            entry(property.name(), &format!("nothing to judge in this run{foreign}"));
        }
    }
    for expectation in &report.expectations {
        let met =
            expectation.detail.as_deref().map_or("met".to_owned(), |detail| format!("NOT met: {detail}"));
        entry(&format!("expect {}", expectation.what), &met);
    }
    entries.paragraphs().for_each(|paragraph| out.line(paragraph));
}

/// The outcome of a restricted operation, and the other answers of the nodes that were asked.
fn fate(operation: &Operation) -> String {
    let said = |answer: Outcome| operation.answers.iter().filter(move |said| said.answer == answer);
    let mut told = format!("{}: {}", operation.op, operation.outcome);
    if let Some(group) = &operation.group {
        let known: Vec<_> = operation.known_to.iter().map(u32::to_string).collect();
        told.push_str(&format!(" in group {group}, known to {}", known.join(", ")));
    }
    let aborted: BTreeSet<u32> = said(Outcome::Aborted).map(|said| said.node).collect();
    // Nodes may be asked again and again.
    let mut declined = BTreeMap::<&str, BTreeSet<u32>>::new();
    for answer in said(Outcome::Declined) {
        declined.entry(answer.reason.unwrap_or("no reason")).or_default().insert(answer.node);
    }
    let declined: Vec<_> = declined.iter().map(|(why, by)| format!("{}\u{a0}({why})", listed(by))).collect();
    for (what, by) in [(Outcome::Aborted, listed(&aborted)), (Outcome::Declined, declined.join(" and "))] {
        match what == operation.outcome {
            _ if by.is_empty() => {}
            true => told.push_str(&format!(" by {by}")),
            false => told.push_str(&format!("; {what} by {by}")),
        }
    }
    told
}

fn listed(nodes: &BTreeSet<u32>) -> String {
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Why a property is judged that the algorithm does not promise: the file was written for another.
fn foreign(scenario: &Scenario, property: Property) -> String {
    match environment::promises_ever(scenario, property) {
        true => String::new(),
        false => format!("; only [expect] names it, {} never promises it", scenario.protocol.name()),
    }
}

/// The nodes at the end, and what they announced if they are agents. Nodes in a row with the same opinion
/// share a line.
fn nodes(report: &Report, agent: bool) -> String {
    let shown = |node: &FinalNode| (node.status, node.leader, node.group.clone(), node.announced);
    let or_dash = |number: Option<String>| number.unwrap_or("-".to_owned());
    let row = |alike: &[FinalNode]| {
        let ids = match alike {
            [one] => one.node.to_string(),
            _ => format!("{}-{}", alike[0].node, alike[alike.len() - 1].node),
        };
        let (status, leader, group, announced) = shown(&alike[0]);
        let leader = leader.map(|leader| leader.to_string());
        let (announces, epoch) =
            announced.map(|(leader, epoch)| (leader.to_string(), epoch.to_string())).unzip();
        let mut row = vec![ids, status.name().to_owned(), or_dash(leader), or_dash(group)];
        row.extend([announces, epoch].into_iter().filter(|_| agent).map(or_dash));
        row
    };
    let mut columns = vec![
        Column::Number("node"),
        Column::Whole("status"),
        Column::Number("leader"),
        Column::Whole("group"),
    ];
    columns.extend(["announces", "epoch"].into_iter().filter(|_| agent).map(Column::Number));
    table(&columns, report.last.chunk_by(|a, b| shown(a) == shown(b)).map(row).collect())
}

fn verdict(judged: &Judged, expected: bool) -> String {
    match &judged.violation {
        None => "holds".to_owned(),
        Some(violation) if expected => format!("broken, as expected, {violation}"),
        Some(violation) => format!("BROKEN {violation}"),
    }
}

fn failure(Run { scenario, report, .. }: &Run<'_>, out: &Printer) {
    out.line(format_args!("\nFAILED: {} (seed {})", report.scenario, report.seed));
    for expectation in report.expectations.iter().filter(|expectation| !expectation.met) {
        let detail = expectation.detail.as_deref().unwrap_or("not met");
        out.line(hanging(&format!("  expected {}: ", expectation.what), detail));
    }
    for judged in &report.properties {
        let expected = scenario.expect.violates.contains(&judged.property);
        if let (Some(violation), false) = (&judged.violation, expected) {
            out.line(hanging(&format!("  {} is broken ", judged.property), violation));
        }
    }
}

/// The arguments with which this command runs a file again, the same in every event.
pub(super) fn arguments(args: &SimArgs, file: &Path) -> String {
    let mut arguments = format!("sim {}", file.display());
    let protocol = args.protocol.map(|protocol| ("--protocol", protocol.name().to_owned()));
    let variant = args.variant.map(|variant| ("--variant", variant.name().to_owned()));
    let seed = args.seed.map(|seed| ("--seed", seed.to_string()));
    for (option, value) in [protocol, variant, seed].into_iter().flatten() {
        arguments.push_str(&format!(" {option} {value}"));
    }
    arguments
}
