//! The arguments of `members`.

use clap::builder::RangedU64ValueParser;

use super::EXIT_CODES;
use super::agent::{ApiArgs, TokenArgs};

/// The members. Without a command they are listed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MembersArgs {
    #[command(subcommand)]
    pub(crate) change: Option<ChangeArgs>,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

/// One voter at a time. Each is answered when the change is settled, and the next may begin.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ChangeArgs {
    /// Let another member vote; start its agent first
    #[command(after_help = EXIT_CODES)]
    Add(AddArgs),
    /// Let a member vote no more; it may be gone for good
    #[command(after_help = EXIT_CODES)]
    Remove(RemoveArgs),
    /// Let a member vote again that has lost its disk, or another machine in its place
    #[command(after_help = EXIT_CODES)]
    Replace(ReplaceArgs),
    /// Go on with these voters alone, if a majority is lost for good
    #[command(after_help = EXIT_CODES)]
    Rescue(RescueArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// The member
    #[arg(value_name = "ID", value_parser = id())]
    pub(crate) id: u32,
    /// Where its peers reach it, such as 10.0.0.4:3170
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The member
    #[arg(value_name = "ID", value_parser = id())]
    pub(crate) id: u32,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplaceArgs {
    /// The member
    #[arg(value_name = "ID", value_parser = id())]
    pub(crate) id: u32,
    /// Where its peers reach it from now on [default: where it was]
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RescueArgs {
    /// All voters that still have their disks
    #[arg(value_name = "ID", required = true, value_parser = id())]
    pub(crate) survivors: Vec<u32>,
    /// Do it, whatever it costs; without this, the costs are told and nothing is done
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// Which agent to ask, with which right. Any member will do.
#[derive(Debug, clap::Args)]
pub(crate) struct HowArgs {
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

fn id() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..)
}
