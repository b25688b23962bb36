//! A shard of a row: one of n pieces of which any k rebuild it.

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::job::{Job, Place};

/// One of the pieces into which a row is coded, with what is needed to trust it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Of which row.
    pub place: Place,
    /// Whose it is to keep: the nodes are numbered from 1.
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

/// The row of which these are shards; `None` if no k of them belong together, or what they give is not what was coded.
pub fn rebuild(job: &Job, place: Place, shards: &[Shard]) -> Option<Vec<u8>> {
    let usable = |shard: &&Shard| shard.place == place && shard.is_whole(job);
    let mut sums: Vec<_> = shards.iter().filter(usable).map(|shard| shard.row_sum).collect();
    sums.sort_unstable();
    sums.dedup();
    sums.into_iter().find_map(|row_sum| {
        let alike = shards.iter().filter(usable).filter(|shard| shard.row_sum == row_sum);
        let pieces = alike.map(|shard| (shard.node - 1, &*shard.bytes));
        let row = job.code.decode(job.row_len(place.tile), pieces)?;
        (crc32fast::hash(&row) == row_sum).then_some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::fractal;
    use crate::picture::{Picture, Tile};

    fn job() -> Job {
        Job { picture: Picture::new(130, 40).unwrap(), code: Code::new(6, 4).unwrap() }
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
        assert_eq!(rebuild(&job, place, &shards), None, "three of each, and four are needed");
        shards.push(Shard::all(&job, place, 2, &other).remove(0));
        assert_eq!(rebuild(&job, place, &shards), Some(other));
    }

    #[test]
    fn a_damaged_shard_is_as_good_as_none() {
        let job = job();
        let place = Place { tile: Tile(5), row: 7 };
        let row = row(&job, place);
        let mut shards = Shard::all(&job, place, 1, &row);
        shards[0].bytes[0] ^= 1;
        shards[4].view += 1;
        assert_eq!(rebuild(&job, place, &shards), Some(row));
        shards[5].row_sum ^= 1;
        assert_eq!(rebuild(&job, place, &shards), None);
    }
}
