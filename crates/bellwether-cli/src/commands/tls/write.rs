//! Puts files in place, each complete. New ones: all of them or none, and no existing file is replaced. Or in the place of those that are
//! there, one after the other.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::plan::{NewFile, Readers};
use crate::trouble::Trouble;

pub(super) fn all(directory: &Path, files: &[NewFile]) -> Result<(), Trouble> {
    if files.is_empty() {
        return Ok(());
    }
    let cannot =
        |path: &Path, error: &io::Error| Trouble::failed(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(directory).map_err(|error| cannot(directory, &error))?;
    let mut complete = Vec::new();
    for file in files {
        let path = directory.join(&file.name);
        let written = write(directory, file).map_err(|error| cannot(&path, &error))?;
        complete.push((written, path));
    }
    let mut placed = Placed(Vec::new());
    for (written, path) in complete {
        written.persist_noclobber(&path).map_err(|failure| cannot(&path, &failure.error))?;
        placed.0.push(path);
    }
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| cannot(directory, &error))?;
    placed.stay();
    Ok(())
}

/// In the place of those that are there, in that order. If one cannot be, those before it are replaced, and it is said.
pub(super) fn replace(directory: &Path, files: &[NewFile]) -> Result<(), Trouble> {
    let cannot =
        |path: &Path, error: &io::Error| Trouble::failed(format!("cannot write {}: {error}", path.display()));
    let mut complete = Vec::new();
    for file in files {
        let path = directory.join(&file.name);
        complete.push((write(directory, file).map_err(|error| cannot(&path, &error))?, path));
    }
    for (written, path) in complete {
        written.persist(&path).map_err(|failure| cannot(&path, &failure.error))?;
    }
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| cannot(directory, &error))
}

/// Beside its place and complete, on the disk.
fn write(directory: &Path, file: &NewFile) -> io::Result<NamedTempFile> {
    let mode = match file.readers {
        Readers::All => 0o644,
        Readers::Owner => 0o600,
    };
    let mut beside = Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(directory)?;
    beside.write_all(file.content.as_bytes())?;
    beside.as_file().sync_all()?;
    Ok(beside)
}

/// Files that were put in place, and go again unless all the others could be.
struct Placed(Vec<PathBuf>);

impl Placed {
    fn stay(mut self) {
        self.0.clear();
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        for path in &self.0 {
            // They were not there a moment ago. If one cannot be removed, the next attempt names it.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    #[test]
    fn all_files_are_there_or_none() {
        let dir = tempfile::tempdir().expect("there is room for a test");
        let file = |name: &str| NewFile {
            name: name.to_owned(),
            content: "new".to_owned(),
            readers: Readers::Owner,
        };
        let names = || {
            let entries = fs::read_dir(dir.path()).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        fs::write(dir.path().join("b"), "old").unwrap();
        let trouble = all(dir.path(), &[file("a"), file("b"), file("c")]).unwrap_err();
        assert!(trouble.status == Status::Failed && trouble.what.contains("/b: "), "{}", trouble.what);
        assert_eq!(names(), ["b"]);
        assert_eq!(fs::read_to_string(dir.path().join("b")).unwrap(), "old");
        fs::remove_file(dir.path().join("b")).unwrap();
        assert!(all(dir.path(), &[file("a"), file("b"), file("c")]).is_ok());
        assert_eq!(names(), ["a", "b", "c"]);
    }
}
