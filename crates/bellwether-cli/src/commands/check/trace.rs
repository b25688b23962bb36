//! `bellwether check --trace FILE…`: judges recorded traces.

mod print;

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::time::Instant;

use bellwether_sim::recorded::{self, Recorded};
use bellwether_sim::trace_file::{Setup, TraceError, TraceFile};

use crate::Status;
use crate::args::check::CheckArgs;
use crate::output::Printer;
use crate::trouble::Trouble;

pub(super) fn run(args: &CheckArgs, out: &Printer) -> Status {
    let began = Instant::now();
    match check(args) {
        Ok(checked) => {
            if args.json {
                out.line(print::json(args, &checked, began.elapsed()));
            } else {
                print::text(args, &checked, out);
            }
            let violated = checked.recorded.findings.iter().any(|(finding, _)| finding.violation.is_some());
            if violated { Status::No } else { Status::Done }
        }
        Err(trouble) => trouble.told(out),
    }
}

/// The result.
struct Checked {
    recorded: Recorded,
    /// The files that end in the middle of a line.
    torn: Vec<String>,
}

fn check(args: &CheckArgs) -> Result<Checked, Trouble> {
    let traces = args.trace.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let truth = args.truth.as_deref().map(read).transpose()?;
    let setup = setup(args, &traces)?;
    let recorded = recorded::judge(&traces, truth.as_ref(), &setup)?;
    let files = args.trace.iter().chain(&args.truth).zip(traces.iter().chain(&truth));
    let torn = files.filter(|(_, file)| file.torn).map(|(path, _)| path.display().to_string()).collect();
    Ok(Checked { recorded, torn })
}

fn read(path: &Path) -> Result<TraceFile, Trouble> {
    let file = path.display();
    let unreadable = |error: &std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("{file}: there is no such file, expected a trace").into(),
        ErrorKind::IsADirectory => format!("{file}: found a directory, expected a trace").into(),
        _ => Trouble::failed(format!("cannot read {file}: {error}")),
    };
    let opened = File::open(path).map_err(|error| unreadable(&error))?;
    TraceFile::read(BufReader::new(opened)).map_err(|error| match error {
        TraceError::Io(error) => unreadable(&error),
        TraceError::Line { line, problem } => format!("{file}:{line}: {problem}").into(),
    })
}

/// How the nodes were set up: as their traces say, or as it was typed.
fn setup(args: &CheckArgs, traces: &[TraceFile]) -> Result<Setup, String> {
    let nodes = match args.nodes.as_ref().map(|nodes| nodes.0.as_slice()) {
        None => None,
        Some([nodes]) if *nodes > 0 => Some(*nodes),
        Some(_) => return Err("of a recorded run, --nodes is one number, from 1".to_owned()),
    };
    let Some(stated) = recorded::common_setup(traces)? else {
        let (Some(protocol), Some(nodes)) = (args.protocol, nodes) else {
            return Err(
                "the traces do not state how the nodes were set up, expected --protocol P and --nodes N"
                    .to_owned(),
            );
        };
        return Ok(recorded::default_setup(protocol, nodes));
    };
    match (args.protocol, nodes) {
        (Some(typed), _) if typed != stated.protocol => {
            Err(format!("--protocol is {}, but the traces are of {}", typed.name(), stated.protocol.name()))
        }
        (_, Some(typed)) if !stated.nodes.is_empty() && typed as usize != stated.nodes.len() => {
            Err(format!("--nodes is {typed}, but the traces are of {} nodes", stated.nodes.len()))
        }
        _ => Ok(stated),
    }
}
