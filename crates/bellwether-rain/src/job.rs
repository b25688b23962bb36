//! The job that all workers do together.

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::picture::{Picture, Tile};

/// A picture, and the code in which it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What is computed.
    pub picture: Picture,
    /// How it is kept.
    pub code: Code,
}

/// A row of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Its tile.
    pub tile: Tile,
    /// Its number, from 0.
    pub row: u32,
}

impl Job {
    /// Whether the picture has such a row.
    pub fn has(&self, place: Place) -> bool {
        self.picture.has(place.tile) && place.row < self.picture.tile_height(place.tile)
    }

    /// How long the rows of a tile are, in bytes.
    pub fn row_len(&self, tile: Tile) -> usize {
        self.picture.tile_width(tile) as usize
    }

    /// How long the shards of a tile's rows are.
    pub fn shard_len(&self, tile: Tile) -> usize {
        self.code.shard_len(self.row_len(tile))
    }

    /// The nodes, of which each holds the shard of its number.
    pub fn nodes(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.code.nodes()
    }

    /// A value that differs between jobs. Checksums begin with it, so that a shard of another job is not accepted.
    pub(crate) fn salt(&self) -> [u8; 16] {
        let numbers = [self.picture.width(), self.picture.height(), self.code.nodes(), self.code.data()]
            .map(u32::to_le_bytes);
        let mut salt = [0; 16];
        salt.iter_mut().zip(numbers.as_flattened()).for_each(|(to, from)| *to = *from);
        salt
    }
}
