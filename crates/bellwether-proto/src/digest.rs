//! A hash that is fixed by its definition, so that every build on every machine agrees.

/// FNV-1a, 64 bits. It tells things apart; it does not protect from anybody.
pub(crate) fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, hash)
}
