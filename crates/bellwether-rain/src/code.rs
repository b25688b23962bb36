//! The code: a row becomes n shards, and any k of them become the row again.
//!
//! Reed and Solomon's, systematic: the first k shards are the row itself, in pieces. The paper uses array codes, which have
//! the same property.

use std::collections::BTreeMap;

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};
use serde::{Deserialize, Serialize};

use crate::picture::TILE_WIDTH;

/// Fewer nodes have no majority that survives a failure.
pub const NODES_MIN: u32 = 3;
/// More are hard to show, and take long to agree on a view.
pub const NODES_MAX: u32 = 9;

/// What the code works on at once.
const CHUNK: usize = 64;
const _: () =
    assert!(TILE_WIDTH as usize <= CHUNK, "a shard is never longer than a row, and fits into a chunk");

/// Shards of a row, by number.
pub type Pieces<'a> = Vec<(u32, &'a [u8])>;

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
    #[error("expected {NODES_MIN} to {NODES_MAX} nodes, not {0}")]
    Nodes(u32),
    /// At least one shard is needed to rebuild a row.
    #[error("0 shards rebuild nothing; expected 1 to {}", nodes - 1)]
    NoData {
        /// How many nodes there are.
        nodes: u32,
    },
    /// If all are needed, none may fail.
    #[error("if {data} of {nodes} shards are needed to rebuild a row, no node may fail; expected 1 to {}", nodes - 1)]
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

    /// Rebuilds rows of that length from these shards, given by number; `None` for rows with too few shards. The caller
    /// must check the result: shards of different rows give a wrong row.
    ///
    /// Rows that have the same shards are decoded together: working out how to replace a missing shard takes longer than
    /// doing it for a thousand rows.
    pub fn decode(&self, row_len: usize, rows: &[Pieces<'_>]) -> Vec<Option<Vec<u8>>> {
        let len = self.shard_len(row_len);
        assert!(len <= CHUNK, "rows are no longer than a tile is wide");
        let mut alike: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        let chosen: Vec<_> = rows.iter().map(|row| self.choose(len, row)).collect();
        for (at, row) in chosen.iter().enumerate().filter(|(_, row)| row.len() == self.data as usize) {
            alike.entry(row.keys().copied().collect()).or_default().push(at);
        }
        let mut decoded = vec![None; rows.len()];
        for (indices, places) in alike {
            let group: Vec<_> = places.iter().map(|at| &chosen[*at]).collect();
            for (at, row) in places.iter().zip(self.decode_alike(row_len, &indices, &group)) {
                decoded[*at] = row;
            }
        }
        decoded
    }

    /// As many shards as are needed. Shards of a wrong length are ignored.
    fn choose<'a>(&self, len: usize, row: &Pieces<'a>) -> BTreeMap<u32, &'a [u8]> {
        let fit = row.iter().filter(|(index, shard)| *index < self.nodes && shard.len() == len);
        let all: BTreeMap<_, _> = fit.copied().collect();
        all.into_iter().take(self.data as usize).collect()
    }

    fn decode_alike(
        &self,
        row_len: usize,
        indices: &[u32],
        rows: &[&BTreeMap<u32, &[u8]>],
    ) -> Vec<Option<Vec<u8>>> {
        let (len, data) = (self.shard_len(row_len), self.data);
        let joined = |index: &u32| rows.iter().flat_map(|row| spread(row[index])).collect::<Vec<_>>();
        let mut decoder = ReedSolomonDecoder::new(data as usize, self.spare(), rows.len() * CHUNK)
            .expect("few shards, of an even length, are supported");
        let mut pieces: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        for index in indices {
            let shard = joined(index);
            let added = match index.checked_sub(data) {
                None => decoder.add_original_shard(*index as usize, &shard),
                Some(spare) => decoder.add_recovery_shard(spare as usize, &shard),
            };
            added.expect("each once, and of that length");
            pieces.insert(*index, shard);
        }
        let restored = decoder.decode().expect("there are as many as are needed");
        let restored = restored.restored_original_iter().map(|(index, piece)| (index as u32, piece.to_vec()));
        pieces.extend(restored);
        let row = |at: usize| {
            let piece = |index| Some(gather(pieces.get(&index)?.chunks(CHUNK).nth(at)?, len));
            let mut row = (0..data).map(piece).collect::<Option<Vec<_>>>()?.concat();
            row.truncate(row_len);
            Some(row)
        };
        (0..rows.len()).map(row).collect()
    }

    /// How many shards may be missing.
    fn spare(&self) -> usize {
        (self.nodes - self.data) as usize
    }
}

/// A shard, spread over a chunk. The code combines the first half of a chunk with the second, so the halves of a shorter
/// shard go into the two halves.
fn spread(shard: &[u8]) -> [u8; CHUNK] {
    let (low, high) = shard.split_at(shard.len() / 2);
    let mut chunk = [0; CHUNK];
    chunk[..low.len()].copy_from_slice(low);
    chunk[CHUNK / 2..CHUNK / 2 + high.len()].copy_from_slice(high);
    chunk
}

/// The shard of that length that was spread.
fn gather(chunk: &[u8], len: usize) -> Vec<u8> {
    [&chunk[..len / 2], &chunk[CHUNK / 2..CHUNK / 2 + len / 2]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of `data` shards, for every code.
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
                    let chosen = chosen.map(|i| (i, shards[i as usize].as_slice())).collect();
                    let rebuilt = code.decode(row.len(), &[chosen]);
                    let expected = (choice.count_ones() >= data).then(|| row.clone());
                    assert_eq!(rebuilt, [expected], "{choice:b} of {nodes}, {data}");
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
        let given = vec![(9, &*shards[0]), (0, short), (1, &*shards[1]), (1, &*shards[1]), (3, &*shards[3])];
        assert_eq!(code.decode(row.len(), &[given]), [Some(row.to_vec())]);
        assert_eq!(code.decode(row.len(), &[vec![(1, &*shards[1]), (1, &*shards[1])]]), [None]);
    }

    /// Rows of every length, each with other shards missing, decoded all at once.
    #[test]
    fn rows_that_are_decoded_together_do_not_mix() {
        let code = Code::new(5, 3).unwrap();
        for len in 1..=64 {
            let rows: Vec<Vec<u8>> =
                (0..20_u32).map(|no| (0..len).map(|i| (i * 31 + no * 7) as u8).collect()).collect();
            let shards: Vec<_> = rows.iter().map(|row| code.encode(row)).collect();
            let pieces: Vec<Pieces<'_>> = (0..20_u32)
                .map(|no| {
                    (0..5)
                        .filter(|i| no % 10 != *i && (no / 2) % 5 != *i)
                        .map(|i| (i, &*shards[no as usize][i as usize]))
                        .collect()
                })
                .collect();
            let expected: Vec<_> = rows.into_iter().map(Some).collect();
            assert_eq!(code.decode(len as usize, &pieces), expected, "{len}");
        }
    }

    #[test]
    fn impossible_numbers_are_refused_by_name() {
        assert_eq!(Code::new(2, 1), Err(BadCode::Nodes(2)));
        assert_eq!(Code::new(10, 4), Err(BadCode::Nodes(10)));
        assert_eq!(Code::new(6, 0), Err(BadCode::NoData { nodes: 6 }));
        let refused = Code::new(6, 6).unwrap_err().to_string();
        assert_eq!(
            refused,
            "if 6 of 6 shards are needed to rebuild a row, no node may fail; expected 1 to 5"
        );
        assert!(Code::new(6, 7).is_err() && Code::new(3, 2).is_ok());
    }
}
