//! What is remembered of voters: how many changes each store was heard to have kept. A voter that has kept fewer than it once said has had
//! its disk put back to an earlier state, and has forgotten what it promised since. What it says counts no more; and it is told, for it
//! cannot know that by itself.

use alloc::collections::BTreeMap;

use super::Exclusive;
use crate::exclusive::configuration::Configuration;
use crate::exclusive::ident::StoreId;
use crate::exclusive::message::{ExclusiveMsg, Recall, Said};
use crate::ident::{Incarnation, NodeId};

/// No more stores are remembered, but for those that vote now.
const STORES_MAX: usize = 2 * Configuration::VOTERS_MAX;

/// What was heard of each store.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(BTreeMap<StoreId, Heard>);

#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// Which incarnation of its node spoke last.
    incarnation: Incarnation,
    /// The most changes that it was said to have kept.
    most: u64,
    /// What that was when the incarnation was met first.
    before: u64,
    /// Whether a later incarnation has said less.
    is_outdated: bool,
}

impl Memory {
    /// A store is said to have kept so many changes. If that cannot be, how many it had kept before. A disk is put back while its node is
    /// down. Fewer changes from the same incarnation were only said earlier: messages overtake each other.
    fn hear(&mut self, store: StoreId, incarnation: Incarnation, commits: u64) -> Result<(), u64> {
        let heard = self.0.entry(store).or_default();
        if heard.incarnation < incarnation {
            (heard.incarnation, heard.before) = (incarnation, heard.most);
        }
        heard.is_outdated |= commits < heard.before;
        if heard.is_outdated {
            return Err(heard.most);
        }
        heard.most = heard.most.max(commits);
        Ok(())
    }
}

impl Exclusive {
    /// Whether what a voter says counts, as far as its disk is concerned.
    pub(super) fn is_credible(&mut self, voter: NodeId, incarnation: Incarnation, said: &Said) -> bool {
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
        let Err(commits) = self.memory.hear(said.store, incarnation, said.commits) else { return true };
        self.send(voter, ExclusiveMsg::Recall(Recall { store: said.store, commits }));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_comes_back_with_less_is_not_believed_any_more() {
        let mut memory = Memory::default();
        let (one, other) = (StoreId(1), StoreId(2));
        let mut hear = |store, incarnation, commits| memory.hear(store, Incarnation(incarnation), commits);
        assert_eq!([3, 3, 7].map(|commits| hear(one, 1, commits)), [Ok(()); 3]);
        assert_eq!(hear(other, 1, 1), Ok(()), "another store is another");
        assert_eq!(hear(one, 1, 6), Ok(()), "it said that before it said 7");
        assert_eq!(hear(one, 2, 7), Ok(()), "all is as it was");
        assert_eq!(hear(one, 3, 6), Err(7));
        assert_eq!(hear(one, 3, 8), Err(7), "however much it keeps from now on");
    }
}
