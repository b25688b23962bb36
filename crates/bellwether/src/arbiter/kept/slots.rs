//! Places that the campaigns of one session have in lines: the same name may be wanted more than once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::elections::Name;

/// Which are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Arc<Mutex<BTreeMap<Name, BTreeSet<u32>>>>);

impl Slots {
    fn taken(&self) -> MutexGuard<'_, BTreeMap<Name, BTreeSet<u32>>> {
        // What is in it is whole between any two lines that change it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first that is free.
    pub(super) fn take(&self, name: &Name) -> Slot {
        let mut taken = self.taken();
        let of_name = taken.entry(name.clone()).or_default();
        let no = (0..).find(|no| !of_name.contains(no)).unwrap_or(u32::MAX);
        of_name.insert(no);
        Slot { no, name: name.clone(), slots: self.clone() }
    }

    pub(super) fn is_taken(&self, name: &Name, no: u32) -> bool {
        self.taken().get(name).is_some_and(|taken| taken.contains(&no))
    }
}

/// A slot, which is free again when this goes: when nothing of it is left with the engine.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) no: u32,
    name: Name,
    slots: Slots,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        if let Some(of_name) = taken.get_mut(&self.name) {
            of_name.remove(&self.no);
            if of_name.is_empty() {
                taken.remove(&self.name);
            }
        }
    }
}
