//! Who works on what: the remaining work is dealt out so that all finish at the same time.

use std::collections::BTreeMap;

use crate::job::Job;
use crate::picture::Tile;
use crate::rows::{Inventory, Rows};
use crate::task::{Plan, Share};

/// Deals what is left of the picture to the members of a view. A member that is working on a tile keeps it, because it may
/// have computed a row that is not safe yet.
pub fn deal(job: &Job, known: &Inventory, members: &[u32], at_work: &BTreeMap<u32, Tile>) -> Plan {
    let rows_left = |tile: Tile| Rows::first(job.picture.tile_height(tile)).without(known.rows(tile)).count();
    let mut owners: BTreeMap<Tile, u32> = BTreeMap::new();
    let mut load: BTreeMap<u32, u32> = members.iter().map(|member| (*member, 0)).collect();
    let mut give = |tile: Tile, member: u32, load: &mut BTreeMap<u32, u32>| {
        owners.insert(tile, member);
        *load.entry(member).or_default() += rows_left(tile);
    };
    let mut left: Vec<_> = job.picture.tiles().filter(|tile| rows_left(*tile) > 0).collect();
    for (member, tile) in at_work.iter().filter(|(member, _)| members.contains(member)) {
        if let Some(place) = left.iter().position(|one| one == tile) {
            left.remove(place);
            give(*tile, *member, &mut load);
        }
    }
    // The largest first, to whoever has least: nobody is left with much when the others are done.
    left.sort_by_key(|tile| (u32::MAX - rows_left(*tile), *tile));
    for tile in left {
        let least = load.iter().min_by_key(|(member, load)| (**load, **member)).map(|(member, _)| *member);
        if let Some(member) = least {
            give(tile, member, &mut load);
        }
    }
    let share = |tile| Share { owner: owners.get(&tile).copied(), known: known.rows(tile) };
    job.picture.tiles().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::picture::{Picture, TILE_HEIGHT};
    use proptest::prelude::*;

    fn job(width: u32, height: u32) -> Job {
        Job { picture: Picture::new(width, height).unwrap(), code: Code::new(6, 4).unwrap() }
    }

    #[test]
    fn a_fresh_picture_is_dealt_evenly() {
        let job = job(480, 320);
        let task = deal(&job, &Inventory::none(&job.picture), &[1, 2, 3, 4, 5, 6], &BTreeMap::new());
        let counts: Vec<_> = job.nodes().map(|node| task.places(&job, node).len()).collect();
        assert_eq!(counts, [14 * 32, 14 * 32, 13 * 32, 13 * 32, 13 * 32, 13 * 32]);
    }

    #[test]
    fn whoever_is_at_work_goes_on_unless_it_is_gone() {
        let job = job(480, 320);
        let mut known = Inventory::none(&job.picture);
        *known.rows_mut(Tile(3)) = Rows::first(32);
        let at_work = BTreeMap::from([(1, Tile(70)), (2, Tile(3)), (4, Tile(70)), (5, Tile(9))]);
        let task = deal(&job, &known, &[1, 2, 3, 4], &at_work);
        assert_eq!(task.owner(Tile(70)), Some(1), "of two that claim it, the first");
        assert_eq!(task.owner(Tile(3)), None, "it is finished");
        assert!(task.owner(Tile(9)).is_some_and(|owner| owner <= 4));
    }

    proptest! {
        /// Every row that is left is dealt to one member, none that is known is, and nobody has a tile more than others.
        #[test]
        fn all_is_dealt_once_and_evenly(
            width in 1_u32..600, height in 1_u32..400, done in proptest::collection::vec(0_u32..=32, 0..150),
            members in proptest::sample::subsequence(vec![1_u32, 2, 3, 4, 5, 6], 1..=6),
        ) {
            let job = job(width, height);
            let mut known = Inventory::none(&job.picture);
            for (tile, rows) in job.picture.tiles().zip(done) {
                *known.rows_mut(tile) = Rows::first(rows.min(job.picture.tile_height(tile)));
            }
            let task = deal(&job, &known, &members, &BTreeMap::new());
            let mut dealt: Vec<_> = members.iter().flat_map(|member| task.places(&job, *member)).collect();
            dealt.sort_unstable();
            let left: Vec<_> = Inventory::all(&job.picture)
                .iter()
                .flat_map(|(tile, all)| all.without(known.rows(tile)).iter().map(move |row| crate::job::Place { tile, row }))
                .collect();
            prop_assert_eq!(dealt, left);
            let loads = members.iter().map(|member| task.places(&job, *member).len());
            let (most, least) = (loads.clone().max().unwrap(), loads.min().unwrap());
            prop_assert!(most - least <= TILE_HEIGHT as usize, "{} and {}", most, least);
        }
    }
}
