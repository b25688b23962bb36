//! What a member must not forget: one small file, replaced as a whole.
//!
//! ```text
//! magic 8 │ version u32 │ length u32 │ cluster's name │ id u32 │ incarnation u64 │ count u64 │ epoch u64 │ CRC-32
//! ```
//!
//! All numbers are little-endian. The magic, the version, the length and the checksum at the end have the same place in
//! every version, so that a newer file can be told from a damaged one. A file that is not exactly what this member wrote
//! is refused, never guessed at: a node that forgets its incarnation or its epoch may lead twice.

mod format;
mod memory;
mod scarce;
mod votes;

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use bellwether_proto::exclusive::ident::StoreId;
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Durable;

use format::Owner;

pub(crate) use memory::Memory;
pub(crate) use votes::{VotesError, VotesFile};

/// The open state of one member. No other process can open it while this value exists.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    owner: Owner,
    /// The directory itself. It is open from the beginning, so that what has been written can be made to last.
    handle: File,
    /// Held only for its lock.
    _lock: File,
    /// Whoever has the other end is told when nobody has this any more.
    _open: Sender<Infallible>,
}

/// Tells when a [`Store`] is closed.
#[derive(Debug)]
pub(crate) struct Closed(Receiver<Infallible>);

impl Closed {
    /// Waits for that, but no longer than this.
    pub(crate) fn wait(self, most: Duration) {
        let _ = self.0.recv_timeout(most);
    }
}

/// Why the state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The directory cannot be used.
    #[error("cannot use the data directory {}: {source}", dir.display())]
    Dir { dir: PathBuf, source: io::Error },
    /// Another process has it.
    #[error(
        "the data directory {} is in use by another process; two members cannot share one: stop the other, \
         or give this one a directory of its own", dir.display()
    )]
    Locked { dir: PathBuf },
    /// The file is there but cannot be read.
    #[error("cannot read the state file {}: {source}; nothing was changed", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file cannot be taken for this member's state.
    #[error("the state file {} {fault}; {}", path.display(), fault.remedy())]
    Unusable { path: PathBuf, fault: Fault },
    /// The new state could not be put in the place of the old.
    #[error("cannot {stage} {}: {source}; {}", path.display(), stage.left_behind())]
    Write { path: PathBuf, stage: Stage, source: io::Error },
    /// The votes cannot be read or written.
    #[error(transparent)]
    Votes(VotesError),
}

impl StoreError {
    /// Whether what is on the disk is not this member's state, rather than that the disk cannot be used.
    pub(crate) fn is_unusable(&self) -> bool {
        matches!(self, Self::Unusable { .. } | Self::Votes(VotesError::Unusable { .. }))
    }
}

/// What is wrong with a state file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// It is empty, or its end is missing.
    #[error("is cut off: it has {len} bytes and should have more")]
    Truncated { len: usize },
    /// Its bytes are not those that were written.
    #[error("is damaged: {what}")]
    Torn { what: &'static str },
    /// It was never a state file.
    #[error("is not a state file of bellwether")]
    Foreign,
    /// Another cluster's.
    #[error("belongs to the cluster {found:?}, not to this one")]
    OtherCluster { found: String },
    /// Another member's.
    #[error("belongs to node {found}, not to this one")]
    OtherNode { found: NodeId },
    /// Written by a later version of this program.
    #[error(
        "is of format {found}, which is newer than format {}, the latest that this build knows",
        format::VERSION
    )]
    Newer { found: u32 },
    /// Written by an earlier version of this program.
    #[error(
        "is of format {found}, which this build no longer reads; it reads format {} and later",
        format::OLDEST
    )]
    Older { found: u32 },
}

impl Fault {
    fn remedy(&self) -> &'static str {
        match self {
            Self::Truncated { .. } | Self::Torn { .. } => {
                "delete it to join as if the disk were new: the node then takes its incarnation from the clock. \
                 Do not put an old copy back: it would forget which epochs were used"
            }
            Self::Foreign => "move it away, or give this member another data directory",
            Self::OtherCluster { .. } | Self::OtherNode { .. } => {
                "give this member a data directory of its own, or put its name and id right"
            }
            Self::Newer { .. } => "run the version that wrote it, or a later one",
            Self::Older { .. } => {
                "run the version that wrote it, or delete it to join as if the disk were new: \
                 the node then takes its incarnation from the clock"
            }
        }
    }
}

/// A step of replacing the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Writing the new state beside the old.
    Write,
    /// Putting it in the old one's place.
    Replace,
    /// Making that last.
    Settle,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Write => "write the new state of",
            Self::Replace => "replace",
            Self::Settle => "make durable the new",
        })
    }
}

impl Stage {
    fn left_behind(self) -> &'static str {
        match self {
            Self::Write | Self::Replace => "the old state is still there",
            Self::Settle => "the new state is there, but a power failure may bring the old one back",
        }
    }
}

impl Store {
    /// Opens the state of that member in `dir`, which is made if it is missing. Returns what was kept; `None` if
    /// nothing was kept yet.
    ///
    /// # Errors
    /// If the directory cannot be used, another process uses it, or what is there is not this member's whole state.
    /// Nothing on the disk has been changed then, except that the directory and its lock file exist.
    pub(crate) fn open(
        dir: &Path,
        cluster: &str,
        id: NodeId,
    ) -> Result<(Self, Closed, Option<Durable>), StoreError> {
        let lock = lock(dir)?;
        let owner = Owner { cluster: cluster.to_owned(), id };
        let handle = File::open(dir).map_err(|source| StoreError::Dir { dir: dir.to_owned(), source })?;
        let (open, closed) = mpsc::channel();
        let store = Self { dir: dir.to_owned(), owner, handle, _lock: lock, _open: open };
        let kept = store.read()?;
        Ok((store, Closed(closed), kept))
    }

    /// Replaces what is kept. It is durable when this returns.
    ///
    /// # Errors
    /// If the disk does not take it; the error says which state is there now.
    pub(crate) fn write(&self, kept: &Durable) -> Result<(), StoreError> {
        let (path, new) = (self.path(), self.dir.join("state.new"));
        let failed = |stage| {
            let path = path.clone();
            move |source| StoreError::Write { path, stage, source }
        };
        let replaced = write_whole(&new, &format::encode(&self.owner, kept))
            .map_err(failed(Stage::Write))
            .and_then(|()| fs::rename(&new, &path).map_err(failed(Stage::Replace)));
        if replaced.is_err() {
            // The next write overwrites it in any case; this gives a full disk its bytes back.
            let _ = fs::remove_file(&new);
        }
        replaced?;
        self.handle.sync_all().map_err(failed(Stage::Settle))
    }

    /// The votes of that member, in the same directory and under the same lock. A new file has the id that is drawn for it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub(crate) fn votes(
        &self,
        fresh: impl FnOnce() -> Option<StoreId>,
    ) -> Result<(VotesFile, VoterKept), StoreError> {
        VotesFile::open(&self.dir, &self.owner, fresh).map_err(StoreError::Votes)
    }

    fn read(&self) -> Result<Option<Durable>, StoreError> {
        let path = self.path();
        let bytes = match read_bounded(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        match format::decode(&self.owner, &bytes) {
            Ok(kept) => Ok(Some(kept)),
            Err(fault) => Err(StoreError::Unusable { path, fault }),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.join("state")
    }
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let failed = |source| StoreError::Dir { dir: dir.to_owned(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock"));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = scarce::open(|| File::create(path))?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file that is longer than any state is foreign; its first bytes are enough to say so.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(format::LEN_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
