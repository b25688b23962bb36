//! What `check --trace` shows: a line for the run, one for each property, and what could not be judged.

use std::time::Duration;

use bellwether_sim::check::Finding;
use serde_json::{Value, json};

use super::Checked;
use crate::args::check::CheckArgs;
use crate::layout::{Column, Entries, table};
use crate::output::Printer;

pub(super) fn text(args: &CheckArgs, Checked { recorded, torn }: &Checked, out: &Printer) {
    use Column::{Number, Text, Whole};
    let columns = [
        Whole("result"),
        Text("protocol"),
        Number("nodes"),
        Number("files"),
        Number("events"),
        Number("seconds"),
        Text("judged"),
    ];
    let findings = &recorded.findings;
    let broken = findings.iter().filter(|(finding, _)| finding.violation.is_some()).count();
    let result = match (findings.len(), broken) {
        (0, _) => "-",
        (_, 0) => "ok",
        _ => "FAILED",
    };
    let row = vec![
        result.to_owned(),
        recorded.protocol.name().to_owned(),
        recorded.nodes.to_string(),
        args.trace.len().to_string(),
        recorded.events.to_string(),
        format!("{:.1}", recorded.ended.as_micros() as f64 / 1e6),
        judged(findings.len(), broken, recorded.not_judged.len()),
    ];
    out.line(table(&columns, vec![row]));
    out.line("");
    let mut entries = Entries::default();
    for (finding, _) in findings {
        entries.add(finding.property.name(), verdict(finding));
    }
    for (property, why) in &recorded.not_judged {
        entries.add(property.name(), format!("not judged: {why}"));
    }
    for file in torn {
        entries
            .add("incomplete", format!("{file} ends in the middle of a line, as that of a killed node does"));
    }
    entries.paragraphs().for_each(|paragraph| out.line(paragraph));
    if findings.is_empty() {
        out.line("Nothing could be judged.");
    }
}

/// How many properties hold, are broken and were not judged. Zeros are left out.
fn judged(all: usize, broken: usize, not_judged: usize) -> String {
    let counts = [(all - broken, "hold"), (broken, "broken"), (not_judged, "not judged")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
}

fn verdict(finding: &Finding) -> String {
    match &finding.violation {
        None => "holds".to_owned(),
        Some(violation) => format!("BROKEN at {}: {}", violation.at, violation.what),
    }
}

pub(super) fn json(args: &CheckArgs, Checked { recorded, torn }: &Checked, took: Duration) -> Value {
    let files: Vec<_> = args.trace.iter().map(|path| path.display().to_string()).collect();
    let violation = |(finding, steps): &(Finding, usize)| {
        let violation = finding.violation.as_ref()?;
        Some(json!({
            "property": finding.property.name(),
            "seed": null,
            "scenario": null,
            "steps": steps,
            "at_us": violation.at.as_micros(),
            "what": violation.what,
        }))
    };
    let property = |(finding, _): &(Finding, usize)| {
        let violation = finding.violation.as_ref().map(|v| format!("at {}: {}", v.at, v.what));
        json!({
            "name": finding.property.name(),
            "holds": violation.is_none(),
            "violation": violation,
        })
    };
    let not_judged: Vec<_> = recorded
        .not_judged
        .iter()
        .map(|(property, why)| json!({"name": property.name(), "why": why}))
        .collect();
    json!({
        "mode": "trace",
        "files": files,
        "torn": torn,
        "protocol": recorded.protocol.name(),
        "variant": recorded.variant.name(),
        "nodes": recorded.nodes,
        "events": recorded.events,
        "wall_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "violations": recorded.findings.iter().filter_map(violation).collect::<Vec<_>>(),
        "properties": recorded.findings.iter().map(property).collect::<Vec<_>>(),
        "not_judged": not_judged,
        "reached": {},
    })
}
