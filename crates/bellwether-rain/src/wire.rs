//! What workers say to each other, and the frames in which it travels.
//!
//! ```text
//!   a connection:  the job's secret, once  ·  then frames:  length u32 (little endian)  ·  that many bytes
//! ```
//!
//! Requests are answered one by one, in order. Nothing is trusted: frames have a maximal length, lists are no longer
//! than the bytes that have been read, and anything that cannot be read ends the connection.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::picture::Tile;
use crate::rows::Rows;
use crate::shard::Shard;

/// No frame is longer.
pub const FRAME_MAX: usize = 64 * 1024;
/// One request is about at most this many tiles, so that their shards fit into a frame.
pub const TILES_AT_ONCE: usize = 16;

/// A secret that only the members of a job know. It protects from strangers, not from attackers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret(pub [u8; 16]);

/// What is asked of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Of which rows do you hold a shard? From now on take none that is older than that view.
    Have {
        /// The view for which this is asked; 0 if the asker is only an observer.
        view: u64,
    },
    /// Give me your shards of these rows.
    Get(Vec<(Tile, Rows)>),
    /// Keep these shards.
    Put(Vec<Shard>),
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The rows of every tile, and the tile at which it is at work.
    Have {
        /// For every tile, in order.
        rows: Vec<Rows>,
        /// The tile that it is working on. It may have computed a row of it that is not safe yet.
        at_work: Option<Tile>,
    },
    /// Those that it has.
    Shards(Vec<Shard>),
    /// What became of the shards.
    Kept {
        /// How many it keeps.
        kept: u32,
        /// How many it rejected for their checksum.
        damaged: u32,
        /// How many it rejected because they are older than what it knows.
        old: u32,
    },
    /// The request failed: the disk is full or broken, or too much was asked for.
    Failed,
}

/// Something that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// It is too long.
    #[error("a frame of {0} bytes; the longest allowed is {FRAME_MAX}")]
    TooLong(usize),
    /// It is no known message.
    #[error("a frame that is no known message")]
    Unknown,
}

/// A frame, its length first.
///
/// # Errors
/// If it is too long.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, BadFrame> {
    let body = postcard::to_allocvec(message).map_err(|_| BadFrame::Unknown)?;
    let len = check_len(body.len())?;
    Ok([&len.to_le_bytes(), &*body].concat())
}

/// How long the body of a frame is.
///
/// # Errors
/// If it is too long.
pub fn body_len(head: [u8; 4]) -> Result<usize, BadFrame> {
    let len = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
    check_len(len).map(|_| len)
}

/// What a frame's body says.
///
/// # Errors
/// If it says nothing known, or more than one thing.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, BadFrame> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok(_) | Err(_) => Err(BadFrame::Unknown),
    }
}

fn check_len(len: usize) -> Result<u32, BadFrame> {
    u32::try_from(len).ok().filter(|_| len <= FRAME_MAX).ok_or(BadFrame::TooLong(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::job::{Job, Place};
    use crate::picture::{Picture, TILES_MAX};
    use proptest::prelude::*;

    /// All rows of as many tiles as may be asked for at once, and as long as shards get.
    fn most_shards() -> Vec<Shard> {
        let job = Job { picture: Picture::new(2048, 1024).unwrap(), code: Code::new(9, 1).unwrap() };
        let tiles = job.picture.tiles().skip(1024 - TILES_AT_ONCE);
        let places = tiles.flat_map(|tile| (0..32).map(move |row| Place { tile, row }));
        places.map(|place| Shard::all(&job, place, u64::MAX, &[255; 64]).pop().unwrap()).collect()
    }

    #[test]
    fn the_longest_messages_fit_into_a_frame() {
        let rows = vec![Rows::first(32); TILES_MAX as usize];
        for answer in [Answer::Shards(most_shards()), Answer::Have { rows, at_work: Some(Tile(1023)) }] {
            let frame = encode(&answer).unwrap();
            assert_eq!(body_len(frame[..4].try_into().unwrap()), Ok(frame.len() - 4));
            assert_eq!(decode(&frame[4..]), Ok(answer));
        }
        encode(&Request::Put(most_shards())).unwrap();
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_read() {
        assert_eq!(body_len([255; 4]), Err(BadFrame::TooLong(u32::MAX as usize)));
        let twice = [most_shards(), most_shards()].concat();
        assert!(matches!(encode(&Request::Put(twice)), Err(BadFrame::TooLong(_))));
    }

    #[test]
    fn a_message_with_a_tail_is_none() {
        let mut frame = encode(&Request::Have { view: 3 }).unwrap();
        frame.push(0);
        assert_eq!(decode::<Request>(&frame[4..]), Err(BadFrame::Unknown));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Answer>(&bytes);
            if let Ok(request) = decode::<Request>(&bytes) {
                prop_assert_eq!(decode(&encode(&request).unwrap()[4..]), Ok(request));
            }
        }
    }
}
