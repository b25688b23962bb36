//! Runs the real binary, at the root of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The least that a scenario can say.
pub(crate) const LEAST: &str = "protocol = \"async-bully\"\nnodes = 2\nuntil = \"1s\"\n";

/// What came of a command.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// The standard output of a command that went as asked and had nothing to complain about.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }
}

pub(crate) fn bellwether(args: &[&str]) -> Outcome {
    let output = command(args).output().expect("the command runs");
    Outcome {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("it prints text"),
        err: String::from_utf8(output.stderr).expect("it prints text"),
    }
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    // As if called by hand: cargo leaves a mark in the environment of what it runs.
    command.args(args).current_dir(root()).stdin(Stdio::null()).env_remove("CARGO");
    command
}

/// The reports of `sim --json` with these further arguments, and the exit code.
#[track_caller]
pub(crate) fn reports(args: &[&str]) -> (i32, Vec<Value>) {
    let outcome = bellwether(&[&["sim", "--json"], args].concat());
    assert_eq!(outcome.err, "");
    (outcome.code, outcome.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

/// The report of `sim --json` on one file, and the exit code.
#[track_caller]
pub(crate) fn report(args: &[&str]) -> (i32, Value) {
    let (code, mut reports) = reports(args);
    assert_eq!(reports.len(), 1);
    (code, reports.remove(0))
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file in `scenarios`, in order.
pub(crate) fn scenarios() -> Vec<String> {
    let entries = fs::read_dir(root().join("scenarios")).expect("there are scenarios");
    let mut files: Vec<_> = entries
        .map(|entry| format!("scenarios/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|file| file.ends_with(".toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// A directory of a test's own, empty.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("the target directory is ours");
        Self(dir)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("the target directory has a plain name").to_owned()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("the target directory is ours");
        path
    }
}
