//! A demonstration that runs, and what it tells.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::cluster::{Process, bellwether, exists};

/// Nothing takes so long, even on a machine with other things to do.
const DEADLINE: Duration = Duration::from_secs(120);

/// One demonstration at a time: each has up to six workers, and as if they had a machine each.
static TURN: Mutex<()> = Mutex::new(());

/// A demonstration in a place of its own, so that tests do not find each other's.
pub(crate) struct Run {
    /// Where it may be found while it runs.
    place: TempDir,
    /// Where it puts the picture.
    home: TempDir,
    pub(crate) process: Process,
    lines: Receiver<String>,
    /// Everything that it told.
    pub(crate) told: Vec<Value>,
    _turn: MutexGuard<'static, ()>,
}

impl Run {
    /// `demo rain`, with a picture.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of("rain", |command, home| {
            command.arg("--out").arg(home.join("rain.png")).args(args);
        })
    }

    /// `demo writer`. It ends when it is told to.
    pub(crate) fn writer(args: &[&str]) -> Self {
        Self::of("writer", |command, _| {
            command.args(["--for", "1h"]).args(args);
        })
    }

    fn of(name: &str, arguments: impl FnOnce(&mut Command, &Path)) -> Self {
        // Another's failure is no reason to fail.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tempfile::Builder::new().prefix("bw-").tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let mut command = bellwether();
        command.args(["demo", name, "--json", "--dir"]).arg(home.path().join("files"));
        arguments(&mut command, home.path());
        command.env("XDG_RUNTIME_DIR", place.path()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command);
        let lines = follow(process.child().stdout.take().unwrap());
        Self { place, home, process, lines, told: Vec::new(), _turn: turn }
    }

    /// The next thing that it tells of that kind and for which that holds.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, event: &str, is: impl Fn(&Value) -> bool) -> Value {
        self.wait_after(self.told.len(), event, is)
    }

    /// The same, from a place in what it told on: what different workers say may come in any order.
    #[track_caller]
    pub(crate) fn wait_after(&mut self, mut from: usize, event: &str, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let told = self.told.iter().skip(from).find(|told| told["event"] == event && is(told));
            if let Some(told) = told {
                return told.clone();
            }
            from = self.told.len();
            let Ok(line) = self.lines.recv_timeout(DEADLINE) else {
                panic!("never told of {event}; told {:#?}", self.told)
            };
            self.told.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// The summary, at its end.
    #[track_caller]
    pub(crate) fn summary(&mut self) -> Value {
        self.summary_and(0)
    }

    /// The same, with that exit code.
    #[track_caller]
    pub(crate) fn summary_and(&mut self, code: i32) -> Value {
        let summary = self.wait_for("summary", |_| true);
        assert_eq!(self.process.wait(DEADLINE), Some(code), "{summary:#}");
        summary
    }

    /// What writers wrote.
    pub(crate) fn lines(&self) -> String {
        std::fs::read_to_string(self.home.path().join("files/lines.jsonl")).unwrap()
    }

    /// Does something to a worker, as from another terminal.
    #[track_caller]
    pub(crate) fn order(&self, verb: &str, node: u32) {
        let mut command: Command = bellwether();
        command.args(["up", verb, &node.to_string()]).env("XDG_RUNTIME_DIR", self.place.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{verb} {node}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The picture's bytes.
    pub(crate) fn picture(&self) -> Option<Vec<u8>> {
        std::fs::read(self.home.path().join("rain.png")).ok()
    }

    /// Where that worker keeps its shards.
    pub(crate) fn shards(&self, node: u32) -> PathBuf {
        self.home.path().join(format!("files/node-{node}/data/shards"))
    }

    /// Every process that was ever started.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let started = self.told.iter().filter(|told| told["event"] == "started");
        started.map(|told| i32::try_from(told["pid"].as_i64().unwrap()).unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn assert_nothing_runs(&self) {
        let left: Vec<_> = self.pids().into_iter().filter(|pid| exists(*pid)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(entries(self.place.path()), 0, "its socket is gone");
    }
}

fn entries(dir: &Path) -> usize {
    dir.read_dir().unwrap().count()
}

fn follow(out: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    lines
}
