//! The arguments of `arbiter`.

use std::path::PathBuf;

use clap::Subcommand;

use super::EXIT_CODES;

#[derive(Debug, clap::Args)]
pub(crate) struct ArbiterArgs {
    #[command(subcommand)]
    pub(crate) command: ArbiterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArbiterCommand {
    /// Print the schema that PostgreSQL needs to keep elections, for psql, or apply it. It may be applied again
    #[command(after_help = EXIT_CODES)]
    Init(ArbiterInitArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ArbiterInitArgs {
    /// Apply it to this database, such as postgres://user@host/database. Others on this machine can see what is
    /// written here: with a password, rather give what is printed to psql
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Connect over TLS, and trust this authority
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca: Option<PathBuf>,
}
