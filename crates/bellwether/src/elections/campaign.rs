//! One campaign: from when a name is asked for until it is given back.

use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::order::{Lost, Order};
use bellwether_proto::ident::NodeId;
use tokio::sync::mpsc;

use super::board::is_by_store;
use super::slot::Slot;
use super::{GrantKind, Name};
use crate::command::{Asked, Command};
use crate::error::{Expired, Refused};
use crate::shared::Shared;
use crate::uptime;

/// A campaign of a session for a name. While it waits, it is in a queue; when it has lost the name, it waits again. Dropping it gives
/// the name back at once.
#[derive(Debug)]
pub struct Campaign {
    pub(super) session: u64,
    pub(super) name: Name,
    pub(super) kind: GrantKind,
    pub(super) slot: Arc<Slot>,
    /// How often its state had changed when it was seen last.
    pub(super) seen: u64,
    pub(super) shared: Arc<Shared>,
    /// `None` when it is given back.
    pub(super) commands: Option<mpsc::Sender<Command>>,
}

/// How a campaign stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It waits.
    Waiting {
        /// So many go before it; `None` while that is not known.
        before: Option<u32>,
        /// Why it holds the name no more, if it did.
        lost: Option<Lost>,
    },
    /// It holds the name.
    Held {
        /// The token.
        token: u64,
    },
    /// It does not count: the name is of another kind.
    Unfit {
        /// The kind of the name.
        kind: GrantKind,
    },
    /// It was given back, or the member has ended.
    Over,
}

impl Campaign {
    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What makes the grant valid.
    pub fn kind(&self) -> GrantKind {
        self.kind
    }

    /// How it stands, as far as the member knew when it ran last.
    pub fn state(&self) -> State {
        self.slot.get()
    }

    /// Waits until that changes, and says how it stands then. What changed in between is not told.
    pub async fn changed(&mut self) -> State {
        if self.state() == State::Over {
            return State::Over;
        }
        self.slot.changed(&mut self.seen).await
    }

    /// Until when it may act: until the machine has been up for so long. [`Duration::MAX`] if the store that it writes to decides that;
    /// `None` if it may not act now. It looks at the clock at every call.
    pub fn valid_until(&self) -> Option<Duration> {
        let State::Held { .. } = self.state() else { return None };
        let until = match is_by_store(self.kind) {
            true => Duration::MAX,
            false => self.shared.elections.lease.borrow().valid_until?,
        };
        // Lost in between, and granted with another lease: then the first look was too early. The clock is looked at last.
        let held = matches!(self.state(), State::Held { .. });
        (held && uptime::now() < until && self.shared.is_awake()).then_some(until)
    }

    /// Whether it may act with that token now.
    ///
    /// # Errors
    /// If the name is not held with it any more, or it is not certain that it is.
    pub fn check(&self, token: u64) -> Result<(), Expired> {
        let held = self.state() == State::Held { token };
        if held && self.valid_until().is_some() && self.state() == (State::Held { token }) {
            Ok(())
        } else {
            Err(Expired { epoch: token })
        }
    }

    /// Proclaims that for as long as the name is held: at most 4096 bytes. Returns when everybody can read it.
    ///
    /// # Errors
    /// If the name is not held.
    pub fn proclaim(&self, value: Arc<[u8]>) -> impl Future<Output = Result<(), Refused>> + Send + use<> {
        let (shared, commands) = (Arc::clone(&self.shared), self.commands.clone());
        let order = Order::Proclaim { session: self.session, name: self.name.clone(), value };
        async move { ask(&shared, commands.as_ref(), order).await }
    }

    /// Gives the name back, or ends the wait for it. Returns when another can hold it. The first candidate of `next` goes first, if
    /// there is one.
    ///
    /// # Errors
    /// If it is not certain that it is given back yet. It will be.
    pub async fn release(mut self, next: Option<NodeId>) -> Result<(), Refused> {
        let order = Order::Release { session: self.session, name: self.name.clone(), next };
        let answer = ask(&self.shared, self.commands.as_ref(), order).await;
        self.commands = None;
        answer
    }
}

async fn ask(shared: &Shared, commands: Option<&mpsc::Sender<Command>>, order: Order) -> Result<(), Refused> {
    match commands {
        Some(commands) => shared.ask(commands, Asked::Order(Box::new(order))).await,
        None => Ok(()),
    }
}

impl Drop for Campaign {
    fn drop(&mut self) {
        let Some(commands) = self.commands.take() else { return };
        let order = Order::Release { session: self.session, name: self.name.clone(), next: None };
        self.shared.elections.give_back(&commands, order);
    }
}
