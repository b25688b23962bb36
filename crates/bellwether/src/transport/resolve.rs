//! Deciding which addresses are dialled.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::{Leash, leash};
use super::dial::{Dialler, Place, stopped};
use super::enrolled::Enrolled;
use super::shared::Shared;
use crate::config::Peers;

/// Names are looked up that often.
const PERIOD: Duration = Duration::from_secs(5);

/// A name server that has not answered by then is asked again in the next round.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

/// No more addresses are dialled.
const ADDRESSES_MAX: usize = 256;

/// Dials all peers until it is told to stop. Listed members are known from the moment that this is called.
pub(super) fn run(shared: Arc<Shared>, stop: watch::Receiver<bool>) -> impl Future<Output = ()> + Send {
    let members = shared.table().members.clone();
    let dialling = match members {
        Peers::Listed(_) => Dialling::Listed(Enrolled::new(shared)),
        Peers::Named(names) => Dialling::Named(Followed::new(shared, names)),
    };
    async move {
        match dialling {
            Dialling::Listed(enrolled) => enrolled.run(stop).await,
            Dialling::Named(followed) => followed.run(stop).await,
        }
    }
}

/// Whom to dial.
enum Dialling {
    Listed(Enrolled),
    Named(Followed),
}

/// Names, the addresses that they had when they were last looked up, and the dialling of those.
struct Followed {
    shared: Arc<Shared>,
    names: BTreeMap<String, Vec<SocketAddr>>,
    dialled: BTreeMap<SocketAddr, (u64, Leash)>,
    tasks: JoinSet<()>,
}

impl Followed {
    fn new(shared: Arc<Shared>, names: Vec<String>) -> Self {
        let names = names.into_iter().map(|name| (name, Vec::new())).collect();
        Self { shared, names, dialled: BTreeMap::new(), tasks: JoinSet::new() }
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        // That names are about to be looked up is known before anybody can answer.
        self.shared.change(|table| ((), table.news())).await;
        loop {
            tokio::select! {
                () = self.look_up() => {}
                () = stopped(&mut stop) => break,
            }
            self.follow(&stop);
            self.shared.change(|table| ((), table.has_searched())).await;
            let pause = async {
                // Somebody came from an address that is not known, or it is time.
                let _ = timeout(PERIOD, self.shared.search.notified()).await;
            };
            tokio::select! {
                () = pause => {}
                () = stopped(&mut stop) => break,
            }
        }
        while self.tasks.join_next().await.is_some() {}
    }

    /// A name that cannot be resolved keeps the addresses that it had.
    async fn look_up(&mut self) {
        for (name, addresses) in &mut self.names {
            match timeout(LOOKUP_TIMEOUT, lookup_host(name)).await {
                Ok(Ok(found)) => *addresses = found.take(ADDRESSES_MAX).collect(),
                Ok(Err(error)) => tracing::warn!(%name, %error, "a name cannot be resolved"),
                Err(_) => tracing::warn!(%name, "a name was not resolved in time"),
            }
        }
    }

    /// Dials addresses that are new, and lets those go that no name has any more and where nobody is connected.
    fn follow(&mut self, stop: &watch::Receiver<bool>) {
        while self.tasks.try_join_next().is_some() {}
        let wanted: BTreeSet<SocketAddr> =
            self.names.values().flatten().copied().take(ADDRESSES_MAX).collect();
        let connected = self.shared.table().dials_up();
        self.dialled.retain(|address, (no, _)| wanted.contains(address) || connected.contains(no));
        for address in wanted {
            if !self.dialled.contains_key(&address) {
                let (leash, held) = leash();
                let dialler = Dialler::new(&self.shared, Place::Address(address));
                self.dialled.insert(address, (dialler.no(), leash));
                self.tasks.spawn(dialler.run(stop.clone(), held));
            }
        }
    }
}
