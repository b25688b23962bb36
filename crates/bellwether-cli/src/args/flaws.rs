//! The arguments of `flaws`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct FlawsArgs {
    /// Only these, such as E-ST7; then the table is not written
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The folder with a file for each flaw
    #[arg(long, value_name = "DIR", default_value = "flaws")]
    pub(crate) dir: PathBuf,
    /// Write the table to DIR/flaws.md, and scenarios and pictures to DIR/flaws
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Do not search; check that what was written to DIR is still found
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "json"])]
    pub(crate) verify: Option<PathBuf>,
    /// How many threads to search and shrink with; by default one for each core. The result does not depend on
    /// it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print one JSON object per flaw, one per line
    #[arg(long)]
    pub(crate) json: bool,
}
