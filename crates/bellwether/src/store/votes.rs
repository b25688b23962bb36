//! What a voter must not forget: a small database, `votes.redb`, beside the state file.
//!
//! | table | key | value |
//! |---|---|---|
//! | `about` | `format`, `owner`, `store`, `commits`, `promised` | whose votes these are, how many changes were kept, the ballot that is promised |
//! | `accepted` | a name | what was accepted of it last |
//! | `dead` | a node | up to which lease all of that node's are dead |
//! | `lives` | a node | its latest life |
//!
//! Values are [sealed](seal). The changes of one commit, and the number of changes kept with them, are one transaction: after a crash
//! all of them are there, or none. A file that is not exactly this member's is refused, never guessed at: a voter that forgets what
//! it promised may help two to lead.

mod seal;
mod tally;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use bellwether_proto::exclusive::ident::StoreId;
use bellwether_proto::exclusive::voter::{Change, VoterKept};
use bellwether_proto::ident::NodeId;
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use serde::de::DeserializeOwned;

use super::format::Owner;
use tally::Tally;

type Bytes = TableDefinition<'static, &'static [u8], &'static [u8]>;
type ByNode = TableDefinition<'static, u32, &'static [u8]>;

const ABOUT: TableDefinition<'static, &'static str, &'static [u8]> = TableDefinition::new("about");
const ACCEPTED: Bytes = TableDefinition::new("accepted");
const DEAD: ByNode = TableDefinition::new("dead");
const LIVES: ByNode = TableDefinition::new("lives");

/// The format that this build reads and writes.
const FORMAT: u32 = 1;

/// Every such database begins with this.
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// Everything is in the node's memory already.
const CACHE: usize = 4 << 20;

/// The votes of one member, open. Whoever has it has the directory's lock, too.
#[derive(Debug)]
pub(crate) struct VotesFile {
    path: PathBuf,
    database: Database,
    /// How many changes it has kept.
    commits: u64,
    tally: Tally,
}

/// Why votes cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VotesError {
    /// The file cannot be taken for this member's votes.
    #[error("the file of votes {} {fault}; {}", path.display(), fault.remedy())]
    Unusable { path: PathBuf, fault: VotesFault },
    /// The file cannot be read or made.
    #[error("cannot open the file of votes {}: {source}", path.display())]
    Open { path: PathBuf, source: Box<redb::Error> },
    /// What was to be kept is not.
    #[error("cannot write votes to {}: {source}; what it held before is still there", path.display())]
    Write { path: PathBuf, source: Box<redb::Error> },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers, and a new file of votes needs one")]
    Random,
}

/// What is wrong with a file of votes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VotesFault {
    /// Its bytes are not those that were written.
    #[error("is damaged: {what}")]
    Damaged { what: String },
    /// It was never a file of votes.
    #[error("is not a file of votes of bellwether")]
    Foreign,
    /// Another cluster's.
    #[error("belongs to the cluster {found:?}, not to this one")]
    OtherCluster { found: String },
    /// Another member's.
    #[error("belongs to node {found}, not to this one")]
    OtherNode { found: NodeId },
    /// Written by a later version of this program.
    #[error("is of format {found}, which is newer than format {FORMAT}, the latest that this build knows")]
    Newer { found: u32 },
}

impl VotesFault {
    fn remedy(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "move it away to join as a voter whose disk was lost: the others go on without this one's vote, until `members \
                 replace` lets it vote again. Do not put an old copy back: it would forget what was promised"
            }
            Self::Foreign => "move it away, or give this member another data directory",
            Self::OtherCluster { .. } | Self::OtherNode { .. } => {
                "give this member a data directory of its own, or put its name and id right"
            }
            Self::Newer { .. } => "run the version that wrote it, or a later one",
        }
    }
}

impl VotesFile {
    /// Opens the votes in `dir`, or makes a new file with that id.
    ///
    /// # Errors
    /// If there is a file that is not this member's whole state. Then what it holds has not been changed.
    pub(super) fn open(
        dir: &Path,
        owner: &Owner,
        fresh: impl FnOnce() -> Option<StoreId>,
    ) -> Result<(Self, VoterKept), VotesError> {
        let (path, new) = (dir.join("votes.redb"), dir.join("votes.new"));
        remove(&new).map_err(|source| cannot_open(&path, source))?;
        if begins_well(&path)?.is_none() {
            make(dir, &path, owner, fresh().ok_or(VotesError::Random)?)?;
        }
        // A database that was not closed is repaired when it is opened. That is done to a copy: one that is refused stays as it was.
        fs::copy(&path, &new).map_err(|source| cannot_open(&path, source))?;
        let opened = open_whole(&path, &new, owner).and_then(|opened| {
            if opened.1.commits < Tally::read(dir, opened.1.store) {
                return Err(damaged(&path, "its last commits cannot be read"));
            }
            put_in_place(dir, &path, &new).map_err(|source| cannot_open(&path, source))?;
            Ok(opened)
        });
        if opened.is_err() {
            let _ = fs::remove_file(&new);
        }
        let (database, kept) = opened?;
        let mut tally = Tally::open(dir, kept.store).map_err(|source| cannot_open(&path, source))?;
        tally.note(kept.commits);
        Ok((Self { path, database, commits: kept.commits, tally }, kept))
    }

    /// Keeps these changes, in order. They are durable when this returns, and so is how many there were by now.
    ///
    /// # Errors
    /// If the disk does not take them. Then none of them is kept.
    pub(crate) fn keep(&mut self, changes: &[Change]) -> Result<u64, VotesError> {
        let commits = self.commits + changes.len() as u64;
        let kept = || -> Result<(), redb::Error> {
            let transaction = self.database.begin_write()?;
            changes.iter().try_for_each(|change| put(&transaction, change))?;
            transaction.open_table(ABOUT)?.insert("commits", seal::seal(&commits).as_slice())?;
            Ok(transaction.commit()?)
        };
        kept().map_err(|source| VotesError::Write { path: self.path.clone(), source: Box::new(source) })?;
        self.commits = commits;
        self.tally.note(commits);
        Ok(commits)
    }
}

/// Whether there is a file, and it begins as such a database does.
fn begins_well(path: &Path) -> Result<Option<()>, VotesError> {
    let failed = |source| cannot_open(path, source);
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mut begins = Vec::new();
    Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut begins).map_err(failed)?;
    match begins.as_slice() {
        whole if whole == MAGIC => Ok(Some(())),
        short if MAGIC.starts_with(short) => Err(damaged(path, "it is cut off")),
        _ => Err(unusable(path, VotesFault::Foreign)),
    }
}

/// Makes the file beside its place, and puts it there when it is whole: half a file would be taken for a damaged one.
fn make(dir: &Path, path: &Path, owner: &Owner, store: StoreId) -> Result<(), VotesError> {
    let new = dir.join("votes.new");
    let made = || -> Result<(), redb::Error> {
        let database = Database::builder().set_cache_size(CACHE).create(&new)?;
        let transaction = database.begin_write()?;
        for table in [DEAD, LIVES] {
            transaction.open_table(table)?;
        }
        transaction.open_table(ACCEPTED)?;
        let mut about = transaction.open_table(ABOUT)?;
        about.insert("format", FORMAT.to_le_bytes().as_slice())?;
        about.insert("owner", seal::seal(&(&owner.cluster, owner.id)).as_slice())?;
        about.insert("store", seal::seal(&store).as_slice())?;
        about.insert("commits", seal::seal(&0_u64).as_slice())?;
        drop(about);
        transaction.commit()?;
        drop(database);
        Ok(put_in_place(dir, path, &new)?)
    };
    made().map_err(|source| VotesError::Open { path: path.to_owned(), source: Box::new(source) })
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn put_in_place(dir: &Path, path: &Path, new: &Path) -> io::Result<()> {
    File::open(new)?.sync_all()?;
    fs::rename(new, path)?;
    File::open(dir)?.sync_all()
}

/// Opens that copy of the votes at `path`, if all of it can be read.
fn open_whole(path: &Path, copy: &Path, owner: &Owner) -> Result<(Database, VoterKept), VotesError> {
    // What is read of a file that is damaged may lead the database astray.
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let opened = Database::builder().set_cache_size(CACHE).open(copy);
        // One that is refused is not closed, either.
        let mut database = ManuallyDrop::new(opened.map_err(|error| misread(path, error.into()))?);
        let kept = read(path, &database, owner)?;
        let whole = database.check_integrity().map_err(|error| misread(path, error.into()))?;
        // What was repaired must not have gone back to what was before.
        if !whole && read(path, &database, owner)? != kept {
            return Err(damaged(path, "its last commits cannot be read"));
        }
        Ok((ManuallyDrop::into_inner(database), kept))
    }));
    opened.unwrap_or_else(|_| Err(damaged(path, "it cannot be read")))
}

/// All of it. The format is looked at before anything else, and then whose it is.
fn read(path: &Path, database: &Database, owner: &Owner) -> Result<VoterKept, VotesError> {
    let about = About::read(path, database)?;
    about.check(path, owner)?;
    let mut kept = VoterKept::new(about.need("store")?);
    (kept.commits, kept.promised) = (about.need("commits")?, about.get("promised")?);
    let misread = |error: redb::Error| misread(path, error);
    let transaction = database.begin_read().map_err(|error| misread(error.into()))?;
    let table = transaction.open_table(ACCEPTED).map_err(|error| misread(error.into()))?;
    for row in table.iter().map_err(|error| misread(error.into()))? {
        let (name, accepted) = row.map_err(|error| misread(error.into()))?;
        kept.accepted.insert(unseal(path, name.value())?, unseal(path, accepted.value())?);
    }
    kept.dead = by_node(path, &transaction, DEAD)?;
    kept.lives = by_node(path, &transaction, LIVES)?;
    Ok(kept)
}

fn by_node<T: DeserializeOwned>(
    path: &Path,
    transaction: &ReadTransaction,
    table: ByNode,
) -> Result<BTreeMap<NodeId, T>, VotesError> {
    let misread = |error: redb::Error| misread(path, error);
    let table = transaction.open_table(table).map_err(|error| misread(error.into()))?;
    let mut found = BTreeMap::new();
    for row in table.iter().map_err(|error| misread(error.into()))? {
        let (node, value) = row.map_err(|error| misread(error.into()))?;
        found.insert(NodeId(node.value()), unseal(path, value.value())?);
    }
    Ok(found)
}

/// What the file says about itself.
struct About<'a> {
    path: &'a Path,
    fields: Vec<(String, Vec<u8>)>,
}

impl<'a> About<'a> {
    fn read(path: &'a Path, database: &Database) -> Result<Self, VotesError> {
        let rows = || -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
            let table = database.begin_read()?.open_table(ABOUT)?;
            let mut fields = Vec::new();
            for row in table.iter()? {
                let (name, value) = row?;
                fields.push((name.value().to_owned(), value.value().to_vec()));
            }
            Ok(fields)
        };
        let fields = rows().map_err(|error| match error {
            redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
                unusable(path, VotesFault::Foreign)
            }
            error => misread(path, error),
        })?;
        Ok(Self { path, fields })
    }

    fn check(&self, path: &Path, owner: &Owner) -> Result<(), VotesError> {
        let format = self.bytes("format").and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        match format {
            None | Some(0) => return Err(damaged(path, "it does not say its format")),
            Some(found) if found > FORMAT => return Err(unusable(path, VotesFault::Newer { found })),
            Some(_) => {}
        }
        let (cluster, id): (String, NodeId) = self.need("owner")?;
        if cluster != owner.cluster {
            return Err(unusable(path, VotesFault::OtherCluster { found: cluster }));
        }
        if id != owner.id {
            return Err(unusable(path, VotesFault::OtherNode { found: id }));
        }
        Ok(())
    }

    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, bytes)| bytes.as_slice())
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, VotesError> {
        self.bytes(name).map(|bytes| unseal(self.path, bytes)).transpose()
    }

    fn need<T: DeserializeOwned>(&self, name: &str) -> Result<T, VotesError> {
        self.get(name)?.ok_or_else(|| damaged(self.path, &format!("it has no `{name}`")))
    }
}

fn put(transaction: &WriteTransaction, change: &Change) -> Result<(), redb::Error> {
    match change {
        Change::Promised(ballot) => {
            transaction.open_table(ABOUT)?.insert("promised", seal::seal(ballot).as_slice())?;
        }
        Change::Accepted(name, accepted) => {
            let (name, accepted) = (seal::seal(name), seal::seal(accepted));
            transaction.open_table(ACCEPTED)?.insert(name.as_slice(), accepted.as_slice())?;
        }
        Change::Dead(node, age) => {
            transaction.open_table(DEAD)?.insert(node.0, seal::seal(age).as_slice())?;
        }
        Change::Met(life) => {
            transaction.open_table(LIVES)?.insert(life.node.0, seal::seal(life).as_slice())?;
        }
        Change::Dropped(name) => {
            transaction.open_table(ACCEPTED)?.remove(seal::seal(name).as_slice())?;
        }
    }
    Ok(())
}

fn unseal<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, VotesError> {
    seal::unseal(bytes).map_err(|broken| match broken {
        seal::Broken::Newer { found } => unusable(path, VotesFault::Newer { found: found.into() }),
        seal::Broken::Damaged => damaged(path, "a value in it is not what was written"),
    })
}

/// The database says that it cannot read on.
fn misread(path: &Path, error: redb::Error) -> VotesError {
    match error {
        redb::Error::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
            damaged(path, "it is cut off")
        }
        redb::Error::Io(_) | redb::Error::DatabaseAlreadyOpen | redb::Error::PreviousIo => {
            VotesError::Open { path: path.to_owned(), source: Box::new(error) }
        }
        error => damaged(path, &error.to_string()),
    }
}

fn cannot_open(path: &Path, source: io::Error) -> VotesError {
    VotesError::Open { path: path.to_owned(), source: Box::new(source.into()) }
}

fn damaged(path: &Path, what: &str) -> VotesError {
    unusable(path, VotesFault::Damaged { what: what.to_owned() })
}

fn unusable(path: &Path, fault: VotesFault) -> VotesError {
    VotesError::Unusable { path: path.to_owned(), fault }
}

#[cfg(test)]
mod tests;
