//! Giving a connection its place, unless its id is in use by another process that is alive.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::connection::{Held, leash};
use super::inbound::Ask;
use super::queue::Queue;
use super::shared::Shared;
use super::table::{Incumbent, Inward, Outward, Process, Rejected};

/// A process that is alive answers within that time. It does so from its event loop, whatever else it has to do.
const ALIVE_TIMEOUT: Duration = Duration::from_millis(250);

/// At most this many processes of one id may turn out to be dead while one waits for its place.
const ROUNDS: usize = 3;

/// No more questions wait on one connection.
const ASKS_MAX: usize = 4;

/// Why a connection has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// A live process has the id.
    InUse { at: SocketAddr },
    /// That very process is connected already.
    Spare,
    /// There is none left.
    Full,
}

/// The place of an accepted connection.
#[derive(Debug)]
pub(super) struct InwardPlace {
    pub(super) no: u64,
    pub(super) asked: mpsc::Receiver<Ask>,
    pub(super) held: Held,
}

/// The place of a dialled connection.
#[derive(Debug)]
pub(super) struct OutwardPlace {
    pub(super) no: u64,
    pub(super) queue: Arc<Queue>,
    pub(super) held: Held,
}

impl Shared {
    /// The place of a connection that this process dialled to us. It is in the table when this returns.
    pub(super) async fn admit_inward(&self, process: Process) -> Result<InwardPlace, NoPlace> {
        let mut over = None;
        for _ in 0..ROUNDS {
            let (leash, held) = leash();
            let (asks, asked) = mpsc::channel(ASKS_MAX);
            let taken = self.change(|table| {
                let no = table.number();
                let (verdict, event) = table.take_inward(Inward { no, process, asks, _leash: leash }, over);
                (verdict.map(|()| no), event)
            });
            match taken.await {
                Ok(no) => return Ok(InwardPlace { no, asked, held }),
                Err(rejected) => over = Some(self.weigh(rejected, process).await?),
            }
        }
        Err(NoPlace::Full)
    }

    /// The same for a connection that we dialled to this process.
    pub(super) async fn admit_outward(&self, process: Process) -> Result<OutwardPlace, NoPlace> {
        let mut over = None;
        for _ in 0..ROUNDS {
            let (leash, held) = leash();
            let queue = Arc::new(Queue::default());
            let taken = self.change(|table| {
                let (no, queue) = (table.number(), Arc::clone(&queue));
                let (verdict, event) =
                    table.take_outward(Outward { no, process, queue, _leash: leash }, over);
                (verdict.map(|()| no), event)
            });
            match taken.await {
                Ok(no) => return Ok(OutwardPlace { no, queue, held }),
                Err(rejected) => over = Some(self.weigh(rejected, process).await?),
            }
        }
        Err(NoPlace::Full)
    }

    /// The connection whose place can be taken, because its process does not answer.
    async fn weigh(&self, rejected: Rejected, claimant: Process) -> Result<u64, NoPlace> {
        match rejected {
            Rejected::Spare => Err(NoPlace::Spare),
            Rejected::Full => Err(NoPlace::Full),
            Rejected::Contested(incumbent) if self.is_alive(&incumbent).await => {
                // If it takes no more questions, others have told it.
                let _ = incumbent.asks.try_send(Ask::Duplicate { at: claimant.address });
                Err(NoPlace::InUse { at: incumbent.address })
            }
            Rejected::Contested(incumbent) => Ok(incumbent.no),
        }
    }

    async fn is_alive(&self, incumbent: &Incumbent) -> bool {
        let (tell, told) = oneshot::channel();
        let answered = async {
            incumbent.asks.send(Ask::Alive(tell)).await.ok()?;
            told.await.ok()
        };
        let answer = timeout(ALIVE_TIMEOUT, answered).await;
        matches!(answer, Ok(Some(()))) || (answer.is_err() && self.is_behind())
    }
}
