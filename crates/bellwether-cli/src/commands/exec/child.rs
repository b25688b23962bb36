//! The process that becomes the command: it dies with the warden, and is nothing until the warden says so.

use std::convert::Infallible;
use std::error::Error;
use std::io::{ErrorKind, stdin};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::getppid;
use rustix::stdio::dup2_stdin;

use super::link::Link;
use super::words::{Become, Unstartable};
use crate::Status;
use crate::args::exec::ChildArgs;

/// As in shells: there is no such command, and one that is there and cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// No more of a command's name is shown.
const SHOWN_MAX: usize = 1000;

pub(super) fn run(args: &ChildArgs) -> Status {
    // The kernel kills this process, and the command after it, when the warden goes. The warden is deaf, and this process is not.
    let ready = set_pdeathsig(Signal::SIGKILL).and_then(|()| SigSet::empty().thread_set_mask());
    let gate = ready.map_err(Into::into).and_then(|()| Link::given(&stdin()));
    let told = gate.and_then(|gate| {
        let told = gate.receive::<Become>()?;
        Ok(told.map(|told| (gate, told)))
    });
    // Without a word, the warden went before it could say it.
    let Ok(Some((gate, (Become { warden }, input)))) = told else { return Status::Failed };
    // It went before the kernel was asked to tell, and somebody else is the parent.
    if getppid().as_raw() != warden {
        return Status::Failed;
    }
    let Err(why) = become_command(args, input);
    let code = why.code;
    // If nobody listens, nobody waits for this.
    let _ = gate.send(&why, None);
    Status::Of(code)
}

fn become_command(args: &ChildArgs, input: Option<OwnedFd>) -> Result<Infallible, Unstartable> {
    let (command, arguments) = args.command.split_first().expect("clap asks for one");
    let shown: String = command.to_string_lossy().chars().take(SHOWN_MAX).collect();
    let cannot = |code, why: &dyn Error| Unstartable { code, why: format!("cannot run {shown}: {why}") };
    if let Some(input) = input {
        dup2_stdin(input).map_err(|error| cannot(NOT_EXECUTABLE, &error))?;
    }
    let error = Command::new(command).args(arguments).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    Err(cannot(code, &error))
}
