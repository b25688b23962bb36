//! Tests that are written in Python are run here: they need an interpreter, and the command.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cluster::{Process, undisturbed};
use crate::faults::skip_unless_required;

/// The oldest version that the client is for.
const OLDEST: &str = "(3, 9)";
/// All tests of a folder together do not take longer.
const TESTS_MAX: Duration = Duration::from_secs(300);

#[test]
fn the_client_for_python_keeps_to_the_protocol() {
    run("clients/python", "test_*.py", &[]);
}

#[test]
fn the_client_for_python_holds_names_of_real_agents() {
    run("clients/python", "real_agents.py", &[("BELLWETHER_BIN", env!("CARGO_BIN_EXE_bellwether"))]);
}

/// Runs the tests of a folder, those in such files. Those that cannot be run skip themselves, and say why.
#[track_caller]
pub(super) fn run(folder: &str, files: &str, variables: &[(&str, &str)]) {
    let Some(mut command) = python(&format!("the tests of {folder}")) else { return };
    let dir = tempfile::tempdir().expect("there is room for a test");
    let log = dir.path().join("said");
    let file = File::create(&log).unwrap();
    command.args(["-W", "error", "-m", "unittest", "discover", "-v", "-s", "tests", "-p", files]);
    let folder_path = root().join(folder);
    let paths =
        [root().join("clients/python/src"), folder_path.clone()].map(|path| path.display().to_string());
    command.env("PYTHONPATH", paths.join(":")).current_dir(folder_path).envs(variables.iter().copied());
    let mut process = Process::start(command.stdout(file.try_clone().unwrap()).stderr(file));
    let code = process.wait(TESTS_MAX);
    let said = fs::read_to_string(log).unwrap();
    assert_eq!(code, Some(0), "{said}");
    let whys: BTreeSet<_> = said.lines().filter_map(|line| Some(line.split_once("skipped ")?.1)).collect();
    // Past the test's output, which nobody sees.
    whys.iter().for_each(|why| drop(writeln!(io::stderr(), "skipped: {files} of {folder}: {why}")));
}

/// An interpreter that leaves nothing behind where it reads; `None` if there is none, and that may be.
#[track_caller]
pub(super) fn python(what: &str) -> Option<Command> {
    let mut asked = undisturbed(Path::new("python3"));
    let asked = asked.args(["-c", &format!("import sys; sys.exit(sys.version_info < {OLDEST})")]).status();
    let why = match asked {
        Ok(status) if status.success() => {
            let mut command = undisturbed(Path::new("python3"));
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            return Some(command);
        }
        Ok(_) => format!("python3 is older than {OLDEST}"),
        Err(error) => format!("python3 cannot be run: {error}"),
    };
    skip_unless_required("BELLWETHER_REQUIRE_PYTHON", what, &why);
    None
}

/// The root of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is here")
}
