//! Computing rows and making them safe.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::Shared;
use crate::fractal;
use crate::job::Place;
use crate::link::ANSWER_TIMEOUT;
use crate::notice::View;
use crate::report::Report;
use crate::shard::Shard;
use crate::task::Plan;
use crate::wire::{Answer, Request};

/// How long a row that enough members keep waits for the others.
const GRACE: Duration = Duration::from_millis(200);
/// How long to wait before a row that too few members keep is handed out again.
const AGAIN: Duration = Duration::from_millis(50);

/// What became of a row that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Enough members keep it.
    Safe,
    /// Too few do.
    Short,
    /// Some know a later view: this one is over.
    Over,
}

/// Does this worker's share of a view's plan, until that is done or the view is over.
pub(super) async fn work(shared: Arc<Shared>, view: View, plan: Plan) {
    let mut pace = Pace::new(shared.config.pace);
    for place in plan.places(&shared.config.job, shared.config.node) {
        shared.keeper().at_work = Some(place.tile);
        let row = match in_hand(&shared, place) {
            Some(row) => row,
            None => compute(&shared, &mut pace, place).await,
        };
        loop {
            match hand_out(&shared, &view, place, &row).await {
                Outcome::Safe => break,
                Outcome::Short => sleep(AGAIN).await,
                // What comes next it will be told; the row stays in its hands until then.
                Outcome::Over => return,
            }
        }
        let held = {
            let mut keeper = shared.keeper();
            keeper.in_hand = None;
            keeper.held()
        };
        shared.tell(Report::Safe { place, held });
    }
    shared.keeper().at_work = None;
}

/// A row that was computed in an earlier view, and is not safe yet.
fn in_hand(shared: &Shared, place: Place) -> Option<Vec<u8>> {
    shared.keeper().in_hand.as_ref().filter(|(held, _)| *held == place).map(|(_, row)| row.clone())
}

async fn compute(shared: &Shared, pace: &mut Pace, place: Place) -> Vec<u8> {
    pace.next().await;
    let row = fractal::row(&shared.config.job.picture, place.tile, place.row);
    shared.keeper().in_hand = Some((place, row.clone()));
    shared.tell(Report::Computed { place });
    row
}

/// Gives every member of the view its shard of a row.
async fn hand_out(shared: &Arc<Shared>, view: &View, place: Place, row: &[u8]) -> Outcome {
    let (job, me) = (&shared.config.job, shared.config.node);
    let mut asked = JoinSet::new();
    let (mut kept, mut over) = (0, false);
    for shard in Shard::all(job, place, view.number, row) {
        if shard.node == me {
            let own = shared.keeper().keep(vec![shard]);
            match own {
                Ok(own) => (kept, over) = (own.kept, own.old > 0),
                Err(error) => shared.trouble(format!("cannot keep a shard: {error}")),
            }
        } else if let Some(link) =
            shared.links.get(&shard.node).filter(|_| view.members.contains(&shard.node))
        {
            let link = Arc::clone(link);
            asked.spawn(async move { link.lock().await.ask(&Request::Put(vec![shard])).await });
        }
    }
    let mut until = Instant::now() + ANSWER_TIMEOUT;
    while let Ok(Some(answer)) = timeout_at(until, asked.join_next()).await {
        if let Ok(Ok(Answer::Kept { kept: count, old, .. })) = answer {
            kept += count;
            over |= old > 0;
        }
        if kept >= job.code.data() {
            until = until.min(Instant::now() + GRACE);
        }
    }
    match kept {
        _ if over => Outcome::Over,
        kept if kept >= job.code.data() => Outcome::Safe,
        _ => Outcome::Short,
    }
}

/// So many rows in a second, as if each worker had a machine of its own.
#[derive(Debug)]
struct Pace {
    every: Duration,
    due: Instant,
}

impl Pace {
    fn new(rows_per_second: f64) -> Self {
        Self { every: Duration::from_secs_f64(1.0 / rows_per_second), due: Instant::now() }
    }

    /// Waits until the next row may be done. What is late is not caught up with: a machine has no second to spare.
    async fn next(&mut self) {
        self.due = (self.due + self.every).max(Instant::now());
        sleep_until(self.due).await;
    }
}
