//! What the leader of a new view, the fault manager, does before the view is in service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep};

use super::{Shared, lock};
use crate::deal::deal;
use crate::job::Job;
use crate::notice::View;
use crate::picture::Tile;
use crate::recovery::{Rebuilt, Survey};
use crate::report::Report;
use crate::rows::{Inventory, Rows};
use crate::shard::Shard;
use crate::task::{Plan, Task};
use crate::wire::{Answer, Request, TILES_AT_ONCE};

/// How long a member may leave questions unanswered. The election decides whether it has failed; then there is
/// another view.
const SILENCE_MAX: Duration = Duration::from_secs(8);
/// How long to wait before it is asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// A new view that needs its task.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) shared: Arc<Shared>,
    pub(super) view: View,
    pub(super) failed: Vec<u32>,
    pub(super) readmitted: Vec<u32>,
}

/// The result.
#[derive(Debug, Default)]
struct Tally {
    rows: u32,
    lost: u32,
    replaced: u32,
}

/// What it found.
#[derive(Debug)]
enum Found<'a> {
    /// The rows that are safe.
    Known(&'a Inventory),
    /// Too few members are there; this many are needed.
    TooFew { need: u32 },
}

impl Recovery {
    /// Finds out which rows are known, rebuilds the rows of failed nodes, and deals out what is left.
    pub(super) async fn run(self) -> Result<Task, String> {
        let plan = self.plan().await?;
        Ok(Task { readmitted: self.readmitted, plan })
    }

    async fn plan(&self) -> Result<Plan, String> {
        let (job, begun) = (self.job(), Instant::now());
        let (holdings, at_work) = self.ask_all().await?;
        let have = self.members();
        if have < job.code.data() {
            let need = job.code.data();
            self.tell(&Found::TooFew { need }, &Tally::default(), begun);
            return Ok(Plan::Wait { have, need });
        }
        let survey = Survey::new(job, holdings);
        let mut known = survey.known();
        let before = lock(&self.shared.plan).clone();
        let orphaned = |tile| self.is_orphaned(before.as_ref(), tile);
        let wanted = survey.wanted(&known, orphaned);
        let done_before = before.as_ref().and_then(|plan| plan.known(&job));
        let was_known = |tile, row| done_before.as_ref().is_some_and(|known| known.rows(tile).has(row));
        let mut tally = Tally::default();
        for batch in wanted.chunks(TILES_AT_ONCE) {
            let shards = self.fetch(batch).await;
            let mut missing: BTreeMap<u32, Vec<Shard>> = BTreeMap::new();
            for (tile, rows) in batch {
                let rebuilt = Rebuilt::from_shards(&job, *tile, *rows, &shards);
                // The agent beside this has heartbeats to send.
                yield_now().await;
                *known.rows_mut(*tile) = known.rows(*tile).without(rebuilt.lost);
                tally.lost += rebuilt.lost.count();
                if orphaned(*tile) && (before.is_some() || self.all_are_back()) {
                    let new = rebuilt.rows.keys().filter(|row| !was_known(*tile, **row)).count();
                    tally.rows += u32::try_from(new).unwrap_or(u32::MAX);
                }
                for (node, shards) in survey.missing(*tile, self.view.number, &rebuilt) {
                    missing.entry(node).or_default().extend(shards);
                }
            }
            tally.replaced += self.replace(missing).await?;
        }
        self.tell(&Found::Known(&known), &tally, begun);
        Ok(deal(&job, &known, &self.view.members, &at_work))
    }

    /// Asks every member what it holds, and which tile it is working on. From then on none takes shards of an
    /// older view.
    async fn ask_all(&self) -> Result<(BTreeMap<u32, Inventory>, BTreeMap<u32, Tile>), String> {
        let (mut holdings, mut at_work) = (BTreeMap::new(), BTreeMap::new());
        let request = Request::Have { view: self.view.number };
        let mut answers = self.ask(self.view.members.iter().map(|node| (*node, request.clone())).collect());
        while let Some(answer) = answers.join_next().await {
            let (node, answer) = answer.map_err(|error| error.to_string())?;
            let Answer::Have { rows, at_work: tile } = answer? else {
                return Err(format!("node {node} gave an answer to another question"));
            };
            let holds = Inventory::of(&self.job().picture, rows)
                .ok_or_else(|| format!("node {node} works on another picture"))?;
            holdings.insert(node, holds);
            at_work.extend(tile.map(|tile| (node, tile)));
        }
        Ok((holdings, at_work))
    }

    /// All shards of these rows that the members have. A member that does not answer counts as having none: the
    /// others may be enough.
    async fn fetch(&self, wanted: &[(Tile, Rows)]) -> Vec<Shard> {
        let request = Request::Get(wanted.to_vec());
        let mut answers = self.ask(self.view.members.iter().map(|node| (*node, request.clone())).collect());
        let mut shards = Vec::new();
        while let Some(answer) = answers.join_next().await {
            if let Ok((_, Ok(Answer::Shards(some)))) = answer {
                shards.extend(some);
            }
        }
        shards
    }

    /// Gives members the shards that they lack. A member that cannot keep them is offered them again in the next view.
    /// Enough others hold those rows, or they could not have been rebuilt.
    async fn replace(&self, missing: BTreeMap<u32, Vec<Shard>>) -> Result<u32, String> {
        let requests = missing.into_iter().map(|(node, shards)| (node, Request::Put(shards))).collect();
        let mut answers = self.ask(requests);
        let mut replaced = 0;
        while let Some(answer) = answers.join_next().await {
            let (node, answer) = answer.map_err(|error| error.to_string())?;
            match answer? {
                Answer::Kept { old: 1.., .. } => return Err(format!("node {node} knows of a later view")),
                Answer::Kept { kept, .. } => replaced += kept,
                Answer::Failed => {}
                _ => return Err(format!("node {node} gave an answer to another question")),
            }
        }
        Ok(replaced)
    }

    /// Asks several members at once; the answers come in any order.
    fn ask(&self, requests: BTreeMap<u32, Request>) -> JoinSet<(u32, Result<Answer, String>)> {
        let mut asked = JoinSet::new();
        for (node, request) in requests {
            let shared = Arc::clone(&self.shared);
            asked.spawn(async move { (node, ask(&shared, node, request).await) });
        }
        asked
    }

    /// Whether the known rows of a tile must be rebuilt as a check: its worker is gone or has restarted. A leader that does
    /// not know who worked on it checks all.
    fn is_orphaned(&self, before: Option<&Plan>, tile: Tile) -> bool {
        before.is_none_or(|plan| plan.owner(tile).is_some_and(|owner| self.is_gone(owner)))
    }

    /// Whether nobody remembers the view before. Then all knowledge comes from shards.
    fn all_are_back(&self) -> bool {
        self.view.members.iter().all(|member| self.readmitted.contains(member))
    }

    fn is_gone(&self, node: u32) -> bool {
        self.failed.contains(&node) || self.readmitted.contains(&node) || !self.view.members.contains(&node)
    }

    fn tell(&self, found: &Found<'_>, tally: &Tally, begun: Instant) {
        let (known, waits_for) = match found {
            Found::Known(known) => (known.iter().map(|(_, rows)| rows).collect(), None),
            Found::TooFew { need } => (Vec::new(), Some(*need)),
        };
        let unique = |nodes: &[u32]| nodes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        self.shared.tell(Report::Recovered {
            view: self.view.number,
            members: self.members(),
            waits_for,
            failed: unique(&self.failed),
            readmitted: unique(&self.readmitted),
            known,
            rows: tally.rows,
            lost: tally.lost,
            replaced: tally.replaced,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }

    fn members(&self) -> u32 {
        u32::try_from(self.view.members.len()).unwrap_or(u32::MAX)
    }

    fn job(&self) -> Job {
        self.shared.config.job
    }
}

/// Asks a member, which may be this one, until it answers.
async fn ask(shared: &Shared, node: u32, request: Request) -> Result<Answer, String> {
    let Some(connection) = shared.connections.get(&node) else {
        return Ok(shared.answer(request));
    };
    let asked = Instant::now();
    loop {
        match connection.lock().await.ask(&request).await {
            Ok(answer) => return Ok(answer),
            Err(error) if asked.elapsed() >= SILENCE_MAX => {
                return Err(format!("node {node} does not answer: {error}"));
            }
            Err(_) => {}
        }
        sleep(AGAIN).await;
    }
}
