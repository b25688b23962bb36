//! A part of a state. Most steps change one part: the others are shared between states, and fingerprinted once.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

/// A part, copied when it is changed while another state has it, too.
#[derive(Clone, Debug)]
pub(super) struct Shared<T> {
    value: Arc<T>,
    /// 0 if it is not known.
    print: u64,
}

impl<T> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self { value: Arc::new(value), print: 0 }
    }
}

impl<T: Clone> Shared<T> {
    /// The part, to be changed.
    pub(super) fn change(&mut self) -> &mut T {
        self.print = 0;
        Arc::make_mut(&mut self.value)
    }
}

impl<T: Hash> Shared<T> {
    /// The same for equal parts.
    pub(super) fn fingerprint(&mut self, scratch: &mut Bytes) -> u64 {
        if self.print == 0 {
            self.print = scratch.fingerprint(&*self.value).max(1);
        }
        self.print
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// What is hashed, written down. One allocation serves a whole search.
#[derive(Debug, Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    pub(super) fn fingerprint(&mut self, value: &impl Hash) -> u64 {
        self.0.clear();
        value.hash(self);
        xxh3_64(&self.0)
    }
}

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        xxh3_64(&self.0)
    }
}
