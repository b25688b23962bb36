//! The connections of one member in memory.

use std::collections::BTreeMap;
use std::future::ready;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use bellwether_proto::ident::{Incarnation, NodeId};

use super::network::{Network, Process, Wires, address};
use crate::links::{End, Links};
use crate::status::{Connection, Counters, Participant};
use crate::tls::{Identity, TlsError};

/// Where one process is plugged in.
#[derive(Clone, Debug)]
pub(super) struct Plug {
    pub(super) network: Arc<Network>,
    pub(super) id: NodeId,
    pub(super) process: u64,
}

impl Plug {
    /// The process has ended, with a goodbye or without. If it has already, nothing happens.
    pub(super) fn pull(&self, how: End) {
        self.network.unplug(self.id, self.process, how);
    }

    /// What is asked of a process that has ended is nothing.
    fn process<T: Default>(&self, look: impl FnOnce(&mut Process) -> T) -> T {
        self.network.wires().processes.get_mut(&self.id).map(look).unwrap_or_default()
    }
}

impl Links for Plug {
    fn local_addr(&self) -> SocketAddr {
        address(self.id)
    }

    fn send(&self, to: NodeId, frame: Arc<[u8]>) {
        self.network.wires().send(self.id, to, frame);
    }

    fn broadcast(&self, frame: Arc<[u8]>) {
        let mut wires = self.network.wires();
        let peers: Vec<NodeId> = wires.peers(self.id).collect();
        peers.into_iter().for_each(|peer| wires.send(self.id, peer, Arc::clone(&frame)));
    }

    fn set_incarnation(&self, incarnation: Incarnation) {
        self.process(|process| process.incarnation = incarnation);
    }

    fn members(&self) -> BTreeMap<NodeId, String> {
        self.process(|process| process.members.clone())
    }

    fn enrol(&self, members: &BTreeMap<NodeId, String>) {
        let differs = |process: &mut Process| {
            let before = std::mem::replace(&mut process.members, members.clone());
            before != *members
        };
        if self.process(differs) {
            self.network.wires().follow_list(self.id);
        }
    }

    fn certificate_until(&self) -> Option<SystemTime> {
        None
    }

    /// Nobody looks at certificates here.
    fn renew(&self, _: &Identity) -> Result<(), TlsError> {
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        let wires = self.network.wires();
        let Some(process) = wires.processes.get(&self.id) else { return Vec::new() };
        let others = process.members.keys().filter(|id| **id != self.id);
        let others = others.map(|id| other(&wires, process, self.id, *id));
        let ours = Participant {
            id: Some(self.id),
            address: address(self.id).to_string(),
            connection: Connection::Connected(address(self.id)),
            incarnation: Some(process.incarnation),
            heard: None,
            is_self: true,
        };
        [ours].into_iter().chain(others).collect()
    }

    fn counters(&self) -> Counters {
        self.process(|process| process.counters)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.pull(End::Goodbye);
        Box::pin(ready(()))
    }
}

fn other(wires: &Wires, process: &Process, id: NodeId, peer: NodeId) -> Participant {
    let is_connected = wires.peers(id).any(|connected| connected == peer);
    let there = wires.processes.get(&peer).filter(|_| is_connected);
    Participant {
        id: Some(peer),
        address: address(peer).to_string(),
        connection: match there {
            Some(_) => Connection::Connected(address(peer)),
            None => Connection::Down("it cannot be reached".to_owned()),
        },
        incarnation: there.map(|there| there.incarnation),
        heard: process.heard.get(&peer).map(tokio::time::Instant::elapsed),
        is_self: false,
    }
}
