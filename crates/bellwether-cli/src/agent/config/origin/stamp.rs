//! Whether files are still the same, without reading them.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the file system says of some files, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<Option<Mark>>);

/// Of one file. One that is put in the place of another is another, even if it was written in the same moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    place: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// A file that is not there has no mark. Links are followed: secrets are often exchanged by a link.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a Path>) -> Self {
        Self(files.map(|file| file.metadata().ok().map(|file| Mark::of(&file))).collect())
    }
}

impl Mark {
    fn of(file: &Metadata) -> Self {
        Self {
            place: (file.dev(), file.ino()),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_shows() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("file"), dir.path().join("other"));
        let stamp = || Stamp::of([file.as_path()].into_iter());
        let mut before = stamp();
        let mut has_changed = || {
            let now = stamp();
            now != std::mem::replace(&mut before, now.clone())
        };
        assert!(!has_changed(), "it is not there, as before");
        fs::write(&file, "one").unwrap();
        assert!(has_changed());
        assert!(!has_changed());
        fs::write(&other, "two").unwrap();
        fs::rename(&other, &file).unwrap();
        assert!(has_changed());
        fs::write(&file, "longer").unwrap();
        assert!(has_changed());
        fs::remove_file(&file).unwrap();
        assert!(has_changed());
    }
}
