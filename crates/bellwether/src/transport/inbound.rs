//! A connection that was accepted: frames come in, and now and then a question goes out.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use bellwether_proto::wire;
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf, split};
use tokio::sync::{mpsc, oneshot};

use super::End;
use super::admit::InwardPlace;
use super::connection::{Over, say_goodbye, write};
use super::record::{self, RECORD_MAX, Record};
use super::shared::Shared;
use super::table::Process;

/// What the dialer of a connection is to be asked or told.
#[derive(Debug)]
pub(super) enum Ask {
    /// Is it alive?
    Alive(oneshot::Sender<()>),
    /// A process at that address claimed its id and was refused.
    Duplicate { at: SocketAddr },
}

/// Welcomes the dialer, and reads until the connection is over, or the dialer is distrusted.
pub(super) async fn run<S>(
    shared: &Shared,
    process: Process,
    mut stream: S,
    place: InwardPlace,
    distrusted: impl Future<Output = ()>,
) where
    S: AsyncRead + AsyncWrite,
    S: Unpin,
{
    let InwardPlace { no, mut asked, mut held } = place;
    let over = if write(&mut stream, &Record::Welcome(shared.welcome())).await.is_err() {
        Over::Ended(End::Broken)
    } else {
        let (mut reading, mut writing) = split(stream);
        let pings = Pings::default();
        let over = tokio::select! {
            over = receive(shared, process, no, &mut reading, &pings) => over,
            over = ask(&mut asked, &mut writing, &pings) => over,
            () = held.released() => Over::Released,
            () = distrusted => Over::Released,
        };
        if !matches!(over, Over::Ended(_)) {
            say_goodbye(reading.unsplit(writing)).await;
        }
        over
    };
    shared.change(|table| ((), table.lost(process.id, no, over.how()))).await;
}

async fn receive<S>(
    shared: &Shared,
    process: Process,
    no: u64,
    reading: &mut ReadHalf<S>,
    pings: &Pings,
) -> Over
where
    S: AsyncRead,
{
    let (mut bytes, mut skipped) = (Vec::new(), false);
    loop {
        match record::read(reading, RECORD_MAX, &mut bytes).await {
            Ok(Record::Frame(frame)) => match wire::decode(shared.channel, frame) {
                Ok(frame) if frame.from != process.id => {
                    shared.counts.refused_connections.add(1);
                    return shared
                        .misbehaved(process, &format!("it sent a frame in the name of node {}", frame.from));
                }
                Ok(frame) => {
                    if !shared.deliver(no, frame).await {
                        return Over::Released;
                    }
                }
                // A later version may say more than this one knows. It can do without an answer to that.
                Err(error) if error.is_about_message() => {
                    shared.skip(process, &error, std::mem::replace(&mut skipped, true));
                }
                Err(error) => return shared.misbehaved(process, &error),
            },
            Ok(Record::Pong { no }) => pings.answered(no),
            Ok(other) => return shared.misbehaved(process, &format!("it sent {} out of turn", other.kind())),
            Err(error) => return shared.over(process, &error),
        }
    }
}

async fn ask<S>(asked: &mut mpsc::Receiver<Ask>, writing: &mut WriteHalf<S>, pings: &Pings) -> Over
where
    S: AsyncWrite,
{
    while let Some(ask) = asked.recv().await {
        let written = match ask {
            Ask::Alive(tell) => write(writing, &Record::Ping { no: pings.ask(tell) }).await,
            Ask::Duplicate { at } => write(writing, &Record::Duplicate { at: &at.to_string() }).await,
        };
        if written.is_err() {
            return Over::Ended(End::Broken);
        }
    }
    // The table has let the connection go.
    Over::Released
}

/// Questions that have not been answered.
#[derive(Debug, Default)]
struct Pings(Mutex<Unanswered>);

#[derive(Debug, Default)]
struct Unanswered {
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Pings {
    fn ask(&self, tell: oneshot::Sender<()>) -> u64 {
        let mut unanswered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those who asked wait for a moment only; what they have given up is not kept.
        unanswered.waiting.retain(|_, tell| !tell.is_closed());
        unanswered.last += 1;
        let no = unanswered.last;
        unanswered.waiting.insert(no, tell);
        no
    }

    fn answered(&self, no: u64) {
        let mut unanswered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = unanswered.waiting.remove(&no) {
            // Who asked may have stopped waiting.
            let _ = tell.send(());
        }
    }
}
