//! An arbiter over an engine: one session of the engine, kept up, in which any number of names is held.
//!
//! ```text
//!  campaigns ──► slots, tickets ──► Engine::enter, leave, proclaim
//!  session.rs ──► Engine::open, renew        until when all of it is valid
//!  board.rs  ◄── Engine::follow              who is where in which line
//! ```
//!
//! **Validity is counted from before a renewal was sent**, by a clock that goes on while the machine is suspended, with an allowance for
//! drift. It ends by itself. An engine that does not answer takes it away from nobody too early and from nobody too late.

mod board;
mod campaign;
mod session;
mod slots;

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::order::Declined;
use bellwether_proto::ident::NodeId;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;

use super::engine::Told;
use super::{
    Arbiter, Campaign, Candidacy, Denied, Doing, Engine, News, Observe, Seen, Terms, Trouble, VALUE_MAX,
};
use crate::backoff::Backoff;
use crate::elections::{GrantKind, Name};
use board::Board;
use session::Tenancy;
use slots::Slots;

/// Between two tries of something that an engine did not do: at first, and later.
const AGAIN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// An arbiter over an engine. All clones are the same. It goes on on the runtime on which it was opened; when the last clone and the
/// last campaign are gone, it ends its session.
#[derive(Clone)]
pub struct Kept<E>(Arc<Shared<E>>, Life);

/// While there is one, the session is kept up.
type Life = mpsc::Sender<Infallible>;

/// What campaigns have in common.
struct Shared<E> {
    engine: E,
    board: Board,
    slots: Slots,
    /// The session, while there is one.
    session: watch::Sender<Option<Tenancy>>,
    /// Somebody was told that the session is over.
    doubt: Notify,
    asks_back: watch::Sender<Option<Duration>>,
}

impl<E: Engine> Kept<E> {
    /// Opens a session. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If the engine does not answer, or refuses.
    pub async fn open(engine: E) -> Result<Self, Trouble> {
        let first = session::open(&engine, 1).await?;
        let shared = Arc::new(Shared {
            engine,
            board: Board::default(),
            slots: Slots::default(),
            session: watch::Sender::new(Some(first.clone())),
            doubt: Notify::new(),
            asks_back: watch::Sender::new(None),
        });
        let (life, lives) = mpsc::channel(1);
        tokio::spawn(session::keep(Arc::clone(&shared), first, lives));
        Ok(Self(shared, life))
    }
}

impl<E: Engine> Shared<E> {
    /// Follows what becomes of lines, for ever.
    async fn follow(self: Arc<Self>) -> Infallible {
        let heard = Arc::downgrade(&self);
        let news = News(Box::new(move |told| {
            if let Some(shared) = heard.upgrade() {
                shared.hear(told);
            }
        }));
        let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
        loop {
            let began = crate::uptime::now();
            let trouble = self.engine.follow(&news).await;
            self.board.is_current(false);
            tracing::debug!("{} is followed anew: {trouble}", self.engine.terms().engine);
            sleep(backoff.after(crate::uptime::now().saturating_sub(began))).await;
        }
    }

    fn hear(self: &Arc<Self>, told: Told) {
        match told {
            Told::Line(name, line) => {
                self.leave_orphans(&name, &line);
                self.board.set(name, line);
            }
            Told::All(lines, at) => {
                lines.iter().for_each(|(name, line)| self.leave_orphans(name, line));
                self.board.set_all(lines, at);
                self.board.is_current(true);
            }
        }
    }

    /// What a request that was given up did all the same is undone: nobody else would.
    fn leave_orphans(self: &Arc<Self>, name: &Name, line: &super::Line) {
        let Some(tenancy) = self.session.borrow().clone() else { return };
        let ours = line.tickets.iter().filter(|ticket| *ticket.session == *tenancy.id);
        for orphan in ours.filter(|ticket| !self.slots.is_taken(name, ticket.slot)) {
            tokio::spawn(campaign::leave(Arc::clone(self), tenancy.no, name.clone(), orphan.clone(), None));
        }
    }
}

impl<E: Engine> Arbiter for Kept<E> {
    fn terms(&self) -> Terms {
        self.0.engine.terms()
    }

    fn campaign(&self, name: Name, candidacy: Candidacy) -> Doing<'_, Result<Box<dyn Campaign>, Denied>> {
        let begun = match candidacy {
            Candidacy { kind: Some(GrantKind::Token), .. } => {
                Err(Denied::declined(Declined::OtherKind { kind: GrantKind::Lease }))
            }
            Candidacy { value, .. } if value.len() > VALUE_MAX => Err(Denied::declined(Declined::TooLong)),
            candidacy => Ok(campaign::begin(Arc::clone(&self.0), self.1.clone(), name, candidacy)),
        };
        Box::pin(async { begun })
    }

    fn known(&self, name: &Name) -> Option<Seen> {
        self.0.board.get(name)
    }

    fn read(&self, name: Name) -> Doing<'_, Result<Option<Seen>, Denied>> {
        Box::pin(async move {
            let line = self.0.engine.read(&name).await?;
            self.0.board.set(name.clone(), line);
            Ok(self.0.board.get(&name))
        })
    }

    fn observe(&self, name: &Name) -> Box<dyn Observe> {
        Box::new(self.0.board.observe(name))
    }

    fn asks_back(&self) -> watch::Receiver<Option<Duration>> {
        self.0.asks_back.subscribe()
    }

    fn ended(&self) -> Doing<'_, Denied> {
        Box::pin(pending())
    }

    fn node(&self) -> Option<NodeId> {
        None
    }
}

impl<E: Engine> fmt::Debug for Kept<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.0.engine).finish()
    }
}

impl<E: Engine> fmt::Debug for Shared<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.fmt(f)
    }
}
