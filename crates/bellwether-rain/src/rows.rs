//! Sets of rows, of a tile and of a picture.

use serde::{Deserialize, Serialize};

use crate::picture::{Picture, TILE_HEIGHT, Tile};

const _: () = assert!(TILE_HEIGHT <= u32::BITS, "a tile's rows are the bits of a number");

/// Rows of one tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows(u32);

impl Rows {
    /// No rows.
    pub const NONE: Self = Self(0);

    /// The first `count` rows.
    pub fn first(count: u32) -> Self {
        Self(u32::MAX.checked_shr(u32::BITS - count.min(u32::BITS)).unwrap_or(0))
    }

    /// Whether that row is among them.
    pub fn has(self, row: u32) -> bool {
        row < u32::BITS && self.0 & (1 << row) != 0
    }

    /// Adds a row.
    pub fn add(&mut self, row: u32) {
        assert!(row < TILE_HEIGHT, "a tile has {TILE_HEIGHT} rows");
        self.0 |= 1 << row;
    }

    /// Those that are in either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Those that are in both.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// How many.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS).filter(move |row| self.has(*row))
    }
}

/// Rows of every tile of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory(Vec<Rows>);

impl Inventory {
    /// No rows.
    pub fn none(picture: &Picture) -> Self {
        Self(vec![Rows::NONE; picture.tiles().len()])
    }

    /// All rows that there are.
    pub fn all(picture: &Picture) -> Self {
        Self(picture.tiles().map(|tile| Rows::first(picture.tile_height(tile))).collect())
    }

    /// Rows as another worker reports them; `None` if they are not of that picture. Rows that the picture does not have
    /// are left out.
    pub fn of(picture: &Picture, told: Vec<Rows>) -> Option<Self> {
        let all = Self::all(picture);
        (told.len() == all.0.len())
            .then(|| Self(told.into_iter().zip(all.0).map(|(rows, all)| rows.within(all)).collect()))
    }

    /// The rows of a tile.
    pub fn rows(&self, tile: Tile) -> Rows {
        self.0.get(usize::from(tile.0)).copied().unwrap_or_default()
    }

    /// The rows of a tile, to be changed.
    ///
    /// # Panics
    /// If there is no such tile.
    pub fn rows_mut(&mut self, tile: Tile) -> &mut Rows {
        &mut self.0[usize::from(tile.0)]
    }

    /// The tiles with their rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Tile, Rows)> {
        (0..).map(Tile).zip(self.0.iter().copied())
    }

    /// How many rows.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|rows| rows.count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_rows_are_sets() {
        assert_eq!(Rows::first(0), Rows::NONE);
        assert_eq!(Rows::first(32).count(), 32);
        let mut rows = Rows::first(3);
        rows.add(31);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [0, 1, 2, 31]);
        assert!(rows.has(31) && !rows.has(3) && !rows.has(32) && !rows.has(99));
        assert_eq!(rows.without(Rows::first(2)).iter().collect::<Vec<_>>(), [2, 31]);
        assert_eq!(rows.within(Rows::first(2)), Rows::first(2));
        assert_eq!(Rows::first(1).and(Rows::first(2)), Rows::first(2));
    }

    #[test]
    fn what_others_tell_is_cut_to_the_picture() {
        let picture = Picture::new(65, 33).unwrap();
        assert_eq!(Inventory::of(&picture, vec![Rows::NONE; 3]), None);
        let told = Inventory::of(&picture, vec![Rows::first(32); 4]).unwrap();
        assert_eq!(told, Inventory::all(&picture));
        assert_eq!(told.count(), picture.row_count());
        assert_eq!(told.rows(Tile(2)), Rows::first(1), "the lower tiles have one row");
        assert_eq!(told.rows(Tile(4)), Rows::NONE);
    }
}
