//! The store with its disk, and the answers to what peers ask.

use std::collections::BTreeSet;
use std::io;

use super::Config;
use crate::disk::Disk;
use crate::job::{Job, Place};
use crate::picture::Tile;
use crate::rows::Rows;
use crate::shard::Shard;
use crate::store::{Rejection, Store, Taken};
use crate::wire::{Answer, Request, TILES_AT_ONCE};

/// What a worker keeps: shards for all, and the row that it is working on.
#[derive(Debug)]
pub(super) struct Keeper {
    job: Job,
    store: Store,
    disk: Disk,
    /// Whether the disk took the latest shards.
    takes_shards: bool,
    /// A change of that which has not been reported yet.
    disk_news: Option<DiskNews>,
    /// The tile that it works on.
    pub(super) at_work: Option<Tile>,
    /// A row that it has computed and that is not safe yet.
    pub(super) in_hand: Option<(Place, Vec<u8>)>,
}

/// Why a disk takes no shards any more; `None` if it takes them again.
pub(super) type DiskNews = Option<String>;

/// What became of shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) kept: u32,
    pub(super) damaged: u32,
    pub(super) old: u32,
}

impl Keeper {
    /// Reads what an earlier run left, and says how much of it is damaged.
    pub(super) fn open(config: &Config) -> io::Result<(Self, u32)> {
        let disk = Disk::open(&config.dir, config.job, config.node)?;
        let found = disk.load()?;
        let mut store = Store::new(config.job, config.node);
        let mut damaged = found.unreadable;
        for shard in found.shards {
            damaged += u32::from(store.restore(shard).is_err());
        }
        let keeper = Self {
            job: config.job,
            store,
            disk,
            takes_shards: true,
            disk_news: None,
            at_work: None,
            in_hand: None,
        };
        Ok((keeper, damaged))
    }

    /// How many shards there are.
    pub(super) fn held(&self) -> u32 {
        u32::try_from(self.store.len()).unwrap_or(u32::MAX)
    }

    /// What to report about the disk: once when it fails, and once when it works again.
    pub(super) fn disk_news(&mut self) -> Option<DiskNews> {
        self.disk_news.take()
    }

    /// Whether the view still counts, so that this worker may begin that tile. A fault manager that was told about this
    /// tile may give any other tile away.
    pub(super) fn take_up(&mut self, tile: Tile, view: u64) -> bool {
        let goes_on = self.store.fence() <= view;
        if goes_on {
            self.at_work = Some(tile);
        }
        goes_on
    }

    /// Answers a peer, and says what was rejected.
    pub(super) fn answer(&mut self, request: Request) -> (Answer, Kept) {
        match request {
            Request::Have { view } => {
                self.store.raise_fence(view);
                let rows = self.store.inventory().iter().map(|(_, rows)| rows).collect();
                (Answer::Have { rows, at_work: self.at_work }, Kept::default())
            }
            Request::Get(wanted) if wanted.len() > TILES_AT_ONCE => (Answer::Failed, Kept::default()),
            Request::Get(wanted) => {
                let shards = wanted.iter().flat_map(|(tile, rows)| self.store.get(*tile, *rows));
                (Answer::Shards(shards.cloned().collect()), Kept::default())
            }
            Request::Put(shards) => match self.keep(shards) {
                Ok(kept) => {
                    let Kept { kept: count, damaged, old } = kept;
                    (Answer::Kept { kept: count, damaged, old }, kept)
                }
                Err(_) => (Answer::Failed, Kept::default()),
            },
        }
    }

    /// Keeps these shards; they are on the disk when this returns.
    pub(super) fn keep(&mut self, shards: Vec<Shard>) -> io::Result<Kept> {
        let (mut kept, mut new) = (Kept::default(), Vec::new());
        for shard in shards {
            let place = shard.place;
            match self.store.put(shard) {
                Ok(Taken::New) => new.push(place),
                Ok(Taken::Known) => {}
                Err(Rejection::Damaged) => kept.damaged += 1,
                Err(Rejection::Old { .. }) => kept.old += 1,
            }
            kept.kept = kept.kept.saturating_add(1);
        }
        kept.kept -= kept.damaged + kept.old;
        if !new.is_empty() {
            self.write(&new)?;
        }
        Ok(kept)
    }

    fn write(&mut self, new: &[Place]) -> io::Result<()> {
        let tiles: BTreeSet<Tile> = new.iter().map(|place| place.tile).collect();
        let saved: io::Result<()> = tiles.into_iter().try_for_each(|tile| self.save(tile));
        if saved.is_err() {
            // What could not be written must not be counted on.
            new.iter().for_each(|place| self.store.forget(*place));
        }
        if self.takes_shards != saved.is_ok() {
            self.takes_shards = saved.is_ok();
            self.disk_news = Some(saved.as_ref().err().map(ToString::to_string));
        }
        saved
    }

    fn save(&self, tile: Tile) -> io::Result<()> {
        let all = Rows::first(self.job.picture.tile_height(tile));
        self.disk.save(tile, self.store.get(tile, all))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::code::Code;
    use crate::picture::Picture;
    use crate::wire::Secret;

    #[test]
    fn whoever_has_told_what_it_works_on_takes_up_nothing_else_in_that_view() {
        let home = tempfile::tempdir().unwrap();
        let config = Config {
            job: Job { picture: Picture::new(128, 32).unwrap(), code: Code::new(3, 2).unwrap() },
            node: 2,
            peers: BTreeMap::new(),
            secret: Secret([0; 16]),
            dir: home.path().join("shards"),
            pace: 1.0,
            grace: Duration::ZERO,
        };
        let (mut keeper, _) = Keeper::open(&config).unwrap();
        assert!(keeper.take_up(Tile(0), 4));
        let (answer, _) = keeper.answer(Request::Have { view: 5 });
        assert!(matches!(answer, Answer::Have { at_work: Some(Tile(0)), .. }), "{answer:?}");
        assert!(!keeper.take_up(Tile(1), 4));
        assert_eq!(keeper.at_work, Some(Tile(0)), "that is what the fault manager goes by");
        assert!(keeper.take_up(Tile(1), 5));
    }
}
