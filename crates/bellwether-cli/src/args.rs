//! The command line: a file for each command, and one for all that ask an agent.

pub(crate) mod agent;
pub(crate) mod arbiter;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod elections;
#[cfg(target_os = "linux")]
pub(crate) mod exec;
pub(crate) mod flaws;
pub(crate) mod lab;
pub(crate) mod members;
pub(crate) mod protocols;
pub(crate) mod sim;
pub(crate) mod tls;
pub(crate) mod up;

use bellwether::GrantKind;
use bellwether::elections::Name;
use bellwether_proto::election::{Protocol, Variant};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

/// Elect leaders: run a cluster, or test the algorithms in a laboratory
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
    /// See an example of what a cluster can do
    Demo(demo::DemoArgs),
    /// Run a member of a cluster
    #[command(after_help = EXIT_CODES)]
    Agent(agent::AgentArgs),
    /// Show the state of the cluster, as one agent sees it
    #[command(after_help = EXIT_CODES)]
    Status(agent::StatusArgs),
    /// Name the leader; exit code 1 if there is none
    #[command(after_help = EXIT_CODES)]
    Leader(agent::LeaderArgs),
    /// List the members, as one of them sees them, or change who votes
    #[command(after_help = EXIT_CODES)]
    Members(members::MembersArgs),
    /// Print changes of leader as they happen, until Ctrl-C
    #[command(after_help = EXIT_CODES)]
    Watch(agent::WatchArgs),
    /// List the changes of leader, with their causes
    #[command(after_help = EXIT_CODES)]
    History(agent::HistoryArgs),
    /// List the named elections: who holds what, and how many wait
    #[command(after_help = EXIT_CODES)]
    Elections(elections::ElectionsArgs),
    /// Hold a named election, or wait for it, until Ctrl-C
    #[command(after_help = EXIT_CODES)]
    Campaign(elections::CampaignArgs),
    /// Print what becomes of a named election, until Ctrl-C
    #[command(after_help = EXIT_CODES)]
    Observe(elections::ObserveArgs),
    /// Make the leader go aside; ask the leader's agent
    #[command(after_help = EXIT_CODES)]
    Resign(agent::ResignArgs),
    /// Make the leader hand over to another member; ask the leader's agent
    #[command(after_help = EXIT_CODES)]
    Transfer(agent::TransferArgs),
    /// Run a command only while this machine holds a name, with `mode = "exclusive"`
    #[cfg(target_os = "linux")]
    #[command(after_help = EXEC_EXIT_CODES)]
    Exec(exec::ExecArgs),
    /// Run scenario files in the simulated world and judge them
    #[command(after_help = EXIT_CODES)]
    Sim(sim::SimArgs),
    /// Compare algorithms on your own latency and loss: cost, failover, stability
    #[command(after_help = EXIT_CODES)]
    Compare(compare::CompareArgs),
    /// Find the known flaws of the papers, shrink them, and try the repairs
    #[command(after_help = format!("{EXIT_CODES}\n  130  it was interrupted, and nothing was wrong by then"))]
    Flaws(flaws::FlawsArgs),
    /// Open the laboratory in a browser: run scenarios, stop time, and break things
    #[command(after_help = EXIT_CODES)]
    Lab(lab::LabArgs),
    /// List the algorithms: what each assumes, guarantees and costs
    #[command(after_help = EXIT_CODES)]
    Protocols(protocols::ProtocolsArgs),
    /// Make certificates for the members of a cluster
    #[command(after_help = EXIT_CODES)]
    Tls(tls::TlsArgs),
    /// Prepare another engine to keep elections
    Arbiter(arbiter::ArbiterArgs),
    /// Check whether an algorithm keeps its promises: try to break it, or judge recorded traces
    #[command(after_help = format!("{EXIT_CODES}\n  130  it was interrupted before it had found anything"))]
    Check(check::CheckArgs),
}

const EXIT_CODES: &str = "\
Exit codes:
  0  as asked
  1  the answer is no: a property or an expectation failed, there is no leader
  2  the input is wrong
  3  it could not be done";

/// Those of `exec`, beside what its command says.
#[cfg(target_os = "linux")]
const EXEC_EXIT_CODES: &str = "\
CMD finds the election in BELLWETHER_ELECTION, its token in BELLWETHER_ELECTION_TOKEN, and the
node in BELLWETHER_ELECTION_NODE. SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH
are passed on to it.

Exit codes:
  N    that of CMD, with --once, or after SIGTERM, SIGINT or SIGQUIT; if a signal killed it, 128
       plus the number of that
  1    NAME was lost, with --on-lost exit
  2    the input is wrong
  3    it could not be done: no agent answers, for instance
  126  CMD cannot be run
  127  there is no CMD
  128  plus the number of the signal that came while it waited for NAME";

fn protocol() -> impl TypedValueParser<Value = Protocol> {
    protocol_among(Protocol::ALL.into_iter())
}

fn protocol_among(protocols: impl Iterator<Item = Protocol>) -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(protocols.map(Protocol::name))
        .map(|name| Protocol::by_name(&name).expect("only names of protocols are let through"))
}

fn variant() -> impl TypedValueParser<Value = Variant> {
    PossibleValuesParser::new(Variant::ALL.map(Variant::name))
        .map(|name| Variant::by_name(&name).expect("only names of variants are let through"))
}

/// What makes an exclusive leadership valid.
fn kind() -> impl TypedValueParser<Value = GrantKind> {
    PossibleValuesParser::new(GrantKind::ALL.map(GrantKind::name))
        .map(|name| GrantKind::by_name(&name).expect("only names of kinds are let through"))
}

/// The name of an election.
fn election(name: &str) -> Result<String, String> {
    Name::new(name).map(|_| name.to_owned()).map_err(|wrong| wrong.to_string())
}

fn seed(number: &str) -> Result<u64, String> {
    number.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}
