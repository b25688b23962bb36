//! The session of an engine, kept up: the one place that says until when it is valid.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::{AGAIN, Shared};
use crate::arbiter::{Engine, Trouble};
use crate::backoff::Backoff;
use crate::config::Exclusive;
use crate::uptime::{self, Uptime};

/// It is renewed so often in the time for which it is valid.
const RENEWALS_IN_TTL: u32 = 3;
/// How long the end of a session may take when nobody wants it any more.
const CLOSE_MAX: Duration = Duration::from_secs(5);
const MILLION: u32 = 1_000_000;

/// A session of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tenancy {
    /// Of those of this arbiter: later ones have larger numbers.
    pub(super) no: u64,
    /// What the engine calls it.
    pub(super) id: Arc<str>,
    /// What is held in it may be acted on until the machine has been up for so long.
    pub(super) until: Duration,
    /// For how long it was granted.
    ttl: Duration,
    /// For how long the machine had been up when this was asked for.
    asked: Duration,
}

impl Tenancy {
    /// It was granted for so long when it was asked for at that time, if clocks differ in speed no more than they may.
    fn granted(self, asked: Duration, ttl: Duration) -> Self {
        let certain = MILLION - 2 * Exclusive::DRIFT.0;
        let until = asked + ttl * certain / MILLION;
        Self { until: self.until.max(until), ttl, asked, ..self }
    }
}

/// Opens one.
pub(super) async fn open<E: Engine>(engine: &E, no: u64) -> Result<Tenancy, Trouble> {
    let asked = uptime::now();
    let (id, ttl) = engine.open().await?;
    let tenancy = Tenancy { no, id: id.into(), until: Duration::ZERO, ttl, asked };
    Ok(tenancy.granted(asked, ttl))
}

/// Keeps a session up, and opens another when it has ended, until nobody wants one any more.
pub(super) async fn keep<E: Engine>(
    shared: Arc<Shared<E>>,
    first: Tenancy,
    mut lives: mpsc::Receiver<Infallible>,
) {
    let follows = tokio::spawn(Arc::clone(&shared).follow());
    tokio::select! {
        _ = lives.recv() => {}
        never = keep_up(&shared, first) => match never {},
    }
    follows.abort();
    let last = shared.session.send_replace(None);
    if let Some(last) = last {
        let closed = timeout(CLOSE_MAX, shared.engine.close(&last.id)).await;
        tracing::debug!(?closed, "the last session is ended");
    }
}

async fn keep_up<E: Engine>(shared: &Shared<E>, first: Tenancy) -> Infallible {
    let mut tenancy = first;
    loop {
        let next = tenancy.no + 1;
        renew_while_it_lasts(shared, tenancy).await;
        tracing::warn!("the session with {} has ended; another is opened", shared.engine.terms().engine);
        shared.session.send_replace(None);
        tenancy = open_again(shared, next).await;
        shared.session.send_replace(Some(tenancy.clone()));
    }
}

async fn open_again<E: Engine>(shared: &Shared<E>, no: u64) -> Tenancy {
    let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
    loop {
        match open(&shared.engine, no).await {
            Ok(tenancy) => return tenancy,
            Err(trouble) => {
                tracing::warn!("no session is opened yet: {trouble}");
                sleep(backoff.after(Duration::ZERO)).await;
            }
        }
    }
}

/// Until the engine says that it has ended. One whose validity is over may go on: nobody else holds what it holds before the engine
/// has ended it.
async fn renew_while_it_lasts<E: Engine>(shared: &Shared<E>, mut tenancy: Tenancy) {
    let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
    let mut is_told = false;
    loop {
        let period = tenancy.ttl / RENEWALS_IN_TTL;
        tokio::select! {
            () = Uptime::Machine.reaches(tenancy.asked + period) => {}
            () = shared.doubt.notified() => {}
        }
        loop {
            let asked = uptime::now();
            match timeout(period, shared.engine.renew(&tenancy.id)).await {
                Ok(Ok(ttl)) => {
                    tenancy = tenancy.granted(asked, ttl);
                    shared.board.current(asked);
                    shared.session.send_replace(Some(tenancy.clone()));
                    (backoff, is_told) = (Backoff::between(AGAIN.0, AGAIN.1), false);
                    break;
                }
                Ok(Err(Trouble::Gone)) => return,
                failed => {
                    if !std::mem::replace(&mut is_told, true) {
                        let why = match failed {
                            Ok(Err(trouble)) => trouble.to_string(),
                            _ => "no answer in time".to_owned(),
                        };
                        let left = tenancy.until.saturating_sub(uptime::now());
                        tracing::warn!(
                            "the session is not renewed: {why}; what is held is valid for {left:?} more"
                        );
                    }
                    sleep(backoff.after(Duration::ZERO)).await;
                }
            }
        }
    }
}
