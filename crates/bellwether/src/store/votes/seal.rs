//! A value in the file of votes: a version, the value in postcard's format, and a checksum.
//!
//! ```text
//! version u8 │ value │ CRC-32
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

const VERSION: u8 = 1;
const CHECKSUM: usize = 4;

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// A later version of this program wrote it.
    Newer { found: u8 },
    /// Its bytes are not those that were written.
    Damaged,
}

pub(super) fn seal<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes =
        postcard::to_extend(value, vec![VERSION]).expect("a growing buffer takes whatever is written to it");
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

pub(super) fn unseal<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Broken> {
    let (content, checksum) =
        bytes.len().checked_sub(CHECKSUM).map(|at| bytes.split_at(at)).ok_or(Broken::Damaged)?;
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return Err(Broken::Damaged);
    }
    match content.split_first() {
        Some((&VERSION, value)) => match postcard::take_from_bytes(value) {
            Ok((value, [])) => Ok(value),
            Ok(_) | Err(_) => Err(Broken::Damaged),
        },
        Some((&found, _)) if found > VERSION => Err(Broken::Newer { found }),
        Some(_) | None => Err(Broken::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_as_it_went_or_not_at_all() {
        let sealed = seal(&(7_u64, "seven"));
        assert_eq!(unseal::<(u64, String)>(&sealed), Ok((7, "seven".to_owned())));
        for at in 0..sealed.len() {
            let mut torn = sealed.clone();
            torn[at] ^= 1;
            assert_eq!(unseal::<(u64, String)>(&torn), Err(Broken::Damaged), "byte {at}");
            assert_eq!(unseal::<(u64, String)>(&sealed[..at]), Err(Broken::Damaged), "cut at {at}");
        }
        assert_eq!(unseal::<u64>(&sealed), Err(Broken::Damaged), "it goes on after its end");
    }

    #[test]
    fn a_later_version_is_told_from_damage() {
        let mut later = vec![VERSION + 1, 9, 9];
        later.extend(crc32fast::hash(&later).to_le_bytes());
        assert_eq!(unseal::<u64>(&later), Err(Broken::Newer { found: VERSION + 1 }));
    }
}
