//! A connection that was dialled: frames go out, and now and then a question comes in.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf, split};
use tokio::time::timeout;

use super::admit::OutwardPlace;
use super::connection::{Over, say_goodbye, write_bytes};
use super::queue::Queue;
use super::record::{self, CONTROL_MAX, Record};
use super::shared::Shared;
use super::table::Process;
use super::{End, NetEvent};

/// After a failed write, a goodbye that the peer sent before is looked for no longer than this.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(100);

/// Writes what is queued until the connection is over, or the peer is distrusted.
pub(super) async fn run<S>(
    shared: &Shared,
    process: Process,
    stream: S,
    place: OutwardPlace,
    distrusted: impl Future<Output = ()>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let OutwardPlace { no, queue, mut held } = place;
    let (mut reading, mut writing) = split(stream);
    let over = tokio::select! {
        () = send(shared, &queue, &mut writing) => None,
        over = listen(shared, process, &queue, &mut reading) => Some(over),
        () = held.released() => Some(Over::Released),
        () = distrusted => Some(Over::Released),
    };
    let over = match over {
        Some(over) => over,
        // A write fails as well when the peer has said goodbye and gone; then its word counts.
        None => timeout(GOODBYE_TIMEOUT, listen(shared, process, &queue, &mut reading))
            .await
            .unwrap_or(Over::Ended(End::Broken)),
    };
    if !matches!(over, Over::Ended(_)) {
        say_goodbye(reading.unsplit(writing)).await;
    }
    shared.change(|table| ((), table.lost(process.id, no, over.how()))).await;
    shared.counts.dropped.add(queue.len());
}

/// Returns when the peer takes no more.
async fn send<S: AsyncWrite>(shared: &Shared, queue: &Queue, writing: &mut WriteHalf<S>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        queue.take_batch(&mut bytes).await;
        if write_bytes(writing, &bytes).await.is_err() {
            return;
        }
        shared.counts.sent_bytes.add(bytes.len());
    }
}

async fn listen<S: AsyncRead>(
    shared: &Shared,
    process: Process,
    queue: &Queue,
    reading: &mut ReadHalf<S>,
) -> Over {
    let mut bytes = Vec::new();
    loop {
        match record::read(reading, CONTROL_MAX, &mut bytes).await {
            Ok(Record::Ping { no }) => queue.pong(no),
            Ok(Record::Duplicate { at }) => shared.tell(NetEvent::Duplicate { at: at.to_owned() }).await,
            Ok(other) => return shared.misbehaved(process, &format!("it sent {} out of turn", other.kind())),
            Err(error) => return shared.over(process, &error),
        }
    }
}
