//! CSV, and the plot.

use std::fs::{self, OpenOptions};
use std::path::Path;

use bellwether_sim::measure::compare::Row;
use bellwether_sim::plot::{self, Captions};
use serde_json::Value;

use super::request::Request;
use super::words;
use crate::args::compare::CompareArgs;
use crate::trouble::Trouble;

/// The files to write figures to.
pub(super) struct Files<'a> {
    plot: Option<&'a Path>,
    csv: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Finds out whether they can be, before anything is measured.
    pub(super) fn open(args: &'a CompareArgs) -> Result<Self, Trouble> {
        let files = Self { plot: args.plot.as_deref(), csv: args.csv.as_deref() };
        if let (Some(plot), Some(csv)) = (files.plot, files.csv)
            && plot == csv
        {
            let file = plot.display();
            return Err(Trouble::wrong(format!("--plot and --csv are both {file}, expected two files")));
        }
        for file in files.plot.into_iter().chain(files.csv) {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(file)
                .map_err(|error| unwritable(file, &error))?;
        }
        Ok(files)
    }

    pub(super) fn write(&self, request: &Request, rows: &[Row]) -> Result<(), Trouble> {
        if let Some(file) = self.plot {
            let captions = Captions {
                title: words::title(request),
                about: words::about(request),
                notes: words::notes(request, rows),
            };
            keep(file, &plot::draw(rows, &captions))?;
        }
        if let Some(file) = self.csv {
            keep(file, &csv(rows))?;
        }
        Ok(())
    }
}

fn keep(file: &Path, text: &str) -> Result<(), Trouble> {
    fs::write(file, text).map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &Path, error: &std::io::Error) -> Trouble {
    Trouble::failed(format!("cannot write {}: {error}", file.display()))
}

/// A line of names, and one for each row.
fn csv(rows: &[Row]) -> String {
    let head = rows.first().map(|row| row.fields().into_iter().map(|(name, _)| name.to_owned()).collect());
    let cells = |row: &Row| row.fields().into_iter().map(|(_, value)| cell(value)).collect();
    let lines: Vec<Vec<String>> = head.into_iter().chain(rows.iter().map(cells)).collect();
    lines.iter().map(|line| format!("{}\n", line.join(","))).collect()
}

/// As RFC 4180 has it.
fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text,
        other => other.to_string(),
    }
}
