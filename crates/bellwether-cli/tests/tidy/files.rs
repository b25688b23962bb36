//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file of ours.
pub(super) struct SourceFile {
    /// From the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceFile {
    /// Whether it belongs to a crate in which all is a function of its inputs.
    pub(super) fn is_deterministic(&self) -> bool {
        ["crates/bellwether-proto/", "crates/bellwether-sim/"]
            .iter()
            .any(|krate| self.path.starts_with(krate))
    }

    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

/// Everything in the `src` and `tests` of every crate, in order.
pub(super) fn sources() -> Vec<SourceFile> {
    let crates = entries(&root().join("crates"));
    let dirs =
        crates.iter().flat_map(|krate| [krate.join("src"), krate.join("tests")]).filter(|dir| dir.exists());
    let files: Vec<_> = dirs
        .flat_map(|dir| walk(&dir, "rs"))
        .map(|file| SourceFile { path: shown(&file), text: fs::read_to_string(&file).unwrap() })
        .collect();
    assert!(
        files.iter().any(|file| file.path == "crates/bellwether-cli/tests/tidy/main.rs"),
        "they are found"
    );
    files
}

/// The files of that kind below a directory, in order; what is built or hidden is none of ours.
pub(super) fn walk(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(dir) {
        if path.is_dir() {
            if name(&path) != "target" {
                files.extend(walk(&path, extension));
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files
}

/// What a directory holds that is not hidden, in order.
pub(super) fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| !name(path).starts_with('.'))
        .collect();
    entries.sort();
    entries
}

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().expect("our files have plain names").to_owned()
}

pub(super) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_str().expect("our files have plain names").replace('\\', "/")
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is here")
}
