//! Named elections, through this member.

use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::order::{Declined, Order};
use bellwether_proto::tenure;
use tokio::sync::watch;

use super::Member;
use crate::command::Asked;
use crate::elections::{Election, Lease, Name, Session, Watching, WatchingAll};
use crate::error::Refused;

impl Member {
    /// Opens a session: somebody that campaigns through this member.
    ///
    /// # Errors
    /// If leadership is not exclusive.
    pub fn session(&self) -> Result<Session, Refused> {
        self.exclusively(|| self.shared.elections.open())
    }

    /// Goes on with a session of an earlier process of this member. Its number is not used for another.
    ///
    /// # Errors
    /// If leadership is not exclusive.
    pub fn session_again(&self, id: u64) -> Result<Session, Refused> {
        self.exclusively(|| {
            self.shared.elections.open_again(id);
            id
        })
    }

    fn exclusively(&self, open: impl FnOnce() -> u64) -> Result<Session, Refused> {
        if !self.shared.is_exclusive() {
            return Err(Refused::Cannot(tenure::Refused::Election(Declined::NotExclusive)));
        }
        Ok(Session::new(open(), Arc::clone(&self.shared), self.commands.clone()))
    }

    /// The elections that this member knows of, in the order of their names, after that one: so many at most.
    pub fn elections(&self, after: Option<&Name>, limit: usize) -> Vec<Election> {
        self.shared.elections.list(after, limit)
    }

    /// What this member knows of an election.
    pub fn known_election(&self, name: &Name) -> Option<Election> {
        self.shared.elections.get(name)
    }

    /// What a majority of the voters knows of an election.
    ///
    /// # Errors
    /// If no majority answers in time.
    pub async fn read_election(&self, name: &Name) -> Result<Option<Election>, Refused> {
        match self.order(Order::Read { name: name.clone() }).await {
            Ok(()) => Ok(self.known_election(name)),
            Err(Refused::Cannot(tenure::Refused::Election(Declined::Unknown))) => Ok(None),
            Err(refused) => Err(refused),
        }
    }

    /// What becomes known of an election from now on, after what is known now.
    pub fn observe_election(&self, name: &Name) -> Watching {
        Watching::new(name.clone(), Arc::clone(&self.shared))
    }

    /// Of which elections something becomes known from now on, after those that are known now.
    pub fn observe_elections(&self) -> WatchingAll {
        WatchingAll::new(Arc::clone(&self.shared))
    }

    /// Forgets an election that nobody holds or waits for. If there is one of that name again, its tokens are larger all the same.
    ///
    /// # Errors
    /// If somebody holds it or waits for it, or there is none.
    pub async fn delete_election(&self, name: &Name) -> Result<(), Refused> {
        self.order(Order::Delete { name: name.clone() }).await
    }

    /// Until when this member's lease is valid, on which everything of kind `lease` rests that is held through it: until the machine has
    /// been up for so long. It looks at the clock.
    pub fn lease_valid_until(&self) -> Option<Duration> {
        let Lease { valid_until } = *self.shared.elections.lease.borrow();
        valid_until.filter(|until| self.shared.clock.uptime.now() < *until && self.shared.is_awake())
    }

    /// Tells whenever the lease is extended, or ends.
    pub fn lease_changes(&self) -> watch::Receiver<Lease> {
        self.shared.elections.lease.subscribe()
    }

    /// For how long that lease is valid each time; nothing where leadership is not exclusive.
    pub(crate) fn lease_ttl(&self) -> Duration {
        self.shared.lease_ttl.unwrap_or_default()
    }

    /// When names that are held through guards have to be given back, if they have.
    pub(crate) fn asks_names_back(&self) -> watch::Receiver<Option<Duration>> {
        self.shared.elections.seats.leaving()
    }

    async fn order(&self, order: Order) -> Result<(), Refused> {
        self.shared.ask(&self.commands, Asked::Order(Box::new(order))).await
    }
}
