//! The shards that a node keeps for others, and which it refuses to keep.
//!
//! A store has a *fence*: the latest view for which it has reported its holdings. From then on it takes nothing that was
//! made in an older view, so that the report stays true: a worker that does not know yet that it was given up cannot add
//! to rows that have been handed on. The fence is not on the disk. A store that was opened again has none until it is
//! asked the next time. What it takes until then is correct, because a row is the same whichever worker computes it, but
//! it may have been computed twice.

use std::collections::BTreeMap;

use crate::job::{Job, Place};
use crate::picture::Tile;
use crate::rows::{Inventory, Rows};
use crate::shard::Shard;

/// The shards of one node.
#[derive(Clone, Debug)]
pub struct Store {
    job: Job,
    node: u32,
    fence: u64,
    shards: BTreeMap<Place, Shard>,
}

/// A shard that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was not there before, or an older one was.
    New,
    /// That very shard is there already.
    Known,
}

/// Why a shard was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It is damaged, or not for this node.
    #[error("its checksum is wrong")]
    Damaged,
    /// It was made in a view that is over.
    #[error("it is of view {view}, and this is view {newest}")]
    Old {
        /// The shard's view.
        view: u64,
        /// The latest view that the store knows of.
        newest: u64,
    },
}

impl Store {
    /// An empty store.
    pub fn new(job: Job, node: u32) -> Self {
        Self { job, node, fence: 0, shards: BTreeMap::new() }
    }

    /// Takes a shard.
    ///
    /// # Errors
    /// If it is damaged, of a view that is over, or older than the one that is there. Nothing has changed then.
    pub fn put(&mut self, shard: Shard) -> Result<Taken, Rejection> {
        if shard.node != self.node || !shard.is_whole(&self.job) {
            return Err(Rejection::Damaged);
        }
        let held = self.shards.get(&shard.place);
        let newest = held.map_or(0, |held| held.view).max(self.fence);
        if shard.view < newest {
            return Err(Rejection::Old { view: shard.view, newest });
        }
        if held == Some(&shard) {
            return Ok(Taken::Known);
        }
        self.shards.insert(shard.place, shard);
        Ok(Taken::New)
    }

    /// Takes a shard that was kept by an earlier run. It may be of any view.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn restore(&mut self, shard: Shard) -> Result<(), Rejection> {
        let fence = std::mem::take(&mut self.fence);
        let restored = self.put(shard);
        self.fence = fence;
        restored.map(drop)
    }

    /// Forgets a shard that could not be kept.
    pub fn forget(&mut self, place: Place) {
        self.shards.remove(&place);
    }

    /// From now on, takes nothing that is older than that view.
    pub fn raise_fence(&mut self, view: u64) {
        self.fence = self.fence.max(view);
    }

    /// The latest view for which it has reported its holdings.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Which rows it holds a shard of.
    pub fn inventory(&self) -> Inventory {
        let mut inventory = Inventory::none(&self.job.picture);
        for place in self.shards.keys() {
            inventory.rows_mut(place.tile).add(place.row);
        }
        inventory
    }

    /// Its shards of these rows.
    pub fn get(&self, tile: Tile, rows: Rows) -> impl Iterator<Item = &Shard> {
        rows.iter().filter_map(move |row| self.shards.get(&Place { tile, row }))
    }

    /// How many it holds.
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::picture::Picture;

    const PLACE: Place = Place { tile: Tile(0), row: 3 };

    fn job() -> Job {
        Job { picture: Picture::new(64, 32).unwrap(), code: Code::new(4, 2).unwrap() }
    }

    fn shard(view: u64) -> Shard {
        Shard::all(&job(), PLACE, view, &[7; 64]).remove(1)
    }

    #[test]
    fn a_shard_is_taken_once_and_replaced_by_a_newer_one() {
        let mut store = Store::new(job(), 2);
        assert_eq!(store.put(shard(4)), Ok(Taken::New));
        assert_eq!(store.put(shard(4)), Ok(Taken::Known));
        assert_eq!(store.put(shard(5)), Ok(Taken::New));
        assert_eq!(store.put(shard(4)), Err(Rejection::Old { view: 4, newest: 5 }));
        assert_eq!(store.len(), 1);
        assert_eq!(store.inventory().rows(Tile(0)).iter().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn behind_the_fence_nothing_old_comes_in() {
        let mut store = Store::new(job(), 2);
        store.raise_fence(6);
        store.raise_fence(5);
        assert_eq!(store.put(shard(5)), Err(Rejection::Old { view: 5, newest: 6 }));
        assert!(store.is_empty());
        assert_eq!(store.put(shard(6)), Ok(Taken::New));
    }

    #[test]
    fn what_comes_back_from_the_disk_may_be_old_but_must_be_whole() {
        let mut store = Store::new(job(), 2);
        store.raise_fence(6);
        assert_eq!(store.restore(shard(1)), Ok(()));
        assert_eq!(store.fence(), 6);
        let mut damaged = shard(7);
        damaged.bytes[0] ^= 1;
        assert_eq!(store.restore(damaged), Err(Rejection::Damaged));
        assert_eq!(store.get(Tile(0), Rows::first(32)).collect::<Vec<_>>(), [&shard(1)]);
    }

    #[test]
    fn a_shard_for_another_node_is_not_taken() {
        assert_eq!(Store::new(job(), 1).put(shard(1)), Err(Rejection::Damaged));
    }
}
