//! What can be typed.

pub(crate) mod agent;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod flaws;
pub(crate) mod up;

use std::path::PathBuf;

use bellwether_proto::election::{Protocol, Variant};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

/// Elects leaders: watch a cluster do it, or put the algorithms through scenarios and judge them
#[derive(Debug, Parser)]
#[command(name = "bellwether", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a cluster of real agents on this machine, watch it, and break it
    #[command(after_help = EXIT_CODES)]
    Up(up::UpArgs),
    /// See what a cluster is good for
    Demo(demo::DemoArgs),
    /// Run a member of a cluster
    #[command(after_help = EXIT_CODES)]
    Agent(agent::AgentArgs),
    /// Show how things are, as one agent sees them
    #[command(after_help = EXIT_CODES)]
    Status(agent::StatusArgs),
    /// Name the leader; exit code 1 if there is none
    #[command(after_help = EXIT_CODES)]
    Leader(agent::LeaderArgs),
    /// List the members, as one of them sees them
    #[command(after_help = EXIT_CODES)]
    Members(agent::MembersArgs),
    /// Print changes of leader as they happen, until Ctrl-C
    #[command(after_help = EXIT_CODES)]
    Watch(agent::WatchArgs),
    /// List who led when, and why that changed
    #[command(after_help = EXIT_CODES)]
    History(agent::HistoryArgs),
    /// Let the leader stand aside: ask the leader's agent
    #[command(after_help = EXIT_CODES)]
    Resign(agent::ResignArgs),
    /// Let the leader hand over to another: ask the leader's agent
    #[command(after_help = EXIT_CODES)]
    Transfer(agent::TransferArgs),
    /// Run scenario files in the simulated world and judge them
    #[command(after_help = EXIT_CODES)]
    Sim(SimArgs),
    /// Put algorithms side by side, on your own latency and loss: cost, failover, stability
    #[command(after_help = EXIT_CODES)]
    Compare(compare::CompareArgs),
    /// Find the known flaws of the papers, shrink them, and try the repairs
    #[command(after_help = format!("{EXIT_CODES}\n  130  it was interrupted, and nothing was wrong by then"))]
    Flaws(flaws::FlawsArgs),
    /// List the algorithms: what each assumes, guarantees and costs
    #[command(after_help = EXIT_CODES)]
    Protocols(ProtocolsArgs),
    /// Make the certificates by which the members of a cluster know each other
    #[command(after_help = EXIT_CODES)]
    Tls(TlsArgs),
    /// Try to break an algorithm, or judge what nodes recorded: does it keep its promises
    #[command(after_help = format!("{EXIT_CODES}\n  130  it was interrupted before it had found anything"))]
    Check(check::CheckArgs),
}

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
    /// Write all that happens in a single FILE, as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) trace: Option<PathBuf>,
    /// Write what happens in a single FILE, for the viewer ShiViz
    #[arg(long, value_name = "FILE")]
    pub(crate) shiviz: Option<PathBuf>,
    /// Draw what matters in a single FILE as a space-time diagram; whatever property it breaks is marked
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) diagram: Option<PathBuf>,
    /// Draw which groups there were in a single FILE and which came from which; or write that for Graphviz
    #[arg(long, value_name = "FILE.svg|FILE.dot")]
    pub(crate) history: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProtocolsArgs {
    /// Print one JSON object per algorithm, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

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

const EXIT_CODES: &str = "\
Exit codes:
  0  as asked
  1  the answer is no: a property or an expectation failed, there is no leader
  2  the input is wrong
  3  it could not be done";

fn protocol() -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(Protocol::ALL.map(Protocol::name))
        .map(|name| Protocol::by_name(&name).expect("only names of protocols are let through"))
}

fn variant() -> impl TypedValueParser<Value = Variant> {
    PossibleValuesParser::new(Variant::ALL.map(Variant::name))
        .map(|name| Variant::by_name(&name).expect("only names of variants are let through"))
}

fn seed(number: &str) -> Result<u64, String> {
    number.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}
