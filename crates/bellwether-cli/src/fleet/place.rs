//! Where a cluster keeps its files, and how another terminal finds it.
//!
//! Each running `up` has a directory named after its process id, in a directory of the user with a fixed name. The
//! socket for orders is there, and a note that says where the cluster's files are.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, getuid};

/// Only the user may look into it: there are keys inside.
const PRIVATE: u32 = 0o700;
/// The note that says where the files are.
const NOTE: &str = "dir";

/// A cluster's place; removed at the end, except for a directory that was asked for.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where the socket is.
    run: PathBuf,
    /// Where the files are.
    pub(crate) dir: PathBuf,
}

impl Place {
    /// Makes a place, in `dir` if one is given.
    pub(crate) fn make(dir: Option<&Path>) -> Result<Self, String> {
        let root = root();
        private_dir(&root).map_err(|error| cannot_make(&root, &error))?;
        remove_leftovers(&root);
        let run = root.join(std::process::id().to_string());
        // Recursive: another that ends just now may take the root with it.
        DirBuilder::new()
            .mode(PRIVATE)
            .recursive(true)
            .create(&run)
            .map_err(|error| cannot_make(&run, &error))?;
        // From here on the place removes itself.
        let mut place = Self { dir: run.clone(), run };
        if let Some(dir) = dir {
            place.dir = empty_dir(dir)?;
        }
        let note = place.run.join(NOTE);
        fs::write(&note, place.dir.as_os_str().as_encoded_bytes())
            .map_err(|error| format!("cannot write {}: {error}", note.display()))?;
        Ok(place)
    }

    /// Where orders are taken.
    pub(crate) fn socket(&self) -> PathBuf {
        socket_in(&self.run)
    }

    /// Where a store of this fleet listens: the path is short enough, and only the user can connect.
    pub(crate) fn store(&self) -> PathBuf {
        self.run.join("store.sock")
    }

    /// Where an agent of this fleet listens, if the path of its own directory is too long.
    pub(crate) fn agent(&self, node: u32) -> PathBuf {
        self.run.join(format!("{node}.sock"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.run);
        // The last one puts out the light; with others there it is not empty, and stays.
        let _ = fs::remove_dir(root());
    }
}

/// Finds the cluster in `dir`, or the only one, and connects to it.
pub(crate) fn connect(dir: Option<&Path>) -> Result<UnixStream, String> {
    let mut running = running(&root());
    if let Some(dir) = dir {
        let wanted = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        running.retain(|(place, _)| *place == wanted);
    }
    match (running.len(), dir) {
        (1, _) => Ok(running.remove(0).1),
        (0, None) => Err("no cluster is up: start one with `bellwether up`".to_owned()),
        (0, Some(dir)) => Err(format!("no cluster is up in {}", dir.display())),
        (_, _) => {
            let dirs: Vec<_> = running.iter().map(|(dir, _)| format!("--dir {}", dir.display())).collect();
            Err(format!("{} clusters are up, say which: {}", running.len(), dirs.join(" or ")))
        }
    }
}

/// Every cluster of this user that answers, by its directory.
fn running(root: &Path) -> Vec<(PathBuf, UnixStream)> {
    let connect = |run: PathBuf| {
        let stream = UnixStream::connect(socket_in(&run)).ok()?;
        let dir = PathBuf::from(fs::read_to_string(run.join(NOTE)).ok()?);
        Some((dir.canonicalize().unwrap_or(dir), stream))
    };
    let mut running: Vec<_> = runs(root).into_iter().filter_map(connect).collect();
    running.sort_by(|(one, _), (other, _)| one.cmp(other));
    running
}

/// Removes what a killed process left.
fn remove_leftovers(root: &Path) {
    for run in runs(root) {
        let pid = run.file_name().and_then(|name| name.to_str()?.parse().ok());
        let is_alive = |pid| {
            pid != std::process::id().cast_signed() && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
        };
        if pid.is_some_and(|pid| !is_alive(pid)) {
            let _ = fs::remove_dir_all(&run);
        }
    }
}

fn runs(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn socket_in(run: &Path) -> PathBuf {
    run.join("control.sock")
}

/// The directory that everyone knows the name of.
fn root() -> PathBuf {
    let base = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir());
    base.unwrap_or_else(env::temp_dir).join(format!("bellwether-up-{}", getuid()))
}

/// Makes a directory that only the user can use, or checks that it is one.
fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE).recursive(true).create(path)?;
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() && found.uid() == getuid().as_raw() && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other("it is there, and others may write to it"))
}

/// Makes a directory for the files; one with something in it is not touched.
fn empty_dir(dir: &Path) -> Result<PathBuf, String> {
    DirBuilder::new().mode(PRIVATE).recursive(true).create(dir).map_err(|error| cannot_make(dir, &error))?;
    let mut entries = fs::read_dir(dir).map_err(|error| cannot_make(dir, &error))?;
    if entries.next().is_some() {
        return Err(format!("{} is not empty, expected a new directory", dir.display()));
    }
    dir.canonicalize().map_err(|error| cannot_make(dir, &error))
}

fn cannot_make(path: &Path, error: &io::Error) -> String {
    format!("cannot make {}: {error}", path.display())
}
