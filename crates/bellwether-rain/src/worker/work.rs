//! Computing rows and making them safe.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::Shared;
use crate::connection::Connection;
use crate::fractal;
use crate::job::Place;
use crate::notice::View;
use crate::report::Report;
use crate::shard::Shard;
use crate::task::Plan;
use crate::wire::{Answer, Request};

/// How long to wait before a member that did not answer is offered its shard again.
const AGAIN: Duration = Duration::from_millis(50);
/// How long to wait before a row that too few could keep is offered to all again.
const ALL_AGAIN: Duration = Duration::from_millis(500);
/// How many rows a member may be behind. A member that is further behind holds up the others.
const LATE_MAX: usize = 64;

/// Shards on their way to members. They are offered until there is an answer, or the view is over.
type Deliveries = JoinSet<Delivered>;

/// What a member answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivered {
    /// It keeps the shard.
    Kept,
    /// It cannot keep the shard, and is not offered it again in this view if the row is safe without.
    Refused,
    /// It knows a later view: this one is over.
    TooLate,
}

/// What became of a row that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Enough members keep it.
    Safe,
    /// All have answered, and too few can keep it.
    TooFew,
    /// The view is over.
    Over,
}

/// Does this worker's share of a view's plan, until the share is done or the view is over.
pub(super) async fn work(shared: Arc<Shared>, view: View, plan: Plan) {
    let mut pace = Pace::new(shared.config.pace);
    let mut late = Deliveries::new();
    let mut places = plan.places(&shared.config.job, shared.config.node);
    // What it has in its hands first: the next row would take its place.
    let in_hand_now = shared.keeper().in_hand.as_ref().map(|(place, _)| *place);
    places.sort_by_key(|place| Some(*place) != in_hand_now);
    for place in places {
        if !shared.keeper().take_up(place.tile, view.number) {
            return;
        }
        let row = match in_hand(&shared, place) {
            Some(row) => row,
            None => compute(&shared, &mut pace, place).await,
        };
        loop {
            match hand_out(&shared, &view, place, &row, &mut late).await {
                Outcome::Safe => break,
                // Disks may be mended, or the view will change. Nothing else is worth doing: it would not be safe either.
                Outcome::TooFew => sleep(ALL_AGAIN).await,
                // What comes next it will be told; the row stays in its hands until then.
                Outcome::Over => return,
            }
        }
        let held = {
            let mut keeper = shared.keeper();
            keeper.in_hand.take_if(|(held, _)| *held == place);
            keeper.held()
        };
        shared.tell(Report::Safe { place, held });
    }
    shared.keeper().at_work = None;
    while late.join_next().await.is_some() {}
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

/// Gives every member of the view its shard of a row. Once enough have theirs, the rest may follow later.
async fn hand_out(
    shared: &Arc<Shared>,
    view: &View,
    place: Place,
    row: &[u8],
    late: &mut Deliveries,
) -> Outcome {
    let needed = shared.config.job.code.data();
    let (mut kept, mut on_their_way) = send(shared, view, place, row);
    let mut until = None;
    loop {
        if kept >= needed {
            until = until.or(Some(Instant::now() + shared.config.grace));
        }
        let next = on_their_way.join_next();
        let delivered = match until {
            Some(until) => timeout_at(until, next).await.unwrap_or(None),
            None => next.await,
        };
        match delivered {
            Some(Ok(Delivered::Kept)) => kept += 1,
            Some(Ok(Delivered::TooLate)) => return Outcome::Over,
            Some(Ok(Delivered::Refused) | Err(_)) => {}
            None if kept >= needed => break,
            None => return Outcome::TooFew,
        }
    }
    // Nobody waits for these any more, but they are still wanted: the next failure may take some of those that have theirs.
    late.spawn(async move {
        let mut last = Delivered::Kept;
        while let Some(delivered) = on_their_way.join_next().await {
            last = delivered.unwrap_or(last);
        }
        last
    });
    while late.try_join_next().is_some() {}
    while late.len() > LATE_MAX {
        late.join_next().await;
    }
    Outcome::Safe
}

/// Keeps this worker's own shard, and begins to send the others theirs.
fn send(shared: &Arc<Shared>, view: &View, place: Place, row: &[u8]) -> (u32, Deliveries) {
    let (mut kept, mut on_their_way) = (0, Deliveries::new());
    for shard in Shard::all(&shared.config.job, place, view.number, row) {
        if shard.node == shared.config.node {
            match shared.keep(shard) {
                Ok(own) if own.old > 0 => drop(on_their_way.spawn(async { Delivered::TooLate })),
                Ok(own) => kept = own.kept,
                // That has been told; the others may suffice.
                Err(_) => {}
            }
        } else if let Some(connection) = shared.connections.get(&shard.node)
            && view.members.contains(&shard.node)
        {
            on_their_way.spawn(deliver(Arc::clone(connection), shard));
        }
    }
    (kept, on_their_way)
}

/// Offers a shard until there is an answer.
async fn deliver(connection: Arc<Mutex<Connection>>, shard: Shard) -> Delivered {
    let request = Request::Put(vec![shard]);
    loop {
        // Nobody else waits for the connection while this one sleeps.
        let answer = connection.lock().await.ask(&request).await;
        match answer {
            Ok(Answer::Kept { kept: 1, .. }) => return Delivered::Kept,
            Ok(Answer::Kept { old: 1, .. }) => return Delivered::TooLate,
            Ok(_) => return Delivered::Refused,
            // It is not there: that may change, or the view will.
            Err(_) => sleep(AGAIN).await,
        }
    }
}

/// Limits the rows per second, as if each worker had a machine of its own.
#[derive(Debug)]
struct Pace {
    every: Duration,
    due: Instant,
}

impl Pace {
    fn new(rows_per_second: f64) -> Self {
        Self { every: Duration::from_secs_f64(1.0 / rows_per_second), due: Instant::now() }
    }

    /// Waits until the next row may be computed. A worker that is late does not catch up.
    async fn next(&mut self) {
        self.due = (self.due + self.every).max(Instant::now());
        sleep_until(self.due).await;
    }
}
