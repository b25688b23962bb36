//! The arguments of `tls`.

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
    /// Make an authority, and a certificate and key for each member. If there is an authority already, make only what
    /// is missing
    #[command(after_help = EXIT_CODES)]
    Init(TlsInitArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsInitArgs {
    /// The agents' configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The directory for the files, instead of that of the authority's certificate in the configuration
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// For how many days the certificates are valid
    #[arg(long, value_name = "N", default_value_t = 3650, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: u32,
    /// The members, if the configuration does not list them
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
    /// Print what was written as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
