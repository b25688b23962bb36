//! The picture: how large it is, and how it is cut into tiles.

use serde::{Deserialize, Serialize};

/// How wide a tile is; the last of a line may be narrower.
pub const TILE_WIDTH: u32 = 64;
/// How many rows a tile has; those of the last line may have fewer.
pub const TILE_HEIGHT: u32 = 32;
/// No picture has more, because one message says who works on which tile.
pub const TILES_MAX: u32 = 1024;

/// The size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    width: u32,
    height: u32,
}

/// A tile, by its place: from left to right, and line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tile(pub u16);

/// A size that no picture can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSize {
    /// It has no pixels.
    #[error("a picture needs a width and a height of at least 1 pixel, as in 480x320")]
    Empty,
    /// It has too many tiles.
    #[error(
        "{tiles} tiles of {TILE_WIDTH}x{TILE_HEIGHT} pixels; expected at most {TILES_MAX}, as 2048x1024 has"
    )]
    TooLarge {
        /// How many.
        tiles: u64,
    },
}

impl Picture {
    /// A picture of that size.
    ///
    /// # Errors
    /// If it has no pixels, or more than [`TILES_MAX`] tiles.
    pub fn new(width: u32, height: u32) -> Result<Self, BadSize> {
        let tiles = u64::from(width.div_ceil(TILE_WIDTH)) * u64::from(height.div_ceil(TILE_HEIGHT));
        match tiles {
            0 => Err(BadSize::Empty),
            tiles if tiles > u64::from(TILES_MAX) => Err(BadSize::TooLarge { tiles }),
            _ => Ok(Self { width, height }),
        }
    }

    /// In pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// In pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// How many tiles stand beside each other.
    pub fn columns(&self) -> u32 {
        self.width.div_ceil(TILE_WIDTH)
    }

    /// All tiles, in order.
    pub fn tiles(&self) -> impl ExactSizeIterator<Item = Tile> + use<> {
        let count = self.columns() * self.height.div_ceil(TILE_HEIGHT);
        (0..u16::try_from(count).expect("there are at most TILES_MAX")).map(Tile)
    }

    /// How many rows all tiles have together.
    pub fn row_count(&self) -> u32 {
        self.tiles().map(|tile| self.tile_height(tile)).sum()
    }

    /// Whether there is such a tile.
    pub fn has(&self, tile: Tile) -> bool {
        usize::from(tile.0) < self.tiles().len()
    }

    /// The tile's first pixel.
    pub fn origin(&self, tile: Tile) -> (u32, u32) {
        let (column, line) = (u32::from(tile.0) % self.columns(), u32::from(tile.0) / self.columns());
        (column * TILE_WIDTH, line * TILE_HEIGHT)
    }

    /// How long the tile's rows are.
    pub fn tile_width(&self, tile: Tile) -> u32 {
        TILE_WIDTH.min(self.width - self.origin(tile).0)
    }

    /// How many rows the tile has.
    pub fn tile_height(&self, tile: Tile) -> u32 {
        TILE_HEIGHT.min(self.height - self.origin(tile).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_pixel_once() {
        for (width, height) in [(1, 1), (64, 32), (65, 33), (480, 320), (2048, 1024), (100, 500)] {
            let picture = Picture::new(width, height).unwrap();
            let mut seen = vec![0; (width * height) as usize];
            for tile in picture.tiles() {
                let (left, top) = picture.origin(tile);
                for y in top..top + picture.tile_height(tile) {
                    for x in left..left + picture.tile_width(tile) {
                        seen[(y * width + x) as usize] += 1;
                    }
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{width}x{height}");
        }
    }

    #[test]
    fn a_picture_without_pixels_or_with_too_many_tiles_is_none() {
        for (width, height) in [(0, 10), (10, 0), (2049, 1024), (u32::MAX, u32::MAX)] {
            assert!(Picture::new(width, height).is_err(), "{width}x{height}");
        }
    }

    #[test]
    fn the_rows_are_those_of_all_tiles() {
        assert_eq!(Picture::new(480, 320).unwrap().row_count(), 8 * 320);
        assert_eq!(Picture::new(65, 33).unwrap().row_count(), 2 * 33);
    }
}
