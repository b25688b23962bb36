//! `bellwether up`: real agents, watched and broken.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::cluster::{DEADLINE, Process, bellwether, exists, wait_until};

/// A cluster that is up, and where it may be found: nowhere else, so that tests do not find each other's.
struct Up {
    run: TempDir,
    process: Process,
    lines: Receiver<String>,
    dir: PathBuf,
}

impl Up {
    fn start(args: &[&str]) -> Self {
        let run = tempfile::Builder::new().prefix("bw-").tempdir().unwrap();
        let mut process = Process::start(command(run.path()).args(args).stdout(Stdio::piped()));
        let lines = follow(process.child().stdout.take().unwrap());
        let mut up = Self { run, process, lines, dir: PathBuf::new() };
        up.dir = PathBuf::from(up.wait_for("files ").split_whitespace().nth(1).unwrap());
        up
    }

    /// The next line that has these words.
    #[track_caller]
    fn wait_for(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("never said: {words}"));
            if line.contains(words) {
                return line;
            }
        }
    }

    fn order(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = command(self.run.path()).args(args).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    /// The agents' processes.
    fn pids(&self) -> Vec<i32> {
        let (_, list) = self.order(&["list"]);
        list.lines().skip(1).filter_map(|row| row.split_whitespace().nth(1)?.parse().ok()).collect()
    }
}

fn command(run: &Path) -> Command {
    let mut command = bellwether();
    command.arg("up").env("XDG_RUNTIME_DIR", run).stderr(Stdio::piped());
    command
}

fn follow(out: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    lines
}

#[test]
fn the_leader_is_killed_and_the_next_one_leads() {
    let mut up = Up::start(&["--nodes", "3"]);
    let first = leader(&up.wait_for(" after the start"));
    let pids = up.pids();
    assert_eq!(pids.len(), 3);
    let (_, list) = up.order(&["list"]);
    let socket = list.lines().find_map(|row| row.trim_start().strip_prefix("1     /"));
    let socket = format!("/{}", socket.unwrap_or_else(|| panic!("no socket: {list}")));
    let (code, said, err) = crate::cluster::run(&["status", "--socket", &socket]);
    assert!(code == 0 && said.contains("cluster      up"), "{said}{err}");
    assert_eq!(up.order(&["kill", &first]), (Some(0), format!("node {first} killed\n")));
    let line = up.wait_for(" without a leader");
    let second = leader(&line);
    assert_ne!(first, second, "{line}");
    assert_eq!(up.order(&["kill", &first]), (Some(3), format!("error: node {first} is not running\n")));
    let nobody = "error: there is no node 7, expected one from 1 to 3\n".to_owned();
    assert_eq!(up.order(&["kill", "7"]), (Some(2), nobody));
    assert_eq!(up.order(&["start", &first]).0, Some(0));
    up.wait_for(&format!("node {first} started"));
    assert_eq!(up.order(&["stop", &second]).0, Some(0));
    assert_ne!(leader(&up.wait_for(" without a leader")), second);
    let pids = [pids, up.pids()].concat();
    up.process.terminate();
    assert_eq!(up.process.wait(DEADLINE), Some(0));
    assert_nothing_left(&up, &pids);
}

/// `   0.412s  node 1 leads, epoch 1; …`
fn leader(line: &str) -> String {
    let (_, rest) = line.split_once("  node ").unwrap_or_else(|| panic!("{line}"));
    rest.split_once(" leads").unwrap_or_else(|| panic!("{line}")).0.to_owned()
}

#[track_caller]
fn assert_nothing_left(up: &Up, pids: &[i32]) {
    assert!(pids.iter().all(|pid| !exists(*pid)), "{pids:?}");
    assert!(!up.dir.exists(), "{}", up.dir.display());
    assert_eq!(up.run.path().read_dir().unwrap().count(), 0);
}

#[test]
fn even_a_killed_cluster_leaves_no_process() {
    let mut up = Up::start(&["--nodes", "2"]);
    up.wait_for(" after the start");
    let pids = up.pids();
    up.order(&["stop", "2"]);
    up.process.signal(Signal::SIGKILL);
    assert_eq!(up.process.wait(DEADLINE), None);
    assert!(wait_until(DEADLINE, || pids.iter().all(|pid| !exists(*pid))), "{pids:?}");
    // Its files are removed by the next one.
    let status = command(up.run.path()).args(["--nodes", "1", "--for", "1ms"]).output().unwrap().status;
    assert_eq!(status.code(), Some(0));
    assert_nothing_left(&up, &pids);
}

#[test]
fn it_ends_by_itself_and_keeps_what_it_was_told_to_keep() {
    let run = tempfile::tempdir().unwrap();
    let dir = run.path().join("kept");
    let args = ["--nodes", "1", "--for", "300ms", "--dir", dir.to_str().unwrap()];
    let output = command(run.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.join("node-1/agent.toml").exists() && dir.join("node-1/log").exists());
    let output = command(run.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not empty"));
}

#[test]
fn several_clusters_are_told_apart() {
    let run = tempfile::tempdir().unwrap();
    let nothing = command(run.path()).args(["kill", "1"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&nothing.stderr).starts_with("error: no cluster is up"));
    let one = Up::start(&["--nodes", "1"]);
    let also = |args: &[&str]| {
        let output = command(one.run.path()).args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut other = Process::start(command(one.run.path()).args(["--nodes", "1"]).stdout(Stdio::piped()));
    let lines = follow(other.child().stdout.take().unwrap());
    while !lines.recv_timeout(DEADLINE).unwrap().contains(" after the start") {}
    let (code, err) = also(&["list"]);
    assert!(code == Some(3) && err.starts_with("error: 2 clusters are up, say which: --dir "), "{err}");
    assert_eq!(also(&["list", "--dir", one.dir.to_str().unwrap()]), (Some(0), String::new()));
    other.terminate();
    assert_eq!(other.wait(DEADLINE), Some(0));
    assert_eq!(also(&["list"]), (Some(0), String::new()));
}
