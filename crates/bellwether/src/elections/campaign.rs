//! One campaign: from when a name is asked for until it is given back.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bellwether_proto::exclusive::order::Order;
use bellwether_proto::ident::NodeId;
use tokio::sync::mpsc;

use super::sight::Sight;
use super::{GrantKind, Name, State};
use crate::command::{Asked, Command};
use crate::error::{Expired, Refused};
use crate::shared::Shared;

/// A campaign of a session for a name. While it waits, it is in a queue; when it has lost the name, it waits again. Dropping it gives
/// the name back at once.
#[derive(Debug)]
pub struct Campaign {
    pub(super) session: u64,
    pub(super) name: Name,
    pub(super) sight: Sight,
    /// How often its state had changed when it was seen last.
    pub(super) seen: u64,
    /// `None` when it is given back.
    pub(super) commands: Option<mpsc::Sender<Command>>,
}

impl Campaign {
    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What makes the grant valid.
    pub fn kind(&self) -> GrantKind {
        self.sight.kind
    }

    /// How it stands, as far as the member knew when it ran last.
    pub fn state(&self) -> State {
        self.sight.state()
    }

    /// Waits until that changes, and says how it stands then. What changed in between is not told.
    pub async fn changed(&mut self) -> State {
        poll_fn(|cx| self.poll_changed(cx)).await
    }

    /// The same for those that follow many campaigns, and have no task for each: if nothing has changed, the waker of `cx` is called
    /// when something does, in place of the one before.
    pub fn poll_changed(&mut self, cx: &Context<'_>) -> Poll<State> {
        match self.state() {
            State::Over => Poll::Ready(State::Over),
            _ => self.sight.slot.poll_changed(&mut self.seen, cx),
        }
    }

    /// Until when it may act: until the machine has been up for so long. [`Duration::MAX`] if the store that it writes to decides that;
    /// `None` if it may not act now. It looks at the clock at every call.
    pub fn valid_until(&self) -> Option<Duration> {
        self.sight.valid_until()
    }

    /// Whether it may act with that token now.
    ///
    /// # Errors
    /// If the name is not held with it any more, or it is not certain that it is.
    pub fn check(&self, token: u64) -> Result<(), Expired> {
        self.sight.check(token).map(drop)
    }

    /// The same look, for those that hold no campaign.
    pub(crate) fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Proclaims that for as long as the name is held: at most 4096 bytes. Returns when everybody can read it.
    ///
    /// # Errors
    /// If the name is not held.
    pub fn proclaim(&self, value: Arc<[u8]>) -> impl Future<Output = Result<(), Refused>> + Send + use<> {
        let (shared, commands) = (Arc::clone(&self.sight.shared), self.commands.clone());
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
        let answer = ask(&self.sight.shared, self.commands.as_ref(), order).await;
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
        self.sight.shared.elections.give_back(&commands, order);
    }
}
