//! Equal things kept once. Millions of states are made of few machines: what each could be by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use crate::visited::Table;

/// Things by what they exactly are.
#[derive(Debug)]
pub(super) struct Interned<T> {
    shards: Box<[Mutex<Shard<T>>]>,
}

type Shard<T> = Table<Kept<T>>;

/// A thing, and the half of its fingerprint that is not its key.
#[derive(Debug)]
struct Kept<T> {
    check: u64,
    thing: Option<Arc<T>>,
}

const SHARDS: usize = 16;

impl<T> Interned<T> {
    pub(super) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::new(Table::new())).collect() }
    }

    /// What is kept under that fingerprint.
    pub(super) fn get(&self, print: u128) -> Option<Arc<T>> {
        let (key, check) = halves(print);
        let shard = self.shard(check);
        match shard.get(key) {
            Some(Kept { check: kept, thing: Some(known) }) if *kept == check => Some(Arc::clone(known)),
            Some(_) | None => None,
        }
    }

    /// The thing of that fingerprint, kept before or from now on.
    pub(super) fn share(&self, print: u128, thing: T) -> Arc<T> {
        let (key, check) = halves(print);
        let mut shard = self.shard(check);
        match shard.get(key) {
            Some(Kept { check: kept, thing: Some(known) }) if *kept == check => Arc::clone(known),
            Some(_) => Arc::new(thing), // Half a collision: it is not kept, which only costs memory.
            None => {
                let thing = Arc::new(thing);
                shard.insert(key, Kept { check, thing: Some(Arc::clone(&thing)) });
                thing
            }
        }
    }

    /// Forgets everything if it is more than that.
    pub(super) fn forget_beyond(&self, many: usize) {
        for check in 0..SHARDS {
            let mut shard = self.shard(check as u64);
            if shard.len() > many / SHARDS {
                *shard = Table::new();
            }
        }
    }

    /// Forgets what nobody else has.
    pub(super) fn forget_unused(&self) {
        for check in 0..SHARDS {
            let mut shard = self.shard(check as u64);
            let in_use =
                |kept: &Kept<T>| kept.thing.as_ref().is_some_and(|thing| Arc::strong_count(thing) > 1);
            shard.retain(in_use);
        }
    }

    fn shard(&self, check: u64) -> MutexGuard<'_, Shard<T>> {
        self.shards[check as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fingerprint of what something exactly is: long enough that two things never share one.
pub(super) fn print_of(exact: &[u64]) -> u128 {
    let bytes: Vec<u8> = exact.iter().flat_map(|word| word.to_le_bytes()).collect();
    xxh3_128(&bytes)
}

fn halves(print: u128) -> (u64, u64) {
    ((print >> 64) as u64, print as u64)
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self { check: self.check, thing: self.thing.clone() }
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { check: 0, thing: None }
    }
}
