//! A shard of a row: one of n pieces of which any k rebuild it.

use std::collections::BTreeMap;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::code::Pieces;
use crate::job::{Job, Place};
use crate::picture::Tile;
use crate::rows::Rows;

/// One of the pieces into which a row is coded, with what is needed to check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The row.
    pub place: Place,
    /// The node that keeps it. Nodes are numbered from 1.
    pub node: u32,
    /// The view in which it was made.
    pub view: u64,
    /// The checksum of the whole row: shards with different ones are not of one row.
    pub row_sum: u32,
    /// The piece.
    pub bytes: Vec<u8>,
    /// The checksum of all of the above.
    pub sum: u32,
}

impl Shard {
    /// All shards of a row, for all nodes in order.
    pub fn all(job: &Job, place: Place, view: u64, row: &[u8]) -> Vec<Self> {
        let row_sum = crc32fast::hash(row);
        let seal = |(node, bytes)| {
            let mut shard = Self { place, node, view, row_sum, bytes, sum: 0 };
            shard.sum = shard.right_sum(job);
            shard
        };
        job.nodes().zip(job.code.encode(row)).map(seal).collect()
    }

    /// Whether it is what was made: of this job, of the right length, and with the right checksum.
    pub fn is_whole(&self, job: &Job) -> bool {
        job.has(self.place)
            && job.nodes().any(|node| node == self.node)
            && self.bytes.len() == job.shard_len(self.place.tile)
            && self.sum == self.right_sum(job)
    }

    fn right_sum(&self, job: &Job) -> u32 {
        let mut hasher = Hasher::new();
        hasher.update(&job.salt());
        hasher.update(&self.place.tile.0.to_le_bytes());
        hasher.update(&self.place.row.to_le_bytes());
        hasher.update(&self.node.to_le_bytes());
        hasher.update(&self.view.to_le_bytes());
        hasher.update(&self.row_sum.to_le_bytes());
        hasher.update(&self.bytes);
        hasher.finalize()
    }
}

/// Rebuilds rows of a tile from these shards, by number. A row is missing from the result if no k of its shards belong
/// together, or if the rebuilt row has a wrong checksum.
pub fn rebuild(job: &Job, tile: Tile, rows: Rows, shards: &[Shard]) -> BTreeMap<u32, Vec<u8>> {
    // What is said to be the same row, by its checksum.
    let mut alike: BTreeMap<(u32, u32), Pieces<'_>> = BTreeMap::new();
    for shard in shards {
        let Place { tile: of, row } = shard.place;
        if of == tile && rows.has(row) && shard.is_whole(job) {
            alike.entry((row, shard.row_sum)).or_default().push((shard.node - 1, &shard.bytes));
        }
    }
    let (names, pieces): (Vec<_>, Vec<_>) = alike.into_iter().unzip();
    let decoded = names.into_iter().zip(job.code.decode(job.row_len(tile), &pieces));
    let right = decoded.filter_map(|((row, sum), bytes)| {
        let bytes = bytes.filter(|bytes| crc32fast::hash(bytes) == sum)?;
        Some((row, bytes))
    });
    right.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::fractal;
    use crate::picture::Picture;

    fn job() -> Job {
        Job { picture: Picture::new(130, 40).unwrap(), code: Code::new(6, 4).unwrap() }
    }

    fn rebuild_one(job: &Job, place: Place, shards: &[Shard]) -> Option<Vec<u8>> {
        rebuild(job, place.tile, Rows::first(32), shards).remove(&place.row)
    }

    fn row(job: &Job, place: Place) -> Vec<u8> {
        fractal::row(&job.picture, place.tile, place.row)
    }

    #[test]
    fn any_changed_bit_is_noticed() {
        let job = job();
        let place = Place { tile: Tile(1), row: 5 };
        let shard = Shard::all(&job, place, 7, &row(&job, place)).remove(2);
        assert!(shard.is_whole(&job));
        let bytes = postcard::to_allocvec(&shard).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let taken = postcard::from_bytes::<Shard>(&bytes).ok().filter(|shard| shard.is_whole(&job));
            assert_eq!(taken, None, "bit {bit}");
        }
    }

    #[test]
    fn a_shard_of_another_job_is_not_whole() {
        let place = Place { tile: Tile(0), row: 0 };
        let shard = Shard::all(&job(), place, 1, &row(&job(), place)).remove(0);
        let other = Job { picture: Picture::new(130, 39).unwrap(), ..job() };
        assert!(!shard.is_whole(&other));
    }

    #[test]
    fn shards_of_two_rows_are_not_mixed() {
        let job = job();
        let place = Place { tile: Tile(0), row: 0 };
        let (one, other) = (vec![1; 64], vec![2; 64]);
        let mut shards = Shard::all(&job, place, 1, &one);
        shards.truncate(3);
        shards.extend(Shard::all(&job, place, 2, &other).into_iter().skip(3));
        assert_eq!(rebuild_one(&job, place, &shards), None, "three of each, and four are needed");
        shards.push(Shard::all(&job, place, 2, &other).remove(0));
        assert_eq!(rebuild_one(&job, place, &shards), Some(other));
    }

    #[test]
    fn a_damaged_shard_is_as_good_as_none() {
        let job = job();
        let place = Place { tile: Tile(5), row: 7 };
        let row = row(&job, place);
        let mut shards = Shard::all(&job, place, 1, &row);
        shards[0].bytes[0] ^= 1;
        shards[4].view += 1;
        assert_eq!(rebuild_one(&job, place, &shards), Some(row));
        shards[5].row_sum ^= 1;
        assert_eq!(rebuild_one(&job, place, &shards), None);
    }
}
