//! How many changes were kept, in a small file beside the database. After a crash the database takes a commit that it cannot read for one
//! that was not finished, and goes back to the one before: a bit that flipped in the last commit would be forgotten in silence. Here is
//! written what was finished, after it was. It is not synced, so it may be behind after the machine has failed, but never ahead.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use bellwether_proto::exclusive::ident::StoreId;

use super::seal::{seal, unseal};

/// Of one store. It has always the same length.
type Written = ([u8; 16], [u8; 8]);

#[derive(Debug)]
pub(super) struct Tally {
    file: File,
    store: StoreId,
}

impl Tally {
    pub(super) fn open(dir: &Path, store: StoreId) -> io::Result<Self> {
        let file = File::options().write(true).create(true).truncate(false).open(path(dir))?;
        Ok(Self { file, store })
    }

    /// So many are durable.
    pub(super) fn note(&mut self, commits: u64) {
        let written: Written = (self.store.0.to_le_bytes(), commits.to_le_bytes());
        // Without it damage may not be noticed here, but by other members.
        let _ = self.file.rewind().and_then(|()| self.file.write_all(&seal(&written)));
    }

    /// How many changes that store had kept, at least.
    pub(super) fn read(dir: &Path, store: StoreId) -> u64 {
        let written = fs::read(path(dir)).ok().and_then(|bytes| unseal::<Written>(&bytes).ok());
        let same = written.filter(|(of, _)| *of == store.0.to_le_bytes());
        same.map_or(0, |(_, commits)| u64::from_le_bytes(commits))
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("votes.count")
}
