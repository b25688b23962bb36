//! `exec`: a command that runs only while a name is held, whatever happens to those who watch over it.
//!
//! | what | file |
//! |---|---|
//! | what the command finds, how it ends, signals | `command.rs` |
//! | names that are lost, and agents that go | `lost.rs` |
//! | no two commands of one name at a time | `overlap.rs` |
//! | what only real agents show | `real.rs` |
//!
//! Most of it is played with stand-ins for agents, which go silent, crash and come back when a test says so.

mod command;
mod lost;
mod overlap;
mod real;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::cluster::{DEADLINE, Process, bellwether, wait_until};
use crate::stand_in::World;

/// Long enough that a busy machine loses no lease.
const TTL: Duration = Duration::from_secs(2);

/// A place for the files of a test.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::Builder::new().prefix("bellwether-").tempdir().expect("there is room for a test"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is in a file; nothing, if it is not there.
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    #[track_caller]
    fn wait_for(&self, name: &str, is_so: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        let came = wait_until(DEADLINE, || {
            text = self.read(name);
            is_so(&text)
        });
        assert!(came, "{name} has {text:?}");
        text
    }

    /// `exec` of a script, in this place.
    fn exec(&self, socket: &Path, flags: &[&str], script: &str) -> Command {
        self.run(socket, flags, &["sh", "-c", script])
    }

    /// The same of any command.
    fn run(&self, socket: &Path, flags: &[&str], command: &[&str]) -> Command {
        let mut exec = bellwether();
        exec.args(["exec", "--name", "backup", "--socket"]).arg(socket);
        exec.args(flags).arg("--").args(command).current_dir(self.0.path());
        exec
    }
}

/// What a command came to: its exit code, what it printed, and what it complained of. It is little.
#[track_caller]
fn outcome(command: &mut Command) -> (i32, String, String) {
    let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let code = process.wait(DEADLINE).expect("it ends by itself");
    let (mut out, mut err) = (String::new(), String::new());
    let child = process.child();
    child.stdout.take().expect("it is piped").read_to_string(&mut out).expect("it prints text");
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("it prints text");
    (code, out, err)
}

/// Starts it, silently.
fn start(command: &mut Command) -> Process {
    Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The children of a process.
fn children(of: Pid) -> Vec<Pid> {
    let list = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| Pid::from_raw(pid.parse().expect("a number"))).collect()
}

/// The process that watches over the command of an `exec`, once it is there.
#[track_caller]
fn warden(exec: &Process) -> Pid {
    let mut found = Vec::new();
    assert!(wait_until(DEADLINE, || {
        found = children(exec.pid());
        !found.is_empty()
    }));
    found[0]
}

/// Whether a process is there, and not merely waited for.
fn lives(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[track_caller]
fn wait_for_end(pid: Pid) {
    assert!(wait_until(DEADLINE, || !lives(pid)), "process {pid} lives");
}

fn pid_in(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().expect("a number"))
}

/// Ends a process that a test started by way of another, if it is there.
struct Ends(Pid);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGKILL);
    }
}
