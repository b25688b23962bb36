//! A fleet: real agents on this machine, as child processes of this one. `up` and the demonstrations each have one.
//!
//! Each child holds the reading end of a pipe, and ends when this process closes the other end or dies.
//!
//! | file | what |
//! |---|---|
//! | `place.rs` | where a fleet keeps its files, and how others find it |
//! | `files.rs` | ports, certificates, configurations |
//! | `control.rs` | `bellwether up kill 3`, on both ends |
//! | `keys.rs` | which keys mean which order |
//! | `news.rs` | events from all sources: agents, keys, signals, other terminals |
//! | `board.rs` | what the boards of all fleets have in common |
//! | `befell.rs`, `telling.rs` | what befell a process; how a demonstration is told, to people and to programs |

pub(crate) mod befell;
pub(crate) mod board;
pub(crate) mod control;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod news;
pub(crate) mod place;
pub(crate) mod telling;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process that could be started: this program, with other arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) id: u32,
    pub(crate) arguments: Vec<OsString>,
    /// The log: its standard error and, if nobody reads it, its standard output.
    pub(crate) log: PathBuf,
}

/// Reads what the processes print.
pub(crate) type Listener = Box<dyn Fn(u32, ChildStdout) -> Result<(), String>>;

/// How long the agents may take to leave at the end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What a node's process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    /// It runs.
    Up(u32),
    /// It is there, and does nothing.
    Stopped(u32),
    /// It is not there; why.
    Down(String),
}

/// The processes, by node.
pub(crate) struct Fleet {
    program: Program,
    nodes: BTreeMap<u32, Node>,
}

/// This program, and who listens to it.
struct Program {
    path: PathBuf,
    listener: Option<Listener>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Node {
    launch: Launch,
    child: Option<Child>,
    stopped: bool,
    /// Whether it is to start again when it has ended.
    again: bool,
}

impl Fleet {
    /// Starts all of them. Call this from the thread that lives longest: the kernel may end the processes
    /// with that thread.
    pub(crate) fn start(launches: Vec<Launch>, listener: Option<Listener>) -> Result<Self, String> {
        let path =
            std::env::current_exe().map_err(|error| format!("cannot find the program itself: {error}"))?;
        let node = |launch: Launch| (launch.id, Node { launch, child: None, stopped: false, again: false });
        let program = Program { path, listener };
        let mut fleet = Self { program, nodes: launches.into_iter().map(node).collect() };
        for node in fleet.nodes.values_mut() {
            node.start(&fleet.program)?;
        }
        Ok(fleet)
    }

    /// All of them, as they are now.
    pub(crate) fn processes(&self) -> Vec<(u32, Process)> {
        self.nodes.iter().map(|(id, node)| (*id, node.process())).collect()
    }

    /// Ends a node at once.
    pub(crate) fn kill(&mut self, id: u32) -> Result<Process, String> {
        let node = node(&mut self.nodes, id)?;
        node.again = false;
        node.signal(Signal::SIGKILL)?;
        if let Some(mut child) = node.child.take() {
            let _ = child.wait();
        }
        Ok(Process::Down("killed".to_owned()))
    }

    /// Stops a node.
    pub(crate) fn stop(&mut self, id: u32) -> Result<Process, String> {
        let node = node(&mut self.nodes, id)?;
        node.signal(Signal::SIGSTOP)?;
        node.stopped = true;
        Ok(node.process())
    }

    /// Lets a stopped node go on.
    pub(crate) fn cont(&mut self, id: u32) -> Result<Process, String> {
        let node = node(&mut self.nodes, id)?;
        node.signal(Signal::SIGCONT)?;
        node.stopped = false;
        Ok(node.process())
    }

    /// Whether there is such a node.
    pub(crate) fn knows(&self, id: u32) -> bool {
        self.nodes.contains_key(&id)
    }

    /// Whether it runs, or is stopped.
    pub(crate) fn runs(&self, id: u32) -> bool {
        self.nodes.get(&id).is_some_and(|node| node.child.is_some())
    }

    /// Starts a node. A running node leaves first, and starts when it has left.
    pub(crate) fn restart(&mut self, id: u32) -> Result<Process, String> {
        let (program, nodes) = (&self.program, &mut self.nodes);
        let node = node(nodes, id)?;
        if node.child.is_some() {
            node.signal(Signal::SIGTERM)?;
            node.signal(Signal::SIGCONT)?;
            (node.again, node.stopped) = (true, false);
        } else {
            node.start(program)?;
        }
        Ok(node.process())
    }

    /// The processes that have ended since they were last looked at, and how they are now.
    pub(crate) fn reap(&mut self) -> Vec<(u32, Process)> {
        let mut news = Vec::new();
        for (id, node) in &mut self.nodes {
            let Some(Ok(Some(status))) = node.child.as_mut().map(Child::try_wait) else { continue };
            node.child = None;
            node.stopped = false;
            news.push((*id, Process::Down(how_it_ended(status))));
            if std::mem::take(&mut node.again) {
                let state = node.start(&self.program).map_or_else(Process::Down, |()| node.process());
                news.push((*id, state));
            }
        }
        news
    }

    fn signal_all(&self, signal: Signal) {
        for node in self.nodes.values() {
            // A process that has ended by itself needs no signal.
            let _ = node.signal(signal);
        }
    }
}

fn node(nodes: &mut BTreeMap<u32, Node>, id: u32) -> Result<&mut Node, String> {
    let count = nodes.len();
    nodes.get_mut(&id).ok_or_else(|| format!("there is no node {id}, expected one from 1 to {count}"))
}

impl Drop for Fleet {
    /// Asks all to leave, and then makes sure.
    fn drop(&mut self) {
        self.signal_all(Signal::SIGTERM);
        self.signal_all(Signal::SIGCONT);
        let limit = Instant::now() + LEAVE_TIMEOUT;
        while self.nodes.values().any(|node| node.child.is_some()) && Instant::now() < limit {
            self.nodes.values_mut().for_each(|node| node.again = false);
            self.reap();
            thread::sleep(LOOK_EVERY);
        }
        self.signal_all(Signal::SIGKILL);
        for child in self.nodes.values_mut().filter_map(|node| node.child.as_mut()) {
            let _ = child.wait();
        }
    }
}

impl Node {
    fn start(&mut self, program: &Program) -> Result<(), String> {
        let shown = self.launch.log.display();
        let log = File::options().create(true).append(true).open(&self.launch.log);
        let log = log.map_err(|error| format!("cannot write {shown}: {error}"))?;
        let same_log = log.try_clone().map_err(|error| format!("cannot write {shown}: {error}"))?;
        let mut command = Command::new(&program.path);
        command.args(&self.launch.arguments).stdin(Stdio::piped()).stderr(log);
        command.stdout(if program.listener.is_some() { Stdio::piped() } else { same_log.into() });
        // What is typed on the terminal is for this process alone, and its environment is for nobody's agent.
        command.process_group(0);
        let ours = std::env::vars_os().map(|(name, _)| name);
        for name in ours.filter(|name| name.to_string_lossy().starts_with("BELLWETHER_")) {
            command.env_remove(name);
        }
        let id = self.launch.id;
        let mut child = command.spawn().map_err(|error| format!("cannot start node {id}: {error}"))?;
        let stdout = child.stdout.take();
        (self.child, self.stopped) = (Some(child), false);
        match (&program.listener, stdout) {
            (Some(listener), Some(stdout)) => listener(id, stdout),
            _ => Ok(()),
        }
    }

    fn process(&self) -> Process {
        match (&self.child, self.stopped) {
            (Some(child), false) => Process::Up(child.id()),
            (Some(child), true) => Process::Stopped(child.id()),
            (None, _) => Process::Down("not started".to_owned()),
        }
    }

    fn signal(&self, signal: Signal) -> Result<(), String> {
        let id = self.launch.id;
        let child = self.child.as_ref().ok_or_else(|| format!("node {id} is not running"))?;
        // Not reaped yet, so the number is still this process's.
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("process ids are small"));
        kill(pid, signal).map_err(|error| format!("cannot signal node {id}: {error}"))
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "left".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(9)) => "killed".to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
