//! A scenario in which one thing more happens. Until then its run is the same: the seed is, and nothing is drawn for what happens.

use bellwether_proto::election::Variant;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::diagram::{Fate, Film, Trip};
use bellwether_sim::scenario::{Fault, Mishap, Planned, Scenario};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::runs::Run;

/// What is to happen. What befalls a node or a link does so right after the instant of that event.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Break {
    Crash { node: u32, frame: usize },
    Recover { node: u32, frame: usize },
    Pause { node: u32, frame: usize },
    Resume { node: u32, frame: usize },
    Cut { from: u32, to: u32, frame: usize },
    CutOneWay { from: u32, to: u32, frame: usize },
    Mend { from: u32, to: u32, frame: usize },
    Heal { frame: usize },
    Drop { trip: usize },
    Delay { trip: usize, by_us: u64 },
    Duplicate { trip: usize },
}

/// The scenario of a run with that in it, and what happens in words.
pub(super) fn branch(run: &Run, what: Break) -> Result<Value, Refusal> {
    let Some(scenario) = &run.scenario else {
        return Err(Refusal::wrong("a recorded run cannot be played again, so nothing can be broken in it"));
    };
    let (planned, words) = plan(&run.film, what)?;
    let words = format!("{words} at {}", planned.at.since(Time::ZERO));
    let added = format!(
        "{}\n\n# Broken here: {words}.\n{}",
        run.text().trim_end(),
        planned.to_toml().trim_start_matches('\n')
    );
    let text = match Scenario::parse("branch", &added) {
        Ok(_) => added,
        // Events that are a list cannot be added to: then it is written anew, without its comments.
        Err(_) => {
            let mut scenario = scenario.clone();
            scenario.events.push(planned);
            let text = scenario.to_toml();
            Scenario::parse("branch", &text)?;
            text
        }
    };
    Ok(json!({ "text": text, "words": words }))
}

/// The same scenario as the other variant has it.
pub(super) fn with_variant(text: &str, variant: Variant) -> Result<Value, Refusal> {
    let scenario = Scenario::parse("scenario", text)?;
    let line = format!("variant = \"{}\"", variant.name());
    let begins = |line: &str, key: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let has_one = text.lines().any(|line| begins(line, "variant"));
    let lines = text.lines().flat_map(|old| match has_one {
        true if begins(old, "variant") => vec![line.as_str()],
        false if begins(old, "protocol") => vec![old, line.as_str()],
        _ => vec![old],
    });
    let changed = lines.collect::<Vec<_>>().join("\n") + "\n";
    let wanted = Scenario { variant, ..scenario };
    let is_wanted = Scenario::parse("scenario", &changed).is_ok_and(|changed| changed.variant == variant);
    Ok(json!({ "text": if is_wanted { changed } else { wanted.to_toml() } }))
}

fn plan(film: &Film, what: Break) -> Result<(Planned, String), Refusal> {
    let node = |node: u32| NodeId(node);
    let pair = |from: u32, to: u32| vec![(NodeId(from), NodeId(to))];
    let (at, fault, words) = match what {
        Break::Crash { node: id, frame } => {
            (after(film, frame)?, Fault::Crash(vec![node(id)]), format!("node {id} crashes"))
        }
        Break::Recover { node: id, frame } => {
            (after(film, frame)?, Fault::Recover(vec![node(id)]), format!("node {id} recovers"))
        }
        Break::Pause { node: id, frame } => {
            (after(film, frame)?, Fault::Pause(vec![node(id)]), format!("node {id} is paused"))
        }
        Break::Resume { node: id, frame } => {
            (after(film, frame)?, Fault::Resume(vec![node(id)]), format!("node {id} goes on"))
        }
        Break::Cut { from, to, frame } => {
            (after(film, frame)?, Fault::Cut(pair(from, to)), format!("the link {from}–{to} is cut"))
        }
        Break::CutOneWay { from, to, frame } => {
            (after(film, frame)?, Fault::CutOneWay(pair(from, to)), format!("the link {from}→{to} is cut"))
        }
        Break::Mend { from, to, frame } => {
            (after(film, frame)?, Fault::Mend(pair(from, to)), format!("the link {from}–{to} is mended"))
        }
        Break::Heal { frame } => (after(film, frame)?, Fault::Heal, "the network heals".to_owned()),
        Break::Drop { trip } => message(film, trip, Mishap::Drop)?,
        Break::Delay { trip, by_us } if by_us > 0 => message(film, trip, Mishap::Delay(Span::micros(by_us)))?,
        Break::Delay { .. } => return Err(Refusal::wrong("a delay of zero, expected a longer time")),
        Break::Duplicate { trip } => message(film, trip, Mishap::Duplicate)?,
    };
    Ok((Planned { at, fault }, words))
}

/// Right after the instant of that event.
fn after(film: &Film, frame: usize) -> Result<Time, Refusal> {
    let frame = film.frames.get(frame).ok_or_else(|| Refusal::wrong("there is no such event in the run"))?;
    Ok(frame.at + Span::micros(1))
}

/// From the instant on at which the message is sent, it is the nth of its kind.
fn message(film: &Film, trip: usize, mishap: Mishap) -> Result<(Time, Fault, String), Refusal> {
    let no_such = || Refusal::wrong("there is no such message in the run");
    let wanted = film.trips.get(trip).ok_or_else(no_such)?;
    let Trip { from, to, kind, sent, .. } = *wanted;
    let ended = wanted.end.map(|end| film.frames[end].at);
    if matches!(wanted.fate, Fate::Lost(_)) && ended == Some(film.frames[sent].at) {
        return Err(Refusal::wrong("that message is lost already, expected one that is on its way"));
    }
    let at = film.frames[sent].at;
    let like = |other: &&Trip| (other.from, other.to, other.kind) == (from, to, kind);
    let mut before: Vec<_> = film.trips[..trip]
        .iter()
        .filter(like)
        .filter(|other| film.frames[other.sent].at == at && other.id != wanted.id)
        .map(|other| other.id)
        .collect();
    before.sort_unstable();
    before.dedup();
    let nth = before.len() as u64 + 1;
    let (from, to) = (NodeId(from), NodeId(to));
    let words = match mishap {
        Mishap::Drop => format!("{kind} from {from} to {to} is lost, sent"),
        Mishap::Delay(by) => format!("{kind} from {from} to {to} takes {by} longer, sent"),
        Mishap::Duplicate => format!("{kind} from {from} to {to} arrives twice, sent"),
    };
    let fault = match (mishap, nth) {
        (Mishap::Drop, 1) => Fault::DropNext { from, to, kind: kind.to_owned() },
        _ => Fault::Message { from, to, kind: kind.to_owned(), nth, mishap },
    };
    Ok((at, fault, words))
}
