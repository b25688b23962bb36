//! What `sim` writes besides its report: the trace, the log for ShiViz, the diagram, the lineage of groups. All are of one
//! run.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bellwether_proto::trace::TraceEvent;
use bellwether_sim::diagram::{self, Options};
use bellwether_sim::lineage::{self, Lineage};
use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::shiviz::{self, Shiviz};

use crate::args::sim::SimArgs;

/// The options that name a file to write, and what each writes.
fn asked(args: &SimArgs) -> [(&'static str, &'static str, &'static str, Option<&Path>); 4] {
    [
        ("--trace", "records", "trace", args.trace.as_deref()),
        ("--shiviz", "records", "log", args.shiviz.as_deref()),
        ("--diagram", "draws", "diagram", args.diagram.as_deref()),
        ("--history", "draws", "history", args.history.as_deref()),
    ]
}

/// Checks the options, as far as that is possible before scenarios are read.
pub(super) fn possible(args: &SimArgs) -> Result<(), String> {
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    for (option, does, _, path) in asked(args) {
        let Some(path) = path else { continue };
        let [file] = &args.files[..] else {
            return Err(format!(
                "{option} {does} one scenario, found {} files, expected a single FILE",
                args.files.len()
            ));
        };
        if path.as_os_str() == "-" {
            return Err(format!("{option} needs a file, found -"));
        }
        let place = place(path);
        if place == self::place(file) {
            return Err(format!(
                "{option} would overwrite the scenario {}, expected another file",
                file.display()
            ));
        }
        if let Some((_, other)) = taken.iter().find(|(other, _)| *other == place) {
            return Err(format!(
                "{option} and {other} both name {}, expected a file for each",
                path.display()
            ));
        }
        taken.push((place, option));
    }
    Ok(())
}

/// The path with links and dots resolved as far as possible, so that two names of one file are noticed.
fn place(path: &Path) -> PathBuf {
    let resolved = path.canonicalize().or_else(|_| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        parent.canonicalize().map(|parent| path.file_name().map_or(parent.clone(), |name| parent.join(name)))
    });
    resolved.unwrap_or_else(|_| path.to_owned())
}

/// Whether the scenario can be drawn, if it is to be.
pub(super) fn fits(args: &SimArgs, scenario: &Scenario) -> Result<(), String> {
    let (most, found) = (diagram::NODES_MAX, scenario.nodes);
    if args.diagram.is_some() && found > most {
        return Err(format!("--diagram has room for {most} nodes, found {found}"));
    }
    if let Some(path) = &args.history {
        drawing(path)?;
        let Scenario { protocol, variant, .. } = scenario;
        if !lineage::is_kept(*protocol, *variant) {
            let (name, variant) = (protocol.name(), variant.name());
            return Err(format!("--history draws the lineage of groups, and {name} ({variant}) keeps none"));
        }
    }
    Ok(())
}

/// The form in which the lineage is written to a file of that name.
#[derive(Clone, Copy, Debug)]
enum Drawing {
    Svg,
    Dot,
}

fn drawing(path: &Path) -> Result<Drawing, String> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Drawing::Svg),
        Some("dot") => Ok(Drawing::Dot),
        _ => Err(format!("--history needs a file that ends in .svg or .dot, found {}", path.display())),
    }
}

/// Files that are open, and empty.
#[derive(Debug)]
pub(super) struct Outputs {
    trace: Option<Output>,
    shiviz: Option<Output>,
    diagram: Option<Output>,
    history: Option<Output>,
    /// The command that runs the scenario again, for the diagram.
    replay: String,
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: BufWriter<File>,
    what: &'static str,
    /// The first error, if there was one. Nothing is written after it.
    written: io::Result<()>,
}

impl Outputs {
    /// Opens the files. Their old content is lost only when all of them can be written.
    pub(super) fn open(args: &SimArgs, replay: String) -> Result<Self, String> {
        let [trace, shiviz, diagram, history] =
            asked(args).map(|(_, _, what, path)| path.map(|path| Output::open(path, what)).transpose());
        let mut outputs =
            Self { trace: trace?, shiviz: shiviz?, diagram: diagram?, history: history?, replay };
        for output in outputs.all() {
            output.empty()?;
        }
        Ok(outputs)
    }

    /// Plays the scenario once, and writes everything about it.
    pub(super) fn run(mut self, scenario: &Scenario) -> Result<Report, String> {
        if self.all().next().is_none() {
            return Ok(run::run(scenario));
        }
        let Self { trace, shiviz, diagram, history, .. } = &mut self;
        let mut events: Option<Vec<TraceEvent>> = diagram.as_ref().map(|_| Vec::new());
        let mut lineage: Option<Lineage> = history.as_ref().map(|_| Lineage::default());
        let mut log = Shiviz::default();
        if let Some(output) = shiviz {
            output.write(shiviz::HEADER);
        }
        let listener = |event: &TraceEvent| {
            if let Some(output) = trace {
                output.write(format_args!("{}\n", event.json()));
            }
            if let Some(output) = shiviz
                && let Some(lines) = log.lines(event)
            {
                output.write(lines);
            }
            if let Some(events) = &mut events {
                events.push(*event);
            }
            if let Some(lineage) = &mut lineage {
                lineage.observe(event);
            }
        };
        let report = run::run_with(scenario, Box::new(listener));
        if let (Some(output), Some(events)) = (&mut self.diagram, events) {
            let options = Options { replay: Some(self.replay.clone()), ..Options::default() };
            output.write(diagram::draw_run(scenario, &events, &options));
        }
        if let (Some(output), Some(lineage)) = (&mut self.history, lineage) {
            output.write(match drawing(&output.path)? {
                Drawing::Dot => lineage::dot(&lineage),
                Drawing::Svg => {
                    let Scenario { name, protocol, variant, nodes, seed, .. } = scenario;
                    let (protocol, variant) = (protocol.name(), variant.name());
                    let about =
                        format!("lineage of groups · {protocol} {variant} · {nodes} nodes · seed {seed}");
                    lineage::svg(&lineage, name, &about)
                }
            });
        }
        for output in self.all() {
            output.finish()?;
        }
        Ok(report)
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Output> {
        [&mut self.trace, &mut self.shiviz, &mut self.diagram, &mut self.history].into_iter().flatten()
    }
}

impl Output {
    fn open(path: &Path, what: &'static str) -> Result<Self, String> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), what, written: Ok(()) })
    }

    /// Something that is not a file, such as a pipe, has no old content.
    fn empty(&self) -> Result<(), String> {
        let file = self.file.get_ref();
        let emptied =
            file.metadata().and_then(|about| if about.is_file() { file.set_len(0) } else { Ok(()) });
        emptied.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }

    fn write(&mut self, text: impl std::fmt::Display) {
        if self.written.is_ok() {
            self.written = write!(self.file, "{text}");
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let written = std::mem::replace(&mut self.written, Ok(())).and_then(|()| self.file.flush());
        let Self { path, what, .. } = self;
        written.map_err(|error| format!("cannot write {}: {error}; the {what} is incomplete", path.display()))
    }
}
