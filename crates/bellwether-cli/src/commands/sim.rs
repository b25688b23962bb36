//! `bellwether sim FILE…`: runs scenarios and judges them.

mod outputs;
mod print;
pub(crate) mod read;

use std::path::Path;

use bellwether_sim::report::Report;
use bellwether_sim::scenario::Scenario;

use crate::Status;
use crate::args::sim::SimArgs;
use crate::output::Printer;
use outputs::Outputs;

pub(crate) fn run(args: &SimArgs, out: &Printer) -> Status {
    if let Err(error) = outputs::possible(args) {
        out.error(error);
        return Status::BadInput;
    }
    let Some(scenarios) = read::all(args, out) else { return Status::BadInput };
    if let Err(error) = scenarios.iter().try_for_each(|scenario| outputs::fits(args, scenario)) {
        out.error(error);
        return Status::BadInput;
    }
    let mut runs = Vec::new();
    for (file, scenario) in args.files.iter().zip(scenarios) {
        out.progress(format_args!("running {} of {} …", runs.len() + 1, args.files.len()));
        let replay = format!("bellwether {}", print::arguments(args, file));
        let report = Outputs::open(args, replay).and_then(|outputs| outputs.run(&scenario));
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
