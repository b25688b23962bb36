//! The arguments of `agent`, and of the commands that ask one.

use std::path::PathBuf;
use std::time::Duration;

use crate::agent::config::Overrides;
use crate::duration;

/// A member to run.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Say what would run, and start nothing: exit code 0 if the configuration and the certificates are good, 2 if not
    #[arg(long)]
    pub(crate) check_config: bool,
    /// End when standard input is closed, and with the process that started this one
    #[arg(long, hide = true)]
    pub(crate) end_with_stdin: bool,
}

/// Which agent to ask, and how to print its answer.
#[derive(Debug, clap::Args)]
pub(crate) struct ApiArgs {
    #[command(flatten)]
    pub(crate) door: DoorArgs,
    /// Print the agent's answer as it is: JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which agent to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct DoorArgs {
    /// The address of the agent's API [default: $BELLWETHER_API, or 127.0.0.1:3171]
    #[arg(long, value_name = "ADDR")]
    pub(crate) api: Option<String>,
    /// The agent's Unix socket, instead of its API's address; it needs no token [default: $BELLWETHER_SOCKET]
    #[arg(long, value_name = "PATH", conflicts_with = "api")]
    pub(crate) socket: Option<PathBuf>,
}

/// The right to change something.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenArgs {
    /// The agent's `api.token` [default: $BELLWETHER_TOKEN]
    #[arg(long, value_name = "T", conflicts_with = "token_file")]
    pub(crate) token: Option<String>,
    /// Read the token from FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LeaderArgs {
    /// Ask whether the agent itself leads: exit code 0 if it does, 1 if not
    #[arg(long)]
    pub(crate) is_me: bool,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// End after N changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Begin with the changes after number N, as far back as the agent remembers
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u64>,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResignArgs {
    /// Stay aside for that long [default: the agent's `resign_hold`]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, group = "how")]
    pub(crate) hold: Option<Duration>,
    /// Stay aside until `resign --end`
    #[arg(long, group = "how")]
    pub(crate) until_told: bool,
    /// Stand again, before the time is over
    #[arg(long, group = "how")]
    pub(crate) end: bool,
    /// Have whoever holds that named election give it back; ask the holder's agent
    #[arg(long, value_name = "NAME", group = "how", value_parser = super::election)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("whom").required(true))]
pub(crate) struct TransferArgs {
    /// The next leader
    #[arg(value_name = "ID", value_parser = clap::value_parser!(u32).range(1..), group = "whom")]
    pub(crate) node: Option<u32>,
    /// The same
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u32).range(1..), group = "whom")]
    pub(crate) to: Option<u32>,
    /// Hand over that named election, to the first candidate of the member; ask the holder's agent
    #[arg(long, value_name = "NAME", value_parser = super::election)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}
