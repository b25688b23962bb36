//! The arguments of `sim`.

use std::path::PathBuf;

use bellwether_proto::election::{Protocol, Variant};

use super::{protocol, seed, variant};

#[derive(Debug, clap::Args)]
pub(crate) struct SimArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Run this algorithm instead of the file's
    #[arg(long, value_name = "P", value_parser = protocol())]
    pub(crate) protocol: Option<Protocol>,
    /// Run this variant instead of the file's
    #[arg(long, value_name = "V", value_parser = variant())]
    pub(crate) variant: Option<Variant>,
    /// Use this seed instead of the file's
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Print one JSON object per scenario, one per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a trace of all events of a single FILE, as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the events of a single FILE for the viewer ShiViz
    #[arg(long, value_name = "FILE")]
    pub(crate) shiviz: Option<PathBuf>,
    /// Draw the run of a single FILE as a space-time diagram; violations are marked
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) diagram: Option<PathBuf>,
    /// Draw the lineage of groups of a single FILE, or write it for Graphviz
    #[arg(long, value_name = "FILE.svg|FILE.dot")]
    pub(crate) history: Option<PathBuf>,
}
