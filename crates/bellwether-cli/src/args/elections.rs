//! The arguments of `elections`, `campaign` and `observe`.

use bellwether::GrantKind;

use super::agent::{ApiArgs, TokenArgs};
use super::{EXIT_CODES, election, kind};

/// The elections. Without a command they are listed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ElectionsArgs {
    #[command(subcommand)]
    pub(crate) change: Option<ElectionsCommand>,
    /// Begin after that name
    #[arg(long, value_name = "NAME", value_parser = election)]
    pub(crate) after: Option<String>,
    /// List no more than N [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ElectionsCommand {
    /// Forget an election that nobody holds or waits for
    #[command(after_help = EXIT_CODES)]
    Delete(DeleteArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    /// Which
    #[arg(value_name = "NAME", value_parser = election)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CampaignArgs {
    /// What to hold: any name of up to 255 bytes
    #[arg(value_name = "NAME", value_parser = election)]
    pub(crate) name: String,
    /// What makes holding it valid: a deadline, or a store. The first campaign of a name chooses it [default: that of the name, or lease]
    #[arg(long, value_name = "K", value_parser = kind())]
    pub(crate) kind: Option<GrantKind>,
    /// Go before those who wait with a lower number
    #[arg(long, value_name = "N")]
    pub(crate) priority: Option<u32>,
    /// What everybody can read while it is held, such as an address
    #[arg(long, value_name = "TEXT")]
    pub(crate) value: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ObserveArgs {
    /// Which election
    #[arg(value_name = "NAME", value_parser = election)]
    pub(crate) name: String,
    /// End after N changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}
