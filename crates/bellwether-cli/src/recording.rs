//! A run, and the trace of it in a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

/// Plays a scenario and writes all that happens to `path`, as JSON lines.
pub(crate) fn record(scenario: &Scenario, path: &Path) -> Result<Report, String> {
    let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    traced(scenario, file)
        .map_err(|error| format!("cannot write {}: {error}; the trace is incomplete", path.display()))
}

fn traced(scenario: &Scenario, file: File) -> io::Result<Report> {
    let mut file = BufWriter::new(file);
    let mut written = Ok(());
    let report = run::run_with(
        scenario,
        Box::new(|event| {
            if written.is_ok() {
                written = writeln!(file, "{}", event.json());
            }
        }),
    );
    written?;
    file.flush()?;
    Ok(report)
}
