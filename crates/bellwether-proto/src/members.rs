//! The members of a view.

use serde::{Deserialize, Serialize};

/// Some of the members of a roster, by rank: those of a view. Aligned as everything else is, or whatever may hold members
/// would be larger for it: events, and so what a node asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(Rust, packed(8))]
pub struct Members(pub u128);

impl Members {
    /// No roster whose members form views is larger.
    pub const MAX: usize = u128::BITS as usize;

    /// Those of these ranks, each below [`Members::MAX`].
    pub fn of(ranks: impl IntoIterator<Item = usize>) -> Self {
        Self(ranks.into_iter().fold(0, |bits, rank| bits | 1 << rank))
    }

    /// Whether that rank is among them.
    pub const fn contains(self, rank: usize) -> bool {
        rank < Self::MAX && self.0 >> rank & 1 == 1
    }

    /// Their ranks, strongest first.
    pub fn ranks(self) -> impl Iterator<Item = usize> {
        (0..Self::MAX).filter(move |rank| self.contains(*rank))
    }

    /// How many.
    pub const fn count(self) -> usize {
        self.0.count_ones() as usize
    }
}
