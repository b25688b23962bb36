//! Lists that arrive from outside. They are read entry by entry. No room is made for entries before they are
//! read, and there is a limit to how many are taken.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// For `#[serde(deserialize_with)]`: a list of at most `MAX` entries.
pub(crate) fn list<'de, const MAX: usize, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<MAX, T>(PhantomData))
}

struct Bounded<const MAX: usize, T>(PhantomData<T>);

impl<'de, const MAX: usize, T: Deserialize<'de>> Visitor<'de> for Bounded<MAX, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = seq.next_element()? {
            if entries.len() == MAX {
                return Err(Error::invalid_length(MAX + 1, &self));
            }
            // Twice as much room as was read, and no more: what is short costs little, however large an entry is.
            if entries.len() == entries.capacity() {
                entries.reserve_exact(entries.len().max(1));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}
