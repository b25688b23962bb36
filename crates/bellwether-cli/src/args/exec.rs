//! The arguments of `exec`, and of the processes that it starts beside itself.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use bellwether::GrantKind;
use clap::{Parser, ValueEnum};

use super::agent::{DoorArgs, TokenArgs};
use super::kind;

/// A command to run while a name is held.
#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// The election to hold
    #[arg(long, value_name = "NAME", default_value = "leader")]
    pub(crate) name: String,
    /// What makes it valid: a deadline, or the store that CMD writes to. The first campaign of NAME chooses it [default: lease]
    #[arg(long, value_name = "KIND", value_parser = kind())]
    pub(crate) kind: Option<GrantKind>,
    /// Higher goes first, of those that wait
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) priority: u32,
    /// End when CMD has ended, with its exit code; without this it is started again
    #[arg(long)]
    pub(crate) once: bool,
    /// What to do when NAME is lost
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLost::Wait)]
    pub(crate) on_lost: OnLost,
    /// Keep the token of the holder in FILE, written before CMD starts
    #[arg(long, value_name = "FILE")]
    pub(crate) write_token: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) door: DoorArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// The command, as it is: there is no shell
    #[arg(value_name = "CMD", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

/// What to do when a name is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLost {
    /// Wait for it, and start CMD again
    Wait,
    /// End, with exit code 1
    Exit,
}

/// What this program is as a process that `exec` starts beside itself.
#[derive(Debug, Parser)]
#[command(name = "bellwether")]
pub(crate) enum Part {
    /// Holds the deadline of a command
    ExecWarden(WardenArgs),
    /// Becomes a command when it is told to
    ExecChild(ChildArgs),
}

impl Part {
    /// `None` if it was started by somebody else. Looked at before all that people may ask for is described, which takes longer than to start a
    /// process: a command that is elected waits for it.
    pub(crate) fn given() -> Option<Self> {
        let first = env::args_os().nth(1)?;
        (first == "exec-warden" || first == "exec-child").then(Self::parse)
    }
}

/// The process that holds the deadline of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct WardenArgs {
    /// The agent's socket
    #[arg(long)]
    pub(crate) socket: Option<PathBuf>,
    /// The command
    #[arg(required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

/// The process that becomes a command when it is told to.
#[derive(Debug, clap::Args)]
pub(crate) struct ChildArgs {
    /// The command
    #[arg(required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}
