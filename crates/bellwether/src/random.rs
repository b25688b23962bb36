//! Numbers that nobody can guess and nobody else has.

use rustls::crypto::ring;

/// So many bytes; `None` if the system gives none.
pub(crate) fn bytes<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    ring::default_provider().secure_random.fill(&mut bytes).ok()?;
    Some(bytes)
}
