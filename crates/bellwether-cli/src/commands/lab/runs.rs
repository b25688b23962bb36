//! Runs: playing, keeping and describing them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Time;
use bellwether_sim::diagram::{self, Film, Mark};
use bellwether_sim::environment::{judged, left_out};
use bellwether_sim::recorded;
use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::trace_file::{TraceError, TraceFile};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Refusal;

/// More lanes than this nobody can follow.
const NODES_MAX: u32 = 64;
/// A run that is longer is not kept in memory, and not drawn.
const EVENTS_MAX: usize = 500_000;
/// Steps of a world in which nothing is recorded count, too.
const STEPS_MAX: u64 = 20_000_000;
/// All runs that are kept have no more events than this together; the oldest give way.
const KEPT_EVENTS_MAX: usize = 2_000_000;
/// Nor are there more of them.
const KEPT_MAX: usize = 64;

/// A run that can be looked at.
pub(super) struct Run {
    pub(super) id: u64,
    pub(super) film: Film,
    /// What was played; nothing, of a recorded run.
    pub(super) scenario: Option<Scenario>,
    about: Value,
}

/// Those that were played last.
#[derive(Default)]
pub(super) struct Runs(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    last: u64,
    runs: VecDeque<Arc<Run>>,
}

/// A run that has not been given a number.
pub(super) struct Played {
    film: Film,
    scenario: Option<Scenario>,
    about: Value,
}

impl Runs {
    /// Keeps a run, and says all about it that is not in its film.
    pub(super) fn keep(&self, played: Played) -> Value {
        let mut kept = self.kept();
        kept.last += 1;
        let Played { film, scenario, mut about } = played;
        about["id"] = kept.last.into();
        let run = Run { id: kept.last, film, scenario, about: about.clone() };
        kept.runs.push_back(Arc::new(run));
        while kept.runs.len() > 1 && (kept.runs.len() > KEPT_MAX || kept.events() > KEPT_EVENTS_MAX) {
            kept.runs.pop_front();
        }
        about
    }

    pub(super) fn get(&self, id: u64) -> Result<Arc<Run>, Refusal> {
        let found = self.kept().runs.iter().find(|run| run.id == id).cloned();
        found.ok_or_else(|| Refusal::not_found(format!("run {id} is not kept any more: play it again")))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn events(&self) -> usize {
        self.runs.iter().map(|run| run.film.frames.len()).sum()
    }
}

/// Plays a scenario. What is too long or too large is refused.
pub(super) fn play(name: &str, text: &str) -> Result<Played, Refusal> {
    let scenario = Scenario::parse(name, text)?;
    if scenario.nodes > NODES_MAX {
        let found = scenario.nodes;
        return Err(Refusal::wrong(format!(
            "`nodes` is {found}, expected at most {NODES_MAX} here; `bellwether sim` runs larger clusters"
        )));
    }
    let (mut events, mut steps) = (Vec::new(), 0);
    let count = std::cell::Cell::new(0);
    let listener = |event: &_| {
        events.push(*event);
        count.set(count.get() + 1);
    };
    let report = run::run_while(&scenario, Box::new(listener), || {
        steps += 1;
        count.get() <= EVENTS_MAX && steps <= STEPS_MAX
    });
    let report = report.map_err(|at: Time| {
        Refusal::wrong(format!(
            "more than {EVENTS_MAX} things happen by {at}, expected fewer: make `until` shorter, or `tau` longer"
        ))
    })?;
    let film = Film::of(scenario.nodes, scenario.until, &events);
    let about = about(name, text, &scenario, &report, &diagram::marks(&scenario, &events));
    Ok(Played { film, scenario: Some(scenario), about })
}

fn about(name: &str, text: &str, scenario: &Scenario, report: &Report, marks: &[Mark]) -> Value {
    let spec = scenario.protocol.spec();
    let promises = judged(scenario).into_iter().map(|property| {
        let judged = report.properties.iter().find(|judged| judged.property == property);
        let mark = marks.iter().find(|mark| mark.property == property.name());
        promise(property, judged.map(|judged| judged.holds), mark.map(|mark| (mark.at, mark.text.as_str())))
    });
    let left_out = left_out(scenario).into_iter().map(|(property, missing)| not_judged(property, &missing));
    json!({
        "file": name,
        "text": text,
        "name": scenario.name,
        "protocol": spec.name,
        "document": spec.document,
        "variant": scenario.variant.name(),
        "cost": spec.messages,
        "nodes": (1..=scenario.nodes).collect::<Vec<_>>(),
        "seed": scenario.seed.to_string(),
        "ended_us": scenario.until.as_micros(),
        "promises": promises.collect::<Vec<_>>(),
        "not_judged": left_out.collect::<Vec<_>>(),
        "expectations": report.expectations,
        "passed": report.passed(scenario),
        "messages": report.messages,
    })
}

fn promise(property: Property, holds: Option<bool>, broken: Option<(Time, &str)>) -> Value {
    json!({
        "name": property.name(),
        "origin": property.origin(),
        "promise": property.promise(),
        "judged": property.judged(),
        // Null if there was nothing to judge.
        "holds": holds,
        "broken": broken.map(|(at, what)| json!({ "at_us": at.as_micros(), "what": what })),
    })
}

fn not_judged(property: Property, why: &str) -> Value {
    json!({ "name": property.name(), "promise": property.promise(), "why": why })
}

impl Run {
    /// How each node is at the end of that instant, as it sees itself.
    pub(super) fn look(&self, at: Time) -> Result<Value, Refusal> {
        let Some(scenario) = &self.scenario else {
            return Err(Refusal::not_found("nobody saw into the nodes of a recorded run"));
        };
        let mut world = run::world_unjudged(scenario, None);
        world.run_until(at.min(scenario.until));
        let nodes = scenario.ids().map(|id| {
            json!({
                "node": id.0,
                "wakes_us": world.wakes_at(id).map(Time::as_micros),
                "inside": world.node(id).map(|node| format!("{:#?}", node.election())),
            })
        });
        Ok(nodes.collect())
    }

    /// The text that was played.
    pub(super) fn text(&self) -> &str {
        self.about["text"].as_str().unwrap_or_default()
    }
}

/// What was recorded at one or several nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Traces {
    files: Vec<Trace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    name: String,
    text: String,
}

impl Traces {
    /// Judges what was recorded.
    pub(super) fn judge(&self) -> Result<Played, Refusal> {
        let read = |trace: &Trace| {
            TraceFile::read(trace.text.as_bytes()).map_err(|error| match error {
                TraceError::Line { line, problem } => {
                    Refusal::wrong(format!("{}:{line}: {problem}", trace.name))
                }
                TraceError::Io(error) => Refusal::wrong(format!("{}: {error}", trace.name)),
            })
        };
        let traces = self.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let events = traces.iter().map(|trace| trace.events.len()).sum::<usize>();
        if events > EVENTS_MAX {
            let found = format!("the traces have {events} events, expected at most {EVENTS_MAX}");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, found));
        }
        let setup = recorded::common_setup(&traces).map_err(Refusal::wrong)?;
        let setup = setup.ok_or_else(|| {
            Refusal::wrong("the traces do not state how the nodes were set up, expected those of agents")
        })?;
        let recorded = recorded::judge(&traces, None, &setup).map_err(Refusal::wrong)?;
        let nodes = u32::try_from(recorded.nodes).unwrap_or(u32::MAX);
        if nodes > NODES_MAX {
            let found = format!("there are {nodes} nodes in the traces, expected at most {NODES_MAX}");
            return Err(Refusal::wrong(found));
        }
        let film = Film::of(nodes, recorded.ended, &recorded.trace);
        let promises = recorded.findings.iter().map(|(finding, _)| {
            let broken = finding.violation.as_ref().map(|broken| (broken.at, broken.what.as_str()));
            promise(finding.property, Some(broken.is_none()), broken)
        });
        let names: Vec<_> = self.files.iter().map(|file| file.name.as_str()).collect();
        let not_judged = recorded.not_judged.iter().map(|(property, why)| not_judged(*property, why));
        let spec = recorded.protocol.spec();
        let about = json!({
            "file": names.join(", "),
            "name": format!("recorded: {}", setup.cluster),
            "protocol": spec.name,
            "document": spec.document,
            "variant": recorded.variant.name(),
            "cost": spec.messages,
            "nodes": recorded.ids.iter().map(|id| id.0).collect::<Vec<_>>(),
            "ended_us": recorded.ended.as_micros(),
            "promises": promises.collect::<Vec<_>>(),
            "not_judged": not_judged.collect::<Vec<_>>(),
            "expectations": [],
            "passed": recorded.findings.iter().all(|(finding, _)| finding.violation.is_none()),
        });
        Ok(Played { film, scenario: None, about })
    }
}
