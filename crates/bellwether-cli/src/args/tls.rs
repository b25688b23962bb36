//! What can be typed after `tls`.

use std::path::PathBuf;

use clap::Subcommand;

use super::EXIT_CODES;

#[derive(Debug, clap::Args)]
pub(crate) struct TlsArgs {
    #[command(subcommand)]
    pub(crate) command: TlsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TlsCommand {
    /// Make an authority, and a certificate and key for each member; with an authority that is there, what is missing
    #[command(after_help = EXIT_CODES)]
    Init(TlsInitArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsInitArgs {
    /// The agents' configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Where to put the files, instead of where the configuration has the authority's certificate
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How long the certificates are good
    #[arg(long, value_name = "N", default_value_t = 3650, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: u32,
    /// The members, if the configuration does not list them
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
    /// Print what was written as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
