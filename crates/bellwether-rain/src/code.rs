//! The code: a row becomes n shards, and any k of them become the row again.
//!
//! Reed and Solomon's, systematic: the first k shards are the row itself, in pieces. The paper uses array codes, which have
//! the same property.

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};
use serde::{Deserialize, Serialize};

/// Fewer nodes have no majority that survives a failure.
pub const NODES_MIN: u32 = 3;
/// More are hard to look at, and a view of all that reach each other is slow to agree on.
pub const NODES_MAX: u32 = 9;

/// How many shards there are, one for each node, and how many of them rebuild a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    nodes: u32,
    data: u32,
}

/// Numbers that make no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCode {
    /// Too few nodes, or too many.
    #[error("{0} nodes; expected {NODES_MIN} to {NODES_MAX}")]
    Nodes(u32),
    /// Nothing cannot be rebuilt from nothing.
    #[error("0 shards rebuild nothing; expected 1 to {}", nodes - 1)]
    NoData {
        /// How many nodes there are.
        nodes: u32,
    },
    /// If all are needed, none may fail.
    #[error("{data} shards of {nodes} are to rebuild a row, so that no node may fail; expected 1 to {}", nodes - 1)]
    NoneSpare {
        /// How many nodes there are.
        nodes: u32,
        /// How many shards are to rebuild a row.
        data: u32,
    },
}

impl Code {
    /// One shard for each of so many nodes, of which `data` rebuild.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn new(nodes: u32, data: u32) -> Result<Self, BadCode> {
        match (nodes, data) {
            (nodes, _) if !(NODES_MIN..=NODES_MAX).contains(&nodes) => Err(BadCode::Nodes(nodes)),
            (nodes, 0) => Err(BadCode::NoData { nodes }),
            (nodes, data) if data >= nodes => Err(BadCode::NoneSpare { nodes, data }),
            (nodes, data) => Ok(Self { nodes, data }),
        }
    }

    /// How many shards a row becomes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// How many shards rebuild a row.
    pub fn data(&self) -> u32 {
        self.data
    }

    /// How long the shards of a row of that length are. The arithmetic works on pairs of bytes.
    pub fn shard_len(&self, row_len: usize) -> usize {
        row_len.div_ceil(self.data as usize).next_multiple_of(2)
    }

    /// The shards of a row, in order.
    pub fn encode(&self, row: &[u8]) -> Vec<Vec<u8>> {
        let len = self.shard_len(row.len());
        let mut padded = row.to_vec();
        padded.resize(len * self.data as usize, 0);
        let mut shards: Vec<_> = padded.chunks(len).map(<[u8]>::to_vec).collect();
        let mut encoder = ReedSolomonEncoder::new(self.data as usize, self.spare(), len)
            .expect("few shards, of an even length, are supported");
        for shard in &shards {
            encoder.add_original_shard(shard).expect("as many as announced, of that length");
        }
        shards.extend(encoder.encode().expect("all have been added").recovery_iter().map(<[u8]>::to_vec));
        shards
    }

    /// The row of that length of which these are shards, by number; `None` if they do not suffice. Which row it is, is the
    /// caller's to check: shards of different rows give a third.
    pub fn decode<'a>(
        &self,
        row_len: usize,
        shards: impl IntoIterator<Item = (u32, &'a [u8])>,
    ) -> Option<Vec<u8>> {
        let (len, data) = (self.shard_len(row_len), self.data as usize);
        let mut pieces: Vec<Option<Vec<u8>>> = vec![None; data];
        let mut decoder = ReedSolomonDecoder::new(data, self.spare(), len).ok()?;
        for (index, shard) in shards {
            let index = index as usize;
            // What does not fit, or comes twice, is as if it were not there.
            if index < data {
                if decoder.add_original_shard(index, shard).is_ok() {
                    pieces[index] = Some(shard.to_vec());
                }
            } else {
                let _ = decoder.add_recovery_shard(index - data, shard);
            }
        }
        let restored = decoder.decode().ok()?;
        for (index, piece) in restored.restored_original_iter() {
            pieces[index] = Some(piece.to_vec());
        }
        let mut row = pieces.into_iter().collect::<Option<Vec<_>>>()?.concat();
        row.truncate(row_len);
        Some(row)
    }

    /// How many shards may be missing.
    fn spare(&self) -> usize {
        (self.nodes - self.data) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of `data` shards, for every code that there is.
    #[test]
    fn any_k_of_n_rebuild_a_row_and_fewer_do_not() {
        for nodes in NODES_MIN..=NODES_MAX {
            for data in 1..nodes {
                let code = Code::new(nodes, data).unwrap();
                let row: Vec<u8> = (0..61).map(|i| (i * 7 + nodes + data) as u8).collect();
                let shards = code.encode(&row);
                assert_eq!(shards.len(), nodes as usize);
                for choice in 0_u32..1 << nodes {
                    let chosen = (0..nodes).filter(|i| choice & (1 << i) != 0);
                    let chosen = chosen.map(|i| (i, shards[i as usize].as_slice()));
                    let rebuilt = code.decode(row.len(), chosen);
                    let expected = (choice.count_ones() >= data).then(|| row.clone());
                    assert_eq!(rebuilt, expected, "{choice:b} of {nodes}, {data}");
                }
            }
        }
    }

    #[test]
    fn shards_that_do_not_fit_are_not_used() {
        let code = Code::new(4, 2).unwrap();
        let row = [1, 2, 3, 4, 5];
        let shards = code.encode(&row);
        let short: &[u8] = &[1];
        let given = [(9, &*shards[0]), (0, short), (1, &*shards[1]), (1, &*shards[1]), (3, &*shards[3])];
        assert_eq!(code.decode(row.len(), given), Some(row.to_vec()));
        assert_eq!(code.decode(row.len(), [(1, &*shards[1]), (1, &*shards[1])]), None);
    }

    #[test]
    fn impossible_numbers_are_refused_by_name() {
        assert_eq!(Code::new(2, 1), Err(BadCode::Nodes(2)));
        assert_eq!(Code::new(10, 4), Err(BadCode::Nodes(10)));
        assert_eq!(Code::new(6, 0), Err(BadCode::NoData { nodes: 6 }));
        let refused = Code::new(6, 6).unwrap_err().to_string();
        assert_eq!(refused, "6 shards of 6 are to rebuild a row, so that no node may fail; expected 1 to 5");
        assert!(Code::new(6, 7).is_err() && Code::new(3, 2).is_ok());
    }
}
