//! `docs/flaws.md`: which flaws were found, which cannot be, and the effort.

use bellwether_proto::election::Variant;
use bellwether_sim::flaw::{Evidence, Flaw, Hunt};
use bellwether_sim::shrink::Broken;

use super::files::{picture_of, scenario_of};
use super::hunt::{Hunted, Repair, Shown};
use crate::layout::{Column, markdown};
use crate::words::plural;
use crate::work::cores;

/// A row of the table: a flaw that was hunted, and the result.
pub(super) type Row<'a> = (&'a Flaw, &'a Hunt, Hunted);

/// The whole document.
pub(super) fn whole(flaws: &[Flaw], rows: &[Row<'_>]) -> String {
    format!("{}{}", lasting(flaws, rows), times(rows))
}

/// All but what depends on the machine.
pub(super) fn lasting(flaws: &[Flaw], rows: &[Row<'_>]) -> String {
    format!(
        "# Flaws that the machine finds\n\n\
         Made by `bellwether flaws --out docs`; `bellwether flaws --verify docs` says whether it still holds. Each file in \
         `flaws/` says\nwhere to search for a known flaw of a paper ([divergence.md](concepts/divergence.md) explains each \
         of them). The search draws\nseeded plans of faults within the limits of that file and plays them with the algorithm \
         as printed, until one shows the flaw.\nThe plan is shrunk to the shortest scenario that still shows it. Then the \
         same plans are played with the repaired algorithm.\n\n\
         - **plan**: the seed of the plan that shows it, and how many plans were played until then.\n\
         - **events**: how many the scenario file has, before and after shrinking. **nodes** and **steps** (messages sent \
         and received,\n  deadlines, changes of state) are those of the shrunk run.\n\
         - **repaired**: in how many plans of the same search the repaired algorithm breaks nothing that it promises. \
         **judged**, in the\n  table at the end, says in how many of them it could have broken what the printed one breaks. \
         It must not be 0.\n\n\
         {}\n\n{}## What no search shows\n\n{}\n",
        found(rows),
        unrepaired(rows),
        reasons(flaws)
    )
}

/// The words of a text that spans lines.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn found(rows: &[Row<'_>]) -> String {
    use Column::{Number, Text};
    let columns = [
        Text("erratum"),
        Text("what is wrong"),
        Text("algorithm"),
        Text("broken"),
        Text("plan"),
        Text("events"),
        Number("nodes"),
        Number("steps"),
        Text("to look at"),
        Text("repaired"),
    ];
    markdown(&columns, rows.iter().map(row).collect())
}

fn row((flaw, hunt, hunted): &Row<'_>) -> Vec<String> {
    let first = [flaw.erratum.clone(), flaw.title.clone(), hunt.protocol.name().to_owned(), broken(hunt)];
    let rest = match hunted {
        Hunted::Missed(runs) => {
            let none = || "–".to_owned();
            [format!("not found in {runs}"), none(), none(), none(), none(), none()]
        }
        Hunted::Found(shown) => [
            format!("{}, in {}", shown.seed, counted(shown.runs, "run")),
            format!("{} → {}", drawn_events(hunt, shown), shown.shrunk.scenario.events.len()),
            shown.shrunk.scenario.nodes.to_string(),
            shown.steps.to_string(),
            links(flaw),
            repaired(hunt, shown),
        ],
    };
    first.into_iter().chain(rest).collect()
}

fn broken(hunt: &Hunt) -> String {
    let what = match &hunt.goal.broken {
        Broken::Property(property) => property.name().to_owned(),
        Broken::Cost(kind, bound) => format!("cost: {kind} {} {}", bound.relation.symbol(), bound.value),
    };
    match &hunt.goal.waived[..] {
        [] => what,
        waived => {
            let names: Vec<_> = waived.iter().map(|assumption| assumption.name()).collect();
            format!("{what} (without: {})", names.join(", "))
        }
    }
}

fn drawn_events(hunt: &Hunt, shown: &Shown) -> usize {
    hunt.draw(Variant::Printed, shown.seed).events.len()
}

fn links(flaw: &Flaw) -> String {
    format!("[picture]({}), [scenario]({})", picture_of(flaw), scenario_of(flaw))
}

fn repaired(hunt: &Hunt, shown: &Shown) -> String {
    let runs = counted(hunt.runs, "run");
    match (shown.repair(hunt), &hunt.unrepaired) {
        (Some(Repair::Unrepaired(_)), _) | (None, Some(_)) => "see below".to_owned(),
        (Some(Repair::Clean(_)), _) | (None, None) => format!("clean in {runs}"),
        (Some(Repair::Broken(broken)), _) => format!("**broken in {broken}** of {runs}"),
        (Some(Repair::Untried), _) => format!("**judged in none** of {runs}"),
        (Some(Repair::Stale), _) => format!("**clean in {runs}**, against what its file says"),
    }
}

/// Why the repaired algorithm breaks it too.
fn unrepaired(rows: &[Row<'_>]) -> String {
    let why = |(flaw, hunt, _): &Row<'_>| {
        hunt.unrepaired.as_ref().map(|why| format!("- {}: {}\n", flaw.erratum, one_line(why)))
    };
    let all: String = rows.iter().filter_map(why).collect();
    if all.is_empty() { all } else { format!("Where the repaired algorithm breaks it too:\n\n{all}\n") }
}

fn reasons(flaws: &[Flaw]) -> String {
    let reason = |flaw: &Flaw| {
        let Evidence::Reason { why, scenario } = &flaw.evidence else { return None };
        let scenario = scenario.as_ref().map_or_else(String::new, |path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            format!(" [{name}](../{path})")
        });
        Some(vec![flaw.erratum.clone(), flaw.title.clone(), format!("{}{scenario}", one_line(why))])
    };
    let columns =
        [Column::Text("erratum"), Column::Text("what is wrong"), Column::Text("why no search shows it")];
    markdown(&columns, flaws.iter().filter_map(reason).collect())
}

fn times(rows: &[Row<'_>]) -> String {
    use Column::{Number, Text};
    let columns = [
        Text("erratum"),
        Number("find, s"),
        Number("shrink, s"),
        Number("candidates"),
        Number("repaired, s"),
        Number("judged"),
    ];
    let row = |(flaw, _, hunted): &Row<'_>| {
        let Hunted::Found(shown) = hunted else { return None };
        let seconds = |time: std::time::Duration| format!("{:.2}", time.as_secs_f64());
        Some(vec![
            flaw.erratum.clone(),
            seconds(shown.times.find),
            seconds(shown.times.shrink),
            shown.shrunk.runs.to_string(),
            seconds(shown.times.repaired),
            shown.repaired.as_ref().map_or_else(String::new, |repaired| repaired.judged.to_string()),
        ])
    };
    format!(
        "\n## What it took\n\nMeasured on {}. **candidates**: scenarios that were played while\nshrinking. **judged**: \
         plans in which the repaired algorithm could have broken what the printed one breaks.\n\n{}\n",
        machine(),
        markdown(&columns, rows.iter().filter_map(row).collect())
    )
}

fn machine() -> String {
    let cores = cores();
    let kind = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let built = if cfg!(debug_assertions) { ", a build for development" } else { "" };
    format!("{} of a {kind} machine{built}", counted(cores as u64, "core"))
}

fn counted(count: u64, what: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", plural(count, what))
}
