//! `bellwether check PROTOCOL | --all --exhaustive`: looks at every state within bounds.
//!
//! | file | |
//! |---|---|
//! | `request.rs` | turns the arguments into searches, or reports what is wrong with them |
//! | `print.rs` | progress, and the result |

mod print;
mod request;

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bellwether_proto::time::Time;
use bellwether_sim::diagram::{self, Mark, Subject};
use bellwether_sim::explore::{Counterexample, Extent, Flow, Outcome, Progress, Story, explore, story};

use super::picture::Picture;
use super::search::folder;
use crate::Status;
use crate::args::check::CheckArgs;
use crate::layout::hanging;
use crate::output::Printer;
use crate::signals::stop_when_asked;
use crate::trouble::Trouble;
use request::Request;

/// How often the progress is drawn.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn run(args: &CheckArgs, out: &Printer) -> Status {
    search_all(args, out).unwrap_or_else(|trouble| trouble.told(out))
}

/// A search that is over.
struct Searched {
    request: Request,
    outcome: Outcome,
    took: Duration,
    found: Vec<Found>,
}

impl Searched {
    fn status(&self) -> Status {
        match self.outcome.extent {
            _ if !self.found.is_empty() => Status::No,
            Extent::UpToViolation => Status::No,
            Extent::Stopped => Status::Interrupted,
            // It was asked for all of it.
            Extent::StatesMax => Status::Failed,
            Extent::All if self.outcome.undecided > 0 => Status::Failed,
            Extent::All => Status::Done,
        }
    }
}

/// A counterexample, and the files in which it is kept.
struct Found {
    counterexample: Counterexample,
    story: Story,
    files: Vec<PathBuf>,
}

fn search_all(args: &CheckArgs, out: &Printer) -> Result<Status, Trouble> {
    let (requests, left_out) = request::requests(args).map_err(Trouble::wrong)?;
    let folder = args.search.out.as_deref().map(folder).transpose()?;
    let mut picture = args.search.diagram.as_deref().map(Picture::reserve).transpose()?;
    let stop = stop_when_asked().map_err(Trouble::failed)?;
    let mut status = Status::Done;
    for (nth, request) in requests.into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(if status == Status::No { status } else { Status::Interrupted });
        }
        let mut searched = search(request, folder.as_deref(), &stop, out)?;
        if let Some(first) = searched.found.first_mut()
            && let Some(picture) = picture.take()
        {
            first.files.push(picture.draw(&first.picture(&searched.request))?);
        }
        if args.json {
            out.line(print::json(&searched));
        } else {
            if nth > 0 {
                out.line("");
            }
            print::text(&searched, out);
        }
        status = match (status, searched.status()) {
            (Status::No, _) | (_, Status::Done) => status,
            (_, worse) => worse,
        };
    }
    if !args.json {
        for why in left_out {
            out.line("");
            out.line(hanging("not searched: ", &why));
        }
    }
    Ok(status)
}

fn search(
    request: Request,
    folder: Option<&Path>,
    stop: &AtomicBool,
    out: &Printer,
) -> Result<Searched, Trouble> {
    let system = request.system();
    let began = Instant::now();
    let (shown, mut drawn) = (io::stderr().is_terminal(), began);
    let watch = |progress: Progress| {
        if shown && drawn.elapsed() >= TICK {
            drawn = Instant::now();
            out.progress(print::progress(&request, progress, began.elapsed()));
        }
        if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::GoOn }
    };
    let outcome = explore(&system, &request.judged, request.limits, watch);
    let took = began.elapsed();
    out.progress_done();
    let mut found = Vec::new();
    for counterexample in outcome.violations.clone() {
        let story = story(&system, &counterexample.steps);
        let mut one = Found { counterexample, story, files: Vec::new() };
        if let Some(folder) = folder {
            one.files = keep(&request, &one, folder)?;
        }
        found.push(one);
    }
    Ok(Searched { request, outcome, took, found })
}

impl Found {
    /// The path as a diagram. Its time is made up, a millisecond for each step, except for agents; the violation is at its end.
    fn picture(&self, request: &Request) -> String {
        let Request { nodes, bounds, .. } = request;
        let ended = self.story.trace.last().map_or(Time::ZERO, |event| event.at);
        let property = self.counterexample.broken.name().to_owned();
        let time = if request.agents.is_some() { "" } else { " · a millisecond for each step" };
        let subject = Subject {
            name: format!("{}: {property} is broken", request.name()),
            about: format!("{nodes} nodes · every state with {bounds}{time}"),
            replay: None,
            nodes: *nodes,
            ended,
        };
        let text = self.counterexample.what.clone();
        let mark = Mark { at: ended, property, nodes: Vec::new(), text };
        diagram::draw_trace(&subject, &self.story.trace, &[mark], None)
    }
}

/// The steps and a picture for people, and the trace for tools.
fn keep(request: &Request, found: &Found, folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let property = found.counterexample.broken.name().replace('\'', "-prime");
    let name = format!("{}-{property}", request.name().replace(' ', "-"));
    let trace: String = found.story.trace.iter().map(|event| format!("{}\n", event.json())).collect();
    let steps = format!("{}\n", print::steps(found).join("\n"));
    let picture = found.picture(request);
    let files = [("txt", steps), ("jsonl", trace), ("svg", picture)];
    files
        .into_iter()
        .map(|(kind, content)| {
            let path = folder.join(format!("{name}.{kind}"));
            fs::write(&path, content)
                .map_err(|error| Trouble::failed(format!("cannot write {}: {error}", path.display())))?;
            Ok(path)
        })
        .collect()
}
