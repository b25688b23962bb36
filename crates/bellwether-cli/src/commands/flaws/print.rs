//! The output for people and programs.

use std::path::Path;

use bellwether_sim::flaw::{Evidence, Flaw, Hunt};
use serde_json::json;

use super::document::{Row, one_line};
use super::hunt::{Hunted, Repair};
use crate::args::flaws::FlawsArgs;
use crate::layout::{Column, hanging, table};
use crate::output::{Printer, invocation};

/// A line for each flaw, and what each is about; why no search shows the others, if they were named.
pub(super) fn text(rows: &[Row<'_>], flaws: &[Flaw], named: bool, out: &Printer) {
    use Column::{Number, Text, Whole};
    let columns = [
        Whole("erratum"),
        Whole("algorithm"),
        Text("broken"),
        Number("plan"),
        Number("s"),
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
    for (flaw, hunt, hunted) in rows {
        out.line(hanging(&entry(&flaw.erratum), &flaw.title));
        if let Some(why) = unrepaired(hunt, hunted) {
            out.line(hanging(&entry(""), &why));
        }
    }
    for (flaw, hunt, hunted) in rows.iter().filter(|(_, hunt, hunted)| !hunted.is_as_told(hunt)) {
        out.line("");
        out.line(hanging(&format!("{}: ", flaw.erratum), &not_as_told(hunt, hunted)));
    }
    if rows.iter().any(|(.., hunted)| matches!(hunted, Hunted::Found(_))) {
        out.line("");
        LEGEND.iter().for_each(|(word, meaning)| out.line(hanging(&entry(word), meaning)));
    }
    let unsearched = unsearched(flaws, named);
    if !rows.is_empty() && !unsearched.is_empty() {
        out.line("");
    }
    unsearched.iter().for_each(|line| out.line(line));
}

/// What the columns mean.
const LEGEND: [(&str, &str); 4] = [
    ("broken", "what the algorithm breaks as printed"),
    ("plan", "the seed of the first plan of faults that shows it; s: how many seconds that took"),
    ("nodes", "and events: those of the shrunk scenario"),
    (
        "repaired",
        "the same plans with the repaired algorithm: clean in how many of those that could have broken it, \
         or broken in how many",
    ),
];

/// Flaws that no run can show. If they were asked for by name the reason is given, otherwise only their
/// names.
fn unsearched(flaws: &[Flaw], named: bool) -> Vec<String> {
    let reason = |flaw: &Flaw| match &flaw.evidence {
        Evidence::Reason { why, scenario } => {
            Some((flaw.erratum.clone(), explained(flaw, why, scenario.as_deref())))
        }
        Evidence::Run(_) => None,
    };
    let (names, reasons): (Vec<_>, Vec<_>) = flaws.iter().filter_map(reason).unzip();
    match named {
        true => reasons.concat(),
        false if names.is_empty() => Vec::new(),
        false => vec![hanging("No search shows ", &format!("{}. To learn why, name one.", names.join(", ")))],
    }
}

/// Why no search shows it, and the scenario that shows it instead, if there is one.
fn explained(flaw: &Flaw, why: &str, scenario: Option<&str>) -> Vec<String> {
    let why = format!("No search shows it: {}", one_line(why));
    let mut lines = vec![hanging(&entry(&flaw.erratum), &flaw.title), hanging(&entry(""), &why)];
    lines.extend(scenario.map(|file| format!("{}{} sim {file}", entry(""), invocation())));
    lines
}

fn entry(name: &str) -> String {
    format!("{name:<9}")
}

/// Why the repaired algorithm breaks it, too, if that is known.
fn unrepaired(hunt: &Hunt, hunted: &Hunted) -> Option<String> {
    let (Hunted::Found(shown), Some(why)) = (hunted, &hunt.unrepaired) else { return None };
    let repaired = shown.repaired.as_ref()?;
    let (broken, runs) = (repaired.broken.len(), repaired.runs);
    (broken > 0).then(|| format!("Not repaired, broken in {broken} of {runs} plans: {}", one_line(why)))
}

/// One flaw that no search shows, as one object.
pub(super) fn json_of_unsearched(flaw: &Flaw) -> Option<String> {
    let Evidence::Reason { why, scenario } = &flaw.evidence else { return None };
    let object = json!({
        "erratum": flaw.erratum, "title": flaw.title, "found": null, "why": one_line(why), "scenario": scenario,
    });
    Some(object.to_string())
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

/// How the result differs from the flaw's file.
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
