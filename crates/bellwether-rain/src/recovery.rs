//! What the fault manager works out from the members' holdings: which rows are known, which shards to fetch in order to
//! rebuild the rows of failed nodes, and which shards are missing where.

use std::collections::BTreeMap;

use crate::job::{Job, Place};
use crate::picture::Tile;
use crate::rows::{Inventory, Rows};
use crate::shard::{Shard, rebuild};

/// What each member holds.
#[derive(Clone, Debug)]
pub struct Survey {
    job: Job,
    holdings: BTreeMap<u32, Inventory>,
}

/// Rows of a tile that were rebuilt from their shards, or could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// What the rows are, by number.
    pub rows: BTreeMap<u32, Vec<u8>>,
    /// Rows that cannot be rebuilt from their shards, and must be computed again.
    pub lost: Rows,
}

impl Survey {
    /// The holdings of the members of a view.
    pub fn new(job: Job, holdings: BTreeMap<u32, Inventory>) -> Self {
        Self { job, holdings }
    }

    /// The rows of which enough members hold a shard.
    pub fn known(&self) -> Inventory {
        let mut known = Inventory::none(&self.job.picture);
        for (tile, all) in Inventory::all(&self.job.picture).iter() {
            for row in all.iter().filter(|row| self.holders(tile, *row) >= self.job.code.data() as usize) {
                known.rows_mut(tile).add(row);
            }
        }
        known
    }

    /// The known rows that must be rebuilt: all rows of tiles whose owner failed, to make sure that they can be; and of
    /// every tile those of which some member has no shard.
    pub fn wanted(&self, known: &Inventory, orphaned: impl Fn(Tile) -> bool) -> Vec<(Tile, Rows)> {
        let wanted = known.iter().map(|(tile, known)| {
            let everywhere = self.holdings.values().fold(known, |rows, holds| rows.within(holds.rows(tile)));
            (tile, if orphaned(tile) { known } else { known.without(everywhere) })
        });
        wanted.filter(|(_, rows)| !rows.is_empty()).collect()
    }

    /// The shards that each member lacks.
    pub fn missing(&self, tile: Tile, view: u64, rebuilt: &Rebuilt) -> BTreeMap<u32, Vec<Shard>> {
        let mut missing: BTreeMap<u32, Vec<Shard>> = BTreeMap::new();
        let lack = |row: u32| self.holdings.values().any(|holds| !holds.rows(tile).has(row));
        for (row, bytes) in rebuilt.rows.iter().filter(|(row, _)| lack(**row)) {
            let lacks = |shard: &Shard| {
                self.holdings.get(&shard.node).is_some_and(|holds| !holds.rows(tile).has(*row))
            };
            let shards = Shard::all(&self.job, Place { tile, row: *row }, view, bytes);
            for shard in shards.into_iter().filter(lacks) {
                missing.entry(shard.node).or_default().push(shard);
            }
        }
        missing
    }

    fn holders(&self, tile: Tile, row: u32) -> usize {
        self.holdings.values().filter(|holds| holds.rows(tile).has(row)).count()
    }
}

impl Rebuilt {
    /// Rebuilds these rows of a tile from the shards that have come.
    pub fn from_shards(job: &Job, tile: Tile, wanted: Rows, shards: &[Shard]) -> Self {
        let rows = rebuild(job, tile, wanted, shards);
        let mut lost = Rows::NONE;
        wanted.iter().filter(|row| !rows.contains_key(row)).for_each(|row| lost.add(row));
        Self { rows, lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::fractal;
    use crate::picture::Picture;
    use crate::store::Store;
    use proptest::prelude::*;

    fn job() -> Job {
        Job { picture: Picture::new(128, 64).unwrap(), code: Code::new(5, 3).unwrap() }
    }

    fn put(stores: &mut BTreeMap<u32, Store>, place: Place, to: impl Fn(u32) -> bool) {
        let row = fractal::row(&job().picture, place.tile, place.row);
        for shard in Shard::all(&job(), place, 1, &row).into_iter().filter(|shard| to(shard.node)) {
            if let Some(store) = stores.get_mut(&shard.node) {
                store.put(shard).unwrap();
            }
        }
    }

    fn stores() -> BTreeMap<u32, Store> {
        job().nodes().map(|node| (node, Store::new(job(), node))).collect()
    }

    fn survey(stores: &BTreeMap<u32, Store>) -> Survey {
        Survey::new(job(), stores.iter().map(|(node, store)| (*node, store.inventory())).collect())
    }

    /// What recovery does, without a network.
    fn recover(stores: &mut BTreeMap<u32, Store>, orphaned: impl Fn(Tile) -> bool) -> (Inventory, u32) {
        let survey = survey(stores);
        let (mut known, mut rebuilt_rows) = (survey.known(), 0);
        for (tile, rows) in survey.wanted(&known, orphaned) {
            let shards: Vec<_> = stores.values().flat_map(|store| store.get(tile, rows)).cloned().collect();
            let rebuilt = Rebuilt::from_shards(&job(), tile, rows, &shards);
            *known.rows_mut(tile) = known.rows(tile).without(rebuilt.lost);
            rebuilt_rows += u32::try_from(rebuilt.rows.len()).unwrap();
            for (row, bytes) in &rebuilt.rows {
                assert_eq!(*bytes, fractal::row(&job().picture, tile, *row));
            }
            for (node, shards) in survey.missing(tile, 2, &rebuilt) {
                for shard in shards {
                    assert_eq!(stores.get_mut(&node).unwrap().put(shard), Ok(crate::store::Taken::New));
                }
            }
        }
        (known, rebuilt_rows)
    }

    #[test]
    fn what_the_failed_had_done_is_rebuilt_from_the_survivors() {
        let mut stores = stores();
        for row in 0..10 {
            put(&mut stores, Place { tile: Tile(1), row }, |_| true);
        }
        // Its last row had reached two of the survivors, and three are needed.
        put(&mut stores, Place { tile: Tile(1), row: 10 }, |node| node <= 2);
        stores.retain(|node, _| *node <= 3);
        let (known, rebuilt) = recover(&mut stores, |tile| tile == Tile(1));
        assert_eq!((known.rows(Tile(1)), rebuilt), (Rows::first(10), 10));
    }

    #[test]
    fn whoever_returns_is_brought_up_to_the_others() {
        let mut stores = stores();
        for row in 0..4 {
            put(&mut stores, Place { tile: Tile(0), row }, |node| node <= 3);
        }
        let (known, _) = recover(&mut stores, |_| false);
        assert_eq!(known.count(), 4);
        assert!(stores.values().all(|store| store.len() == 4), "every store has all");
        assert!(survey(&stores).wanted(&known, |_| false).is_empty(), "and nothing is left to do");
        stores.retain(|node, _| *node >= 3);
        assert_eq!(survey(&stores).known().count(), 4, "so that others may fail now");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever happened to be stored where, and whoever is left: the rows that k of them hold are known and right,
        /// others are not, and afterwards all that are left hold all that is known.
        #[test]
        fn recovery_knows_what_can_be_rebuilt(
            stored in proptest::collection::vec((0_u16..4, 0_u32..32, 0_u32..32), 0..120),
            left in proptest::sample::subsequence(vec![1_u32, 2, 3, 4, 5], 3..=5),
            orphaned in 0_u16..4,
        ) {
            let mut stores = stores();
            let mut holders: BTreeMap<Place, u32> = BTreeMap::new();
            for (tile, row, nodes) in stored {
                let place = Place { tile: Tile(tile), row };
                put(&mut stores, place, |node| nodes & (1 << (node - 1)) != 0);
                *holders.entry(place).or_default() |= nodes;
            }
            stores.retain(|node, _| left.contains(node));
            let mask = left.iter().fold(0, |mask, node| mask | 1 << (node - 1));
            let (known, _) = recover(&mut stores, |tile| tile.0 == orphaned);
            for (tile, rows) in Inventory::all(&job().picture).iter() {
                for row in rows.iter() {
                    let place = Place { tile, row };
                    let enough = holders.get(&place).is_some_and(|nodes| (nodes & mask).count_ones() >= 3);
                    prop_assert_eq!(known.rows(tile).has(row), enough, "{:?}", place);
                }
            }
            for store in stores.values() {
                for (tile, rows) in known.iter() {
                    prop_assert_eq!(rows.without(store.inventory().rows(tile)), Rows::NONE);
                }
            }
        }
    }
}
