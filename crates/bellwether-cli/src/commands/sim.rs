//! `bellwether sim FILE…`: runs scenarios and judges them.

mod print;
mod read;

use std::path::Path;

use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

use crate::Status;
use crate::args::SimArgs;
use crate::output::Printer;
use crate::recording;

pub(crate) fn run(args: &SimArgs, out: &Printer) -> Status {
    if let Err(error) = trace_is_possible(args) {
        out.error(error);
        return Status::BadInput;
    }
    let Some(scenarios) = read::all(args, out) else { return Status::BadInput };
    let mut runs = Vec::new();
    for (file, scenario) in args.files.iter().zip(scenarios) {
        out.progress(format_args!("running {} of {} …", runs.len() + 1, args.files.len()));
        let report = run_one(&scenario, args.trace.as_deref());
        out.progress_done();
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                out.error(error);
                return Status::Failed;
            }
        };
        if args.json {
            out.line(serde_json::to_string(&report).expect("a report is plain data"));
        }
        runs.push(Run { file, passed: report.passed(&scenario), scenario, report });
    }
    if !args.json {
        print::all(args, &runs, out);
    }
    if runs.iter().all(|run| run.passed) { Status::Done } else { Status::No }
}

/// A scenario that has been run.
struct Run<'a> {
    file: &'a Path,
    scenario: Scenario,
    report: Report,
    passed: bool,
}

fn trace_is_possible(args: &SimArgs) -> Result<(), String> {
    let Some(trace) = &args.trace else { return Ok(()) };
    let [file] = &args.files[..] else {
        return Err(format!(
            "--trace records one scenario, found {} files, expected a single FILE",
            args.files.len()
        ));
    };
    if trace.as_os_str() == "-" {
        return Err("--trace needs a file, found -".to_owned());
    }
    match (trace.canonicalize(), file.canonicalize()) {
        (Ok(trace), Ok(file)) if trace == file => {
            Err(format!("--trace would overwrite the scenario {}, expected another file", file.display()))
        }
        _ => Ok(()),
    }
}

fn run_one(scenario: &Scenario, trace: Option<&Path>) -> Result<Report, String> {
    match trace {
        Some(path) => recording::record(scenario, path),
        None => Ok(run::run(scenario)),
    }
}
