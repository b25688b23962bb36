//! The `bellwether` command.
//!
//! Arguments (`args.rs`) choose a command (`commands/`, one file each). Everything is printed through
//! `output.rs`, and the exit code says how it went.

#![forbid(unsafe_code)]

mod agent;
mod args;
mod client;
mod commands;
mod duration;
mod fleet;
mod layout;
mod output;
mod page;
mod recording;
mod schema;
mod signals;
mod terminal;
mod trouble;
mod words;
mod work;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use output::Printer;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(part) = args::exec::Part::given() {
        return commands::exec::play(&part).into();
    }
    let out = Printer::new();
    let status = match Args::parse().command {
        Command::Up(args) => commands::up::run(&args, &out),
        Command::Demo(args) => commands::demo::run(&args, &out),
        Command::Agent(args) => commands::agent::run(&args, &out),
        Command::Status(args) => commands::status::run(&args, &out),
        Command::Leader(args) => commands::leader::run(&args, &out),
        Command::Members(args) => commands::members::run(&args, &out),
        Command::Watch(args) => commands::watch::run(&args, &out),
        Command::History(args) => commands::history::run(&args, &out),
        Command::Elections(args) => commands::elections::run(&args, &out),
        Command::Campaign(args) => commands::campaign::run(&args, &out),
        Command::Observe(args) => commands::observe::run(&args, &out),
        Command::Resign(args) => commands::resign::run(&args, &out),
        Command::Transfer(args) => commands::transfer::run(&args, &out),
        #[cfg(target_os = "linux")]
        Command::Exec(args) => commands::exec::run(&args, &out),
        Command::Sim(args) => commands::sim::run(&args, &out),
        Command::Compare(args) => commands::compare::run(&args, &out),
        Command::Lab(args) => commands::lab::run(&args, &out),
        Command::Protocols(args) => commands::protocols::run(&args, &out),
        Command::Arbiter(args) => commands::arbiter::run(&args, &out),
        Command::Tls(args) => commands::tls::run(&args, &out),
        Command::Flaws(args) => commands::flaws::run(&args, &out),
        Command::Check(args) => commands::check::run(&args, &out),
    };
    status.into()
}

/// How a command went, as its exit code tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// As asked.
    Done,
    /// The answer is no.
    No,
    /// The input is wrong.
    BadInput,
    /// It could not be done.
    Failed,
    /// It was asked to end before it was done, and has no answer yet.
    Interrupted,
    /// What a command that was run says.
    Of(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Done => 0,
            Status::No => 1,
            Status::BadInput => 2,
            Status::Failed => 3,
            Status::Interrupted => 130,
            Status::Of(code) => code,
        })
    }
}
