//! What is remembered of voters: how many changes each store was heard to have kept. A voter that has kept fewer than it once said has had
//! its disk put back to an earlier state, and has forgotten what it promised since. What it says counts no more; and it is told, for it
//! cannot know that by itself.

use alloc::collections::BTreeMap;

use super::Exclusive;
use crate::exclusive::configuration::Configuration;
use crate::exclusive::ident::StoreId;
use crate::exclusive::message::{ExclusiveMsg, Recall, Said};
use crate::ident::NodeId;

/// No more stores are remembered, but for those that vote now.
const STORES_MAX: usize = 2 * Configuration::VOTERS_MAX;

/// What was heard of each store.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(BTreeMap<StoreId, Heard>);

#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// The most changes that it was said to have kept.
    most: u64,
    /// Whether it has said less after that.
    is_outdated: bool,
}

impl Memory {
    /// A store is said to have kept so many changes. If that cannot be, how many it had kept before.
    fn hear(&mut self, store: StoreId, commits: u64) -> Result<(), u64> {
        let heard = self.0.entry(store).or_default();
        heard.is_outdated |= commits < heard.most;
        if heard.is_outdated {
            return Err(heard.most);
        }
        heard.most = commits;
        Ok(())
    }
}

impl Exclusive {
    /// Whether what a voter says counts, as far as its disk is concerned.
    pub(super) fn is_credible(&mut self, voter: NodeId, said: &Said) -> bool {
        let store = self.in_force().and_then(|by| Some(by.voters.get(&voter)?.store));
        // Another store does not count anyway.
        if store != Some(said.store) {
            return true;
        }
        if self.memory.0.len() > STORES_MAX
            && let Some(in_force) = self.in_force().cloned()
        {
            self.memory.0.retain(|store, _| in_force.voters.values().any(|seat| seat.store == *store));
        }
        let Err(commits) = self.memory.hear(said.store, said.commits) else { return true };
        self.send(voter, ExclusiveMsg::Recall(Recall { store: said.store, commits }));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_has_forgotten_something_is_not_believed_any_more() {
        let mut memory = Memory::default();
        let (one, other) = (StoreId(1), StoreId(2));
        assert_eq!([3, 3, 7].map(|commits| memory.hear(one, commits)), [Ok(()); 3]);
        assert_eq!(memory.hear(other, 1), Ok(()), "another store is another");
        assert_eq!(memory.hear(one, 6), Err(7));
        assert_eq!(memory.hear(one, 8), Err(7), "however much it keeps from now on");
    }
}
