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
    /// Make new certificates for the keys of members, in the place of those that are there
    #[command(after_help = EXIT_CODES)]
    Renew(TlsRenewArgs),
    /// Show certificates: whose they are, until when they are good, and what is wrong with them
    #[command(after_help = EXIT_CODES)]
    Show(TlsShowArgs),
    /// Put certificates on the list of those that are not to be trusted any more, crl.pem
    #[command(after_help = EXIT_CODES)]
    Revoke(TlsRevokeArgs),
    /// Begin to put another authority in the place of the present one, or end that. In between both are trusted
    #[command(after_help = EXIT_CODES)]
    Rotate(TlsRotateArgs),
}

/// Where the files of an authority are.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// The agents' configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The directory for the files, instead of that of the authority's certificate in the configuration
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print what was done as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsInitArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// For how many days the members' certificates are valid
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = days())]
    pub(crate) days: u32,
    /// For how many days a new authority is valid
    #[arg(long, value_name = "N", default_value_t = 3650, value_parser = days())]
    pub(crate) authority_days: u32,
    /// The members, if the configuration does not list them
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsRenewArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// For how many days the certificates are valid
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = days())]
    pub(crate) days: u32,
    /// Of these members only
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsShowArgs {
    /// The files to show
    #[arg(value_name = "FILE", required_unless_present = "config")]
    pub(crate) files: Vec<PathBuf>,
    /// Show those of this configuration's members, and check them: exit code 1 if one would be refused
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub(crate) config: Option<PathBuf>,
    /// The directory of the files, instead of that of the authority's certificate in the configuration
    #[arg(long, value_name = "DIR", requires = "config")]
    pub(crate) out: Option<PathBuf>,
    /// Of these members, if the configuration does not list them
    #[arg(long, value_name = "IDS", value_delimiter = ',', requires = "config", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
    /// Print a JSON object for each certificate
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsRevokeArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Certificates that this authority has issued
    #[arg(value_name = "CERT", required_unless_present = "nodes")]
    pub(crate) certs: Vec<PathBuf>,
    /// Those of these members that are in the directory
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Vec<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TlsRotateArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Trust the new authority only. All members must have certificates of it
    #[arg(long)]
    pub(crate) finish: bool,
    /// For how many days the new authority is valid
    #[arg(long, value_name = "N", default_value_t = 3650, value_parser = days())]
    pub(crate) authority_days: u32,
}

/// As many as the format of certificates can take.
fn days() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=36_500)
}
