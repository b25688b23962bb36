//! The arguments of `up`.

use std::path::PathBuf;
use std::time::Duration;

use bellwether::GrantKind;
use bellwether_proto::election::Protocol;
use clap::Subcommand;
use clap::builder::TypedValueParser;

use super::{kind, protocol_among};
use crate::duration;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct UpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<UpCommand>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClusterArgs {
    /// How many nodes, 1 to 9
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(crate) nodes: u32,
    /// The algorithm they run
    #[arg(long, value_name = "P", default_value = Protocol::default().name(), value_parser = real_protocol())]
    pub(crate) protocol: Protocol,
    /// What they may rely on; left out, what the algorithm gives
    #[arg(long, value_name = "M", value_parser = ["any-survivor", "majority", "exclusive"])]
    pub(crate) mode: Option<String>,
    /// What makes an exclusive leadership valid: a deadline, or a store
    #[arg(long, value_name = "K", value_parser = kind(), requires = "mode")]
    pub(crate) kind: Option<GrantKind>,
    /// Keep configurations, certificates, states and logs in DIR, which is not removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// End by itself after that time
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) length: Option<Duration>,
}

/// What can be done to a running cluster, from another terminal
#[derive(Debug, Subcommand)]
pub(crate) enum UpCommand {
    /// End a node's process at once (SIGKILL)
    Kill(NodeArgs),
    /// Pause a node's process: it is there, but silent (SIGSTOP)
    Stop(NodeArgs),
    /// Let a paused node go on (SIGCONT)
    Cont(NodeArgs),
    /// Start a killed node, or restart a running one
    Start(NodeArgs),
    /// List the nodes
    List(WhereArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct NodeArgs {
    /// Which node
    #[arg(value_name = "ID")]
    pub(crate) node: u32,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhereArgs {
    /// Which cluster, if several are up: the directory that it prints
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// The algorithms that are for real networks.
fn real_protocol() -> impl TypedValueParser<Value = Protocol> {
    protocol_among(Protocol::ALL.into_iter().filter(|protocol| protocol.spec().runs_in_agent()))
}
