//! A table from fingerprints to what is known of them, as small as can be: open addressing, no pointers, no order.

/// Values by fingerprint. What is in it cannot be listed: no order can leak.
#[derive(Debug)]
pub(crate) struct Table<V> {
    /// 0 where there is nothing.
    keys: Vec<u64>,
    values: Vec<V>,
    len: usize,
}

impl<V: Clone + Default> Table<V> {
    pub(crate) fn new() -> Self {
        Self { keys: vec![0; SMALLEST], values: vec![V::default(); SMALLEST], len: 0 }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let slot = self.slot(never_0(key));
        (self.keys[slot] != 0).then(|| &self.values[slot])
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        self.keys[self.slot(never_0(key))] != 0
    }

    /// False, and nothing changes, if the key is there already.
    pub(crate) fn insert(&mut self, key: u64, value: V) -> bool {
        let key = never_0(key);
        let mut slot = self.slot(key);
        if self.keys[slot] != 0 {
            return false;
        }
        if (self.len + 1) * 8 > self.keys.len() * 7 {
            self.grow();
            slot = self.slot(key);
        }
        self.keys[slot] = key;
        self.values[slot] = value;
        self.len += 1;
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u64>() + self.values.capacity() * size_of::<V>()
    }

    /// Where the key is, or where it would go.
    fn slot(&self, key: u64) -> usize {
        let last = self.keys.len() - 1;
        // Fingerprints are evenly spread already.
        let mut slot = key as usize & last;
        while self.keys[slot] != 0 && self.keys[slot] != key {
            slot = (slot + 1) & last;
        }
        slot
    }

    /// Takes in what another table holds.
    pub(crate) fn absorb(&mut self, other: Self) {
        for (key, value) in other.keys.into_iter().zip(other.values).filter(|(key, _)| *key != 0) {
            self.insert(key, value);
        }
    }

    /// Takes out what is not worth keeping.
    pub(crate) fn retain(&mut self, worth: impl Fn(&V) -> bool) {
        self.rebuild(self.keys.len(), worth);
    }

    fn grow(&mut self) {
        self.rebuild(self.keys.len() * 2, |_| true);
    }

    fn rebuild(&mut self, slots: usize, keep: impl Fn(&V) -> bool) {
        let keys = std::mem::replace(&mut self.keys, vec![0; slots]);
        let values = std::mem::replace(&mut self.values, vec![V::default(); slots]);
        self.len = 0;
        for (key, value) in keys.into_iter().zip(values).filter(|(key, value)| *key != 0 && keep(value)) {
            let slot = self.slot(key);
            self.keys[slot] = key;
            self.values[slot] = value;
            self.len += 1;
        }
    }
}

/// A power of two.
const SMALLEST: usize = 1 << 10;

fn never_0(key: u64) -> u64 {
    key.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_agrees_with_a_map() {
        let (mut table, mut map) = (Table::new(), BTreeMap::new());
        // Keys that collide in their low bits, and the one that stands for nothing.
        let keys = (0..5_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !0xff0).chain([0, 0, 2]);
        for (n, key) in keys.enumerate() {
            let fresh = !map.contains_key(&key);
            assert_eq!(table.contains(key), !fresh);
            assert_eq!(table.insert(key, n), fresh);
            map.entry(key).or_insert(n);
        }
        assert_eq!(table.len(), map.len());
        assert!(map.iter().all(|(key, n)| table.get(*key) == Some(n)));
        assert_eq!(table.get(12_345_678), None);
    }
}
