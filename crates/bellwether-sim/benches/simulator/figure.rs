//! The figures that are kept: `make bench` writes them to a page, and says what became worse.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Names the file to which figures are appended, one on each line. Without it they are only printed for people.
const FILE: &str = "BELLWETHER_FIGURES";

/// Which way a figure is better.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "some benchmarks have figures of one kind only")]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// Keeps a figure, if figures are kept.
pub(crate) fn keep(name: &str, value: f64, unit: &str, better: Better) {
    let Ok(file) = env::var(FILE) else { return };
    let better = match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    let mut file = OpenOptions::new().append(true).create(true).open(&file).expect("it can be written");
    writeln!(file, "{name}\t{value:.3}\t{unit}\t{better}").expect("it can be written");
}
