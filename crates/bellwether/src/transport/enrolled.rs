//! Dialling the members that are listed, as they come and go.

use std::collections::BTreeMap;
use std::sync::Arc;

use bellwether_proto::ident::NodeId;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::{Leash, leash};
use super::dial::{Dialler, Place, stopped};
use super::shared::Shared;
use crate::config::Peers;

/// The others on the list, and the dialling of each.
pub(super) struct Enrolled {
    shared: Arc<Shared>,
    /// Each with the address at which it is dialled.
    dialled: BTreeMap<NodeId, (String, Leash)>,
    /// Those that are not being dialled yet.
    new: Vec<(NodeId, String, Dialler)>,
    tasks: JoinSet<()>,
}

impl Enrolled {
    /// Everybody who is listed is known when this returns.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let mut enrolled = Self { shared, dialled: BTreeMap::new(), new: Vec::new(), tasks: JoinSet::new() };
        enrolled.take_in();
        enrolled
    }

    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            self.dial(&stop).await;
            tokio::select! {
                () = self.shared.roster.notified() => {}
                () = stopped(&mut stop) => break,
            }
            self.let_go().await;
            self.take_in();
        }
        while self.tasks.join_next().await.is_some() {}
    }

    /// Of the members that were listed since.
    fn take_in(&mut self) {
        let listed = self.listed();
        for (id, address) in listed.into_iter().filter(|(id, _)| !self.dialled.contains_key(id)) {
            let dialler = Dialler::new(&self.shared, Place::Member(id, address.clone()));
            self.new.push((id, address, dialler));
        }
    }

    async fn dial(&mut self, stop: &watch::Receiver<bool>) {
        while self.tasks.try_join_next().is_some() {}
        // That they are about to be asked is known before any of them can answer.
        self.shared.change(|table| ((), table.news())).await;
        for (id, address, dialler) in self.new.drain(..) {
            let (leash, held) = leash();
            self.dialled.insert(id, (address, leash));
            self.tasks.spawn(dialler.run(stop.clone(), held));
        }
    }

    /// Those that are not on the list any more, or have another address there.
    async fn let_go(&mut self) {
        let listed = self.listed();
        let stays = |id: &NodeId, address: &String| listed.get(id) == Some(address);
        let gone = self.dialled.iter().filter(|(id, (address, _))| !stays(id, address));
        let gone: Vec<NodeId> = gone.map(|(id, _)| *id).collect();
        for id in gone {
            // First the dialling, so that it does not begin anew.
            self.dialled.remove(&id);
            self.shared.change(|table| ((), table.let_go(id))).await;
        }
    }

    fn listed(&self) -> BTreeMap<NodeId, String> {
        let listed = match &self.shared.table().members {
            Peers::Listed(listed) => listed.clone(),
            Peers::Named(_) => BTreeMap::new(),
        };
        listed.into_iter().filter(|(id, _)| *id != self.shared.me).collect()
    }
}
