//! The task description of a view: who works on which tile, and which rows are done.

use serde::{Deserialize, Serialize};

use crate::job::{Job, Place};
use crate::picture::Tile;
use crate::rows::{Inventory, Rows};

/// What a view's leader tells all of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The nodes that are back. They may not have noticed that they were away.
    pub readmitted: Vec<u32>,
    /// What they do.
    pub plan: Plan,
}

/// What a view does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Go on: a share for every tile, in order.
    Work(Vec<Share>),
    /// Wait: too few nodes are there to rebuild rows.
    Wait {
        /// How many are in the view.
        have: u32,
        /// How many are needed.
        need: u32,
    },
}

/// What is left to do of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The node that works on it; `None` if it is finished.
    pub owner: Option<u32>,
    /// Its rows that are safe.
    pub known: Rows,
}

/// Bytes that are no task description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the view's task description is not one of this job")]
pub struct BadTask;

/// As it travels: who is back, and the plan. Owners are numbered from 1; 0 is nobody.
type Form = (Vec<u8>, PlanForm);

#[derive(Serialize, Deserialize)]
enum PlanForm {
    Work(Vec<(u8, Rows)>),
    Wait { have: u32, need: u32 },
}

impl Task {
    /// As bytes: for [`TILES_MAX`](crate::picture::TILES_MAX) tiles some seven thousand.
    pub fn encode(&self) -> Vec<u8> {
        let small = |node: u32| u8::try_from(node).expect("nodes are few");
        let owner = |share: &Share| share.owner.map_or(0, small);
        let plan = match &self.plan {
            Plan::Work(shares) => {
                PlanForm::Work(shares.iter().map(|share| (owner(share), share.known)).collect())
            }
            Plan::Wait { have, need } => PlanForm::Wait { have: *have, need: *need },
        };
        let form: Form = (self.readmitted.iter().copied().map(small).collect(), plan);
        postcard::to_allocvec(&form).expect("memory takes anything")
    }

    /// From bytes, for that job.
    ///
    /// # Errors
    /// If they are no task of that job.
    pub fn decode(job: &Job, bytes: &[u8]) -> Result<Self, BadTask> {
        let (form, rest): (Form, _) = postcard::take_from_bytes(bytes).map_err(|_| BadTask)?;
        let (readmitted, plan) = form;
        if !rest.is_empty() || readmitted.len() > job.code.nodes() as usize {
            return Err(BadTask);
        }
        let plan = match plan {
            PlanForm::Wait { have, need } => Plan::Wait { have, need },
            PlanForm::Work(shares) if shares.len() == job.picture.tiles().len() => {
                let shares = job.picture.tiles().zip(shares);
                shares.map(|(tile, share)| Share::read(job, tile, share)).collect::<Result<_, _>>()?
            }
            PlanForm::Work(_) => return Err(BadTask),
        };
        Ok(Self { readmitted: readmitted.into_iter().map(u32::from).collect(), plan })
    }
}

impl Plan {
    /// The rows that this node computes, in order.
    pub fn places(&self, job: &Job, node: u32) -> Vec<Place> {
        let Self::Work(shares) = self else { return Vec::new() };
        let mine = job.picture.tiles().zip(shares).filter(|(_, share)| share.owner == Some(node));
        mine.flat_map(|(tile, share)| {
            Rows::first(job.picture.tile_height(tile))
                .without(share.known)
                .iter()
                .map(move |row| Place { tile, row })
        })
        .collect()
    }

    /// Who works on that tile.
    pub fn owner(&self, tile: Tile) -> Option<u32> {
        match self {
            Self::Work(shares) => shares.get(usize::from(tile.0)).and_then(|share| share.owner),
            Self::Wait { .. } => None,
        }
    }

    /// The rows that are safe; `None` if it does not say.
    pub fn known(&self, job: &Job) -> Option<Inventory> {
        match self {
            Self::Work(shares) => {
                Inventory::of(&job.picture, shares.iter().map(|share| share.known).collect())
            }
            Self::Wait { .. } => None,
        }
    }
}

impl FromIterator<Share> for Plan {
    fn from_iter<I: IntoIterator<Item = Share>>(shares: I) -> Self {
        Self::Work(shares.into_iter().collect())
    }
}

impl Share {
    fn read(job: &Job, tile: Tile, (owner, known): (u8, Rows)) -> Result<Self, BadTask> {
        let all = Rows::first(job.picture.tile_height(tile));
        let owner = Some(u32::from(owner)).filter(|owner| *owner != 0);
        let is_ours = owner.is_none_or(|owner| owner <= job.code.nodes()) && known.without(all).is_empty();
        if is_ours { Ok(Self { owner, known }) } else { Err(BadTask) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::picture::Picture;
    use proptest::prelude::*;

    /// As many bytes as a group's task description may have.
    const LEN_MAX: usize = 16 * 1024;

    fn job() -> Job {
        Job { picture: Picture::new(65, 33).unwrap(), code: Code::new(4, 2).unwrap() }
    }

    fn share(owner: u32, known: u32) -> Share {
        Share { owner: (owner > 0).then_some(owner), known: Rows::first(known) }
    }

    #[test]
    fn tasks_survive_the_way() {
        let work = Plan::Work(vec![share(1, 31), share(2, 32), share(0, 1), share(4, 0)]);
        for plan in [work.clone(), Plan::Wait { have: 3, need: 4 }] {
            let task = Task { readmitted: vec![2, 4], plan };
            assert_eq!(Task::decode(&job(), &task.encode()), Ok(task));
        }
        assert_eq!(work.places(&job(), 1), [Place { tile: Tile(0), row: 31 }]);
        assert_eq!(work.places(&job(), 2), [], "it is finished, whoever owns it");
        assert_eq!(work.places(&job(), 4), [Place { tile: Tile(3), row: 0 }]);
        assert_eq!(work.known(&job()).map(|known| known.count()), Some(31 + 32 + 1));
    }

    #[test]
    fn the_largest_task_can_be_handed_out() {
        let job = Job { picture: Picture::new(2048, 1024).unwrap(), code: Code::new(9, 5).unwrap() };
        let task = Task { readmitted: (1..=9).collect(), plan: Plan::Work(vec![share(9, 32); 1024]) };
        assert!(task.encode().len() <= LEN_MAX / 2, "{}", task.encode().len());
        assert_eq!(Task::decode(&job, &task.encode()), Ok(task));
    }

    #[test]
    fn what_is_of_another_job_is_refused() {
        for wrong in [
            Plan::Work(vec![share(1, 0); 3]),
            Plan::Work(vec![share(1, 0), share(5, 0), share(1, 0), share(1, 0)]),
            Plan::Work(vec![share(1, 0), share(1, 0), share(1, 2), share(1, 0)]),
        ] {
            let wrong = Task { readmitted: Vec::new(), plan: wrong };
            assert_eq!(Task::decode(&job(), &wrong.encode()), Err(BadTask), "{wrong:?}");
        }
        let wait = |readmitted| Task { readmitted, plan: Plan::Wait { have: 1, need: 2 } };
        assert_eq!(Task::decode(&job(), &wait(vec![1; 5]).encode()), Err(BadTask));
        let mut longer = wait(Vec::new()).encode();
        longer.push(0);
        assert_eq!(Task::decode(&job(), &longer), Err(BadTask));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(task) = Task::decode(&job(), &bytes) {
                prop_assert_eq!(Task::decode(&job(), &task.encode()), Ok(task));
            }
        }
    }
}
