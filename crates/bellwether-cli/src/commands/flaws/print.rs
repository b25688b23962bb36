//! What is shown to people and programs.

use std::path::Path;

use bellwether_sim::flaw::{Evidence, Flaw, Hunt};
use serde_json::json;

use super::document::Row;
use super::hunt::{Hunted, Repair};
use crate::args::flaws::FlawsArgs;
use crate::layout::{Column, hanging, table};
use crate::output::{Printer, invocation};

/// A line for each flaw, and what each is about.
pub(super) fn text(rows: &[Row<'_>], flaws: &[Flaw], out: &Printer) {
    use Column::{Number, Whole};
    let columns = [
        Whole("erratum"),
        Whole("algorithm"),
        Whole("broken"),
        Number("plan"),
        Number("seconds"),
        Number("nodes"),
        Number("events"),
        Whole("repaired"),
    ];
    let row = |(flaw, hunt, hunted): &Row<'_>| {
        let first = [flaw.erratum.clone(), hunt.protocol.name().to_owned(), hunt.goal.broken.words()];
        let rest = match hunted {
            Hunted::Missed(_) => [dash(), dash(), dash(), dash(), "NOT FOUND".to_owned()],
            Hunted::Found(shown) => [
                shown.seed.to_string(),
                format!("{:.2}", shown.times.find.as_secs_f64()),
                shown.shrunk.scenario.nodes.to_string(),
                shown.shrunk.scenario.events.len().to_string(),
                shown.repair(hunt).map_or_else(dash, in_short),
            ],
        };
        first.into_iter().chain(rest).collect()
    };
    if !rows.is_empty() {
        out.line(table(&columns, rows.iter().map(row).collect()));
        out.line("");
    }
    for (flaw, ..) in rows {
        out.line(hanging(&format!("{:<9}", flaw.erratum), &flaw.title));
    }
    for (flaw, hunt, hunted) in rows.iter().filter(|(_, hunt, hunted)| !hunted.is_as_told(hunt)) {
        out.line("");
        out.line(hanging(&format!("{}: ", flaw.erratum), &not_as_told(hunt, hunted)));
    }
    let reasons = flaws.iter().filter(|flaw| matches!(flaw.evidence, Evidence::Reason { .. }));
    let silent: Vec<_> = reasons.map(|flaw| flaw.erratum.as_str()).collect();
    if !silent.is_empty() {
        out.line(format_args!(
            "\n{}",
            hanging("No search shows ", &format!("{}: their files say why.", silent.join(", ")))
        ));
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

/// Tells how to go on after an interruption.
pub(super) fn interrupted(left: &[&Flaw], args: &FlawsArgs, out: &Printer) {
    let mut command = format!("{} flaws", invocation());
    for flaw in left {
        command.push_str(&format!(" {}", flaw.erratum));
    }
    let dir = (args.dir != Path::new("flaws")).then_some(("--dir", &args.dir));
    let folders =
        [dir, args.out.as_ref().map(|out| ("--out", out)), args.verify.as_ref().map(|dir| ("--verify", dir))];
    for (option, path) in folders.into_iter().flatten() {
        command.push_str(&format!(" {option} {}", path.display()));
    }
    if args.json {
        out.error(format_args!("interrupted; to go on: {command}"));
        return;
    }
    out.line("");
    if let Some(dir) = &args.out {
        let written = format!(
            "{} has what was found; a run of all flaws writes the table.",
            dir.join("flaws").display()
        );
        out.line(hanging("Written: ", &written));
    }
    // In one line, however long: it is to be copied.
    out.line(format_args!("Interrupted. To go on:\n  {command}"));
}

/// How the search of the repaired algorithm went. The number is that of plans in which there was something to judge.
fn in_short(repair: Repair) -> String {
    match repair {
        Repair::Clean(judged) => format!("clean in {judged}"),
        Repair::Unrepaired(broken) => format!("broken in {broken}"),
        Repair::Broken(broken) => format!("BROKEN in {broken}"),
        Repair::Untried => "NEVER JUDGED".to_owned(),
        Repair::Stale => "UNTRUE MARK".to_owned(),
    }
}

/// What is not as the file of the flaw says.
fn not_as_told(hunt: &Hunt, hunted: &Hunted) -> String {
    let runs = hunt.runs;
    match hunted {
        Hunted::Missed(runs) => format!("none of {runs} plans shows it"),
        Hunted::Found(shown) => match shown.repair(hunt) {
            Some(Repair::Broken(broken)) => {
                format!("the repaired algorithm breaks something too, in {broken} of {runs} plans")
            }
            Some(Repair::Untried) => format!(
                "in none of {runs} plans had the repaired algorithm occasion to break it: that nothing is broken says \
                 nothing"
            ),
            Some(Repair::Stale) => format!(
                "`unrepaired` says that the repaired algorithm breaks it too, but it breaks nothing in {runs} plans"
            ),
            Some(Repair::Clean(_) | Repair::Unrepaired(_)) | None => String::new(),
        },
    }
}

fn dash() -> String {
    "-".to_owned()
}
