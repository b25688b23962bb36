//! Shards on a disk: a file for each tile, replaced as a whole.
//!
//! ```text
//!   "bwrain1\n"  then for each shard:  row u8 · view u64 · row_sum u32 · bytes · sum u32      (little endian)
//! ```
//!
//! All shards of a tile have one length, so that a damaged one does not hide the next. A file is written beside the old one
//! and put in its place: a process that is killed leaves the one or the other. Nothing is forced to the disk: shards that a
//! power failure destroys are rebuilt from the others.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::job::{Job, Place};
use crate::picture::{TILE_HEIGHT, Tile};
use crate::shard::Shard;

const MAGIC: &[u8; 8] = b"bwrain1\n";
/// What a shard takes beside its bytes.
const FRAME_LEN: usize = 1 + 8 + 4 + 4;

/// Where a node keeps its shards.
#[derive(Clone, Debug)]
pub struct Disk {
    dir: PathBuf,
    job: Job,
    node: u32,
}

/// What was found on a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Shards as they were written. The store checks whether they are still whole.
    pub shards: Vec<Shard>,
    /// Files, or ends of files, that hold no shards.
    pub unreadable: u32,
}

impl Disk {
    /// Uses that directory, which is made if it is missing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(dir: impl Into<PathBuf>, job: Job, node: u32) -> io::Result<Self> {
        let dir = dir.into();
        fs::create_dir_all(&dir)?;
        Ok(Self { dir, job, node })
    }

    /// What an earlier run of this worker left.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn load(&self) -> io::Result<Found> {
        let mut found = Found::default();
        for tile in self.job.picture.tiles() {
            match self.read(&self.path(tile)) {
                Ok(bytes) => self.parse(tile, &bytes, &mut found),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Replaces what is kept of a tile.
    ///
    /// # Errors
    /// If the disk does not take it. Then the old file is still there.
    pub fn save<'a>(&self, tile: Tile, shards: impl Iterator<Item = &'a Shard>) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        for shard in shards {
            bytes.push(u8::try_from(shard.place.row).expect("a tile has few rows"));
            bytes.extend(shard.view.to_le_bytes());
            bytes.extend(shard.row_sum.to_le_bytes());
            bytes.extend(&shard.bytes);
            bytes.extend(shard.sum.to_le_bytes());
        }
        let (path, new) = (self.path(tile), self.dir.join("new"));
        fs::write(&new, bytes)?;
        fs::rename(&new, &path)
    }

    fn path(&self, tile: Tile) -> PathBuf {
        self.dir.join(format!("tile-{}", tile.0))
    }

    /// Not more than a tile can have.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let most = MAGIC.len() + TILE_HEIGHT as usize * (FRAME_LEN + self.job.shard_len(Tile(0)));
        let mut bytes = Vec::new();
        File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn parse(&self, tile: Tile, bytes: &[u8], found: &mut Found) {
        let Some(shards) = bytes.strip_prefix(MAGIC) else {
            found.unreadable += 1;
            return;
        };
        let shards = shards.chunks_exact(FRAME_LEN + self.job.shard_len(tile));
        found.unreadable += u32::from(!shards.remainder().is_empty());
        found.shards.extend(shards.filter_map(|bytes| self.shard(tile, bytes)));
    }

    fn shard(&self, tile: Tile, bytes: &[u8]) -> Option<Shard> {
        let (row, rest) = bytes.split_first()?;
        let (view, rest) = rest.split_first_chunk()?;
        let (row_sum, rest) = rest.split_first_chunk()?;
        let (bytes, sum) = rest.split_last_chunk()?;
        Some(Shard {
            place: Place { tile, row: u32::from(*row) },
            node: self.node,
            view: u64::from_le_bytes(*view),
            row_sum: u32::from_le_bytes(*row_sum),
            bytes: bytes.to_vec(),
            sum: u32::from_le_bytes(*sum),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::picture::Picture;
    use crate::store::Store;

    fn job() -> Job {
        Job { picture: Picture::new(100, 32).unwrap(), code: Code::new(3, 2).unwrap() }
    }

    fn shards(tile: Tile, rows: u32) -> Vec<Shard> {
        let row = vec![9; job().row_len(tile)];
        (0..rows).map(|row_no| Shard::all(&job(), Place { tile, row: row_no }, 3, &row).remove(0)).collect()
    }

    #[test]
    fn what_was_saved_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path().join("shards"), job(), 1).unwrap();
        assert_eq!(disk.load().unwrap(), Found::default());
        for tile in [Tile(0), Tile(1)] {
            disk.save(tile, shards(tile, 1).iter()).unwrap();
            disk.save(tile, shards(tile, 32).iter()).unwrap();
        }
        let found = disk.load().unwrap();
        assert_eq!(
            found,
            Found { shards: [shards(Tile(0), 32), shards(Tile(1), 32)].concat(), unreadable: 0 }
        );
    }

    #[test]
    fn a_damaged_byte_costs_one_shard_and_a_torn_file_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path(), job(), 1).unwrap();
        disk.save(Tile(0), shards(Tile(0), 5).iter()).unwrap();
        let path = dir.path().join("tile-0");
        let whole = fs::read(&path).unwrap();
        for place in MAGIC.len()..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x40;
            fs::write(&path, bytes).unwrap();
            let mut store = Store::new(job(), 1);
            let found = disk.load().unwrap();
            let rejected =
                found.shards.into_iter().filter(|shard| store.restore(shard.clone()).is_err()).count();
            assert_eq!((store.len(), rejected), (4, 1), "byte {place}");
        }
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let found = disk.load().unwrap();
        assert_eq!((found.shards.len(), found.unreadable), (4, 1));
        fs::write(&path, b"something else").unwrap();
        assert_eq!(disk.load().unwrap(), Found { shards: Vec::new(), unreadable: 1 });
    }

    #[test]
    fn a_file_that_has_grown_is_not_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path(), job(), 1).unwrap();
        fs::write(dir.path().join("tile-0"), [MAGIC.as_slice(), &[0; 1 << 20]].concat()).unwrap();
        assert_eq!(disk.load().unwrap().shards.len(), 32);
    }
}
