//! What is shown to people and programs.

use bellwether_sim::flaw::{Evidence, Flaw, Hunt};
use serde_json::json;

use super::document::Row;
use super::hunt::Hunted;
use crate::layout::{Column, table};
use crate::output::Printer;

/// A line for each flaw.
pub(super) fn text(rows: &[Row<'_>], flaws: &[Flaw], out: &Printer) {
    use Column::{Number, Text, Whole};
    let columns = [
        Whole("erratum"),
        Text("what is wrong"),
        Whole("algorithm"),
        Whole("broken"),
        Number("plan"),
        Number("found"),
        Number("events"),
        Number("nodes"),
        Text("repaired"),
    ];
    let row = |(flaw, hunt, hunted): &Row<'_>| {
        let broken = hunt.goal.broken.words();
        let first = [flaw.erratum.clone(), flaw.title.clone(), hunt.protocol.name().to_owned(), broken];
        let rest = match hunted {
            Hunted::Missed(runs) => [
                format!("none of {runs}"),
                "NOT FOUND".to_owned(),
                String::new(),
                String::new(),
                String::new(),
            ],
            Hunted::Found(shown) => [
                shown.seed.to_string(),
                format!("{:.2}s", shown.times.find.as_secs_f64()),
                shown.shrunk.scenario.events.len().to_string(),
                shown.shrunk.scenario.nodes.to_string(),
                repaired(hunt, hunted),
            ],
        };
        first.into_iter().chain(rest).collect()
    };
    if !rows.is_empty() {
        out.line(table(&columns, rows.iter().map(row).collect()));
    }
    let reasons = flaws.iter().filter(|flaw| matches!(flaw.evidence, Evidence::Reason { .. }));
    let silent: Vec<_> = reasons.map(|flaw| flaw.erratum.as_str()).collect();
    if !silent.is_empty() {
        out.line(format_args!("\nNo run can show {}: their files say why.", silent.join(", ")));
    }
}

/// One flaw as one object.
pub(super) fn json(flaw: &Flaw, hunt: &Hunt, hunted: &Hunted) -> String {
    let mut object = json!({
        "erratum": flaw.erratum,
        "title": flaw.title,
        "protocol": hunt.protocol.name(),
        "broken": hunt.goal.broken.words(),
        "found": matches!(hunted, Hunted::Found(_)),
        "as_told": hunted.is_as_told(hunt),
    });
    if let Hunted::Found(shown) = hunted {
        let more = json!({
            "seed": shown.seed,
            "runs": shown.runs,
            "find_ms": shown.times.find.as_millis(),
            "shrink_ms": shown.times.shrink.as_millis(),
            "shrink_runs": shown.shrunk.runs,
            "events": shown.shrunk.scenario.events.len(),
            "nodes": shown.shrunk.scenario.nodes,
            "steps": shown.steps,
            "scenario": shown.shrunk.scenario.to_toml(),
            "repaired": shown.repaired.as_ref().map(|repaired| json!({
                "runs": repaired.runs, "judged": repaired.judged, "broken": repaired.broken,
            })),
        });
        let more = more.as_object().expect("it is written as one").clone();
        object.as_object_mut().expect("it is written as one").extend(more);
    }
    object.to_string()
}

fn repaired(hunt: &Hunt, hunted: &Hunted) -> String {
    let Hunted::Found(shown) = hunted else { return String::new() };
    let broken = shown.repaired.as_ref().map_or(0, |repaired| repaired.broken.len());
    match (broken, &hunt.unrepaired) {
        (0, _) => format!("clean in {}", hunt.runs),
        (broken, Some(_)) => format!("broken in {broken} of {}, as told", hunt.runs),
        (broken, None) => format!("BROKEN in {broken} of {}", hunt.runs),
    }
}
