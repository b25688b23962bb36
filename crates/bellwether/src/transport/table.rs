//! Who is connected, and what is being dialled.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Reception;
use tokio::sync::{Notify, mpsc};

use super::connection::Leash;
use super::inbound::Ask;
use super::queue::Queue;
use super::refusal::TurnedAway;
use super::{End, NetEvent};
use crate::config::Peers;

/// No more members are known at once.
const PEERS_MAX: usize = 1024;

#[derive(Debug)]
pub(super) struct Table {
    /// Who may connect, and where the others are. Members that are listed come and go.
    pub(super) members: Peers,
    pub(super) peers: BTreeMap<NodeId, Peer>,
    pub(super) dials: BTreeMap<u64, Dial>,
    /// The members that are being greeted at an address that was dialled without knowing who is there.
    greeting: BTreeSet<NodeId>,
    /// Names have not been looked up yet.
    pub(super) searching: bool,
    /// How peers receive this member, as the driver was told last.
    told: Reception,
    pub(super) turned_away: TurnedAway,
    next: u64,
    closed: bool,
}

/// One other member.
#[derive(Debug, Default)]
pub(super) struct Peer {
    pub(super) out: Option<Outward>,
    pub(super) inward: Option<Inward>,
    pub(super) connected: bool,
    /// Its latest incarnation.
    pub(super) incarnation: Option<Incarnation>,
    /// When its last frame came.
    pub(super) heard: Option<Instant>,
}

/// Which process is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: NodeId,
    pub(super) instance: u64,
    pub(super) incarnation: Incarnation,
    pub(super) address: SocketAddr,
}

/// A connection that we dialled and send on.
#[derive(Debug)]
pub(super) struct Outward {
    pub(super) no: u64,
    pub(super) process: Process,
    pub(super) queue: Arc<Queue>,
    pub(super) _leash: Leash,
}

/// A connection that we accepted and receive on.
#[derive(Debug)]
pub(super) struct Inward {
    pub(super) no: u64,
    pub(super) process: Process,
    pub(super) asks: mpsc::Sender<Ask>,
    pub(super) _leash: Leash,
}

/// An address that is being dialled.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) address: String,
    /// Who is there, if that is known.
    pub(super) id: Option<NodeId>,
    pub(super) state: DialState,
    pub(super) wake: Arc<Notify>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DialState {
    /// No attempt has ended yet.
    Connecting,
    /// Its connection is in use.
    Up,
    /// The last attempt failed, for this reason.
    Down(String),
    /// Somebody is there, and one of the two refuses the other, for this reason.
    Refused(String),
    /// We are there ourselves.
    Ourselves,
    /// Another address of a process that we are connected to.
    Spare,
}

/// Why a connection cannot have its place.
#[derive(Debug)]
pub(super) enum Rejected {
    /// Another process of that id is connected. Whether it is alive has to be asked.
    Contested(Incumbent),
    /// That process is connected already.
    Spare,
    /// There is no place, or the transport is closing.
    Full,
}

/// The process that is connected under an id.
#[derive(Debug)]
pub(super) struct Incumbent {
    pub(super) no: u64,
    pub(super) address: SocketAddr,
    pub(super) asks: mpsc::Sender<Ask>,
}

/// The result, and an event for the driver.
type Taken = (Result<(), Rejected>, Option<NetEvent>);

impl Table {
    /// The members that are listed are known. Names have yet to be looked up.
    pub(super) fn new(me: NodeId, members: Peers) -> Self {
        let (listed, searching) = match &members {
            Peers::Listed(listed) => (listed.keys().copied().filter(|id| *id != me).collect(), false),
            Peers::Named(_) => (Vec::new(), true),
        };
        Self {
            members,
            peers: listed.into_iter().map(|id| (id, Peer::default())).collect(),
            dials: BTreeMap::new(),
            greeting: BTreeSet::new(),
            searching,
            told: Reception::default(),
            turned_away: TurnedAway::default(),
            next: 0,
            closed: false,
        }
    }

    /// What became of a dial, and who was found there if that was not known beforehand.
    pub(super) fn set_dial(&mut self, no: u64, found: Option<NodeId>, state: DialState) -> Option<NetEvent> {
        let dial = self.dials.get_mut(&no)?;
        (dial.state, dial.id) = (state, found.or(dial.id));
        self.news()
    }

    /// That address is not dialled any more.
    pub(super) fn end_dial(&mut self, no: u64) -> Option<NetEvent> {
        self.dials.remove(&no);
        self.news()
    }

    /// Names have been looked up, and the addresses are being dialled.
    pub(super) fn has_searched(&mut self) -> Option<NetEvent> {
        self.searching = false;
        self.news()
    }

    /// How peers receive this member, if the driver does not know it yet.
    pub(super) fn news(&mut self) -> Option<NetEvent> {
        let reception = self.reception();
        let before = std::mem::replace(&mut self.told, reception);
        (before != reception).then_some(NetEvent::Received(reception))
    }

    /// A number that nothing else in this table has.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn known(&self) -> usize {
        self.peers.len()
    }

    /// Takes an accepted connection. It may take the place of connection `over`, whose process does not answer.
    pub(super) fn take_inward(&mut self, inward: Inward, over: Option<u64>) -> Taken {
        let (id, instance) = (inward.process.id, inward.process.instance);
        let Some(peer) = self.peer(id) else { return (Err(Rejected::Full), None) };
        if let Some(incumbent) = peer.contender(instance, over) {
            return (Err(Rejected::Contested(incumbent)), None);
        }
        // A process that dials anew has lost its old connection, and closes ours.
        let ended = peer.end(peer.how_replaced(instance));
        if ended.is_some() || peer.out.as_ref().is_some_and(|out| out.process.instance != instance) {
            peer.out = None;
        }
        peer.incarnation = peer.incarnation.max(Some(inward.process.incarnation));
        peer.inward = Some(inward);
        let event = ended.or_else(|| peer.link());
        self.turned_away.forget(id);
        (Ok(()), event)
    }

    /// Takes a dialled connection, as [`Table::take_inward`] does.
    pub(super) fn take_outward(&mut self, out: Outward, over: Option<u64>) -> Taken {
        let Some(peer) = self.peer(out.process.id) else { return (Err(Rejected::Full), None) };
        let instance = out.process.instance;
        if peer.out.as_ref().is_some_and(|old| old.process.instance == instance) {
            return (Err(Rejected::Spare), None);
        }
        if let Some(incumbent) = peer.contender(instance, over) {
            return (Err(Rejected::Contested(incumbent)), None);
        }
        let ended = peer.end(End::Broken);
        if peer.inward.as_ref().is_some_and(|inward| inward.process.instance != instance) {
            peer.inward = None;
        }
        peer.incarnation = peer.incarnation.max(Some(out.process.incarnation));
        peer.out = Some(out);
        (Ok(()), ended.or_else(|| peer.link()))
    }

    /// Whether that one may connect.
    pub(super) fn is_listed(&self, id: NodeId) -> bool {
        match &self.members {
            Peers::Listed(listed) => listed.contains_key(&id),
            Peers::Named(_) => true,
        }
    }

    /// Ends the connections with that peer on purpose. If it is not a member any more, it is forgotten.
    pub(super) fn let_go(&mut self, id: NodeId) -> Option<NetEvent> {
        let mut peer = self.peers.remove(&id)?;
        let ended = peer.end(End::Goodbye);
        if self.is_listed(id) {
            let Peer { incarnation, heard, .. } = peer;
            self.peers.insert(id, Peer { incarnation, heard, ..Peer::default() });
        }
        ended
    }

    /// None for whoever was dismissed while it greeted: it is told why when it comes again.
    fn peer(&mut self, id: NodeId) -> Option<&mut Peer> {
        let room = self.peers.len() < PEERS_MAX || self.peers.contains_key(&id);
        (room && !self.closed && self.is_listed(id)).then(|| self.peers.entry(id).or_default())
    }

    /// Connection `no` with that peer is over. If the two were connected, the other direction is closed as
    /// well.
    pub(super) fn lost(&mut self, id: NodeId, no: u64, how: End) -> Option<NetEvent> {
        let peer = self.peers.get_mut(&id)?;
        let is_out = peer.out.as_ref().is_some_and(|out| out.no == no);
        let is_in = peer.inward.as_ref().is_some_and(|inward| inward.no == no);
        if !is_out && !is_in {
            return None;
        }
        let ended = peer.end(how);
        if is_out || ended.is_some() {
            peer.out = None;
        }
        if is_in || ended.is_some() {
            peer.inward = None;
        }
        ended
    }

    /// A frame came on connection `no`; `false` if that is no longer the one that counts.
    pub(super) fn heard(&mut self, id: NodeId, no: u64, incarnation: Incarnation) -> bool {
        let Some(peer) = self.peers.get_mut(&id) else { return false };
        let Some(inward) = peer.inward.as_mut().filter(|inward| inward.no == no) else { return false };
        inward.process.incarnation = inward.process.incarnation.max(incarnation);
        peer.incarnation = peer.incarnation.max(Some(incarnation));
        peer.heard = Some(Instant::now());
        true
    }

    /// What waits for that peer; `None` if it is not connected.
    pub(super) fn queue(&self, to: NodeId) -> Option<&Arc<Queue>> {
        self.peers.get(&to)?.queue()
    }

    /// The same for every peer.
    pub(super) fn queues(&self) -> impl Iterator<Item = Option<&Arc<Queue>>> {
        self.peers.values().map(Peer::queue)
    }

    /// Dials that peer at once, wherever it may be; `false` if it is at no address that is known.
    pub(super) fn wake(&self, peer: NodeId) -> bool {
        self.wake_those(|dial| dial.id.is_none_or(|id| id == peer));
        self.dials.values().any(|dial| dial.id == Some(peer))
    }

    /// Dials all peers at once that are not connected.
    pub(super) fn wake_all(&self) {
        self.wake_those(|_| true);
    }

    fn wake_those(&self, which: impl Fn(&Dial) -> bool) {
        let waiting = |dial: &&Dial| which(dial) && !matches!(dial.state, DialState::Up | DialState::Spare);
        self.dials.values().filter(waiting).for_each(|dial| dial.wake.notify_one());
    }

    /// The dials whose connections are in use.
    pub(super) fn dials_up(&self) -> BTreeSet<u64> {
        let up = self.dials.iter().filter(|(_, dial)| dial.state == DialState::Up);
        up.map(|(no, _)| *no).collect()
    }

    /// Whether to greet that peer, found at one of several addresses. Not if it has been, or is being, greeted
    /// at another: a second greeting would replace the first.
    pub(super) fn begin_greeting(&mut self, id: NodeId) -> bool {
        !self.is_connected_to(id) && self.greeting.insert(id)
    }

    pub(super) fn end_greeting(&mut self, id: NodeId) {
        self.greeting.remove(&id);
    }

    pub(super) fn is_connected_to(&self, id: NodeId) -> bool {
        self.peers.get(&id).is_some_and(|peer| peer.out.is_some())
    }

    /// Lets all connections go, and takes no more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.peers.clear();
    }
}

impl Peer {
    /// The accepted connection of another process, unless it is `over`.
    fn contender(&self, instance: u64, over: Option<u64>) -> Option<Incumbent> {
        let inward = self.inward.as_ref()?;
        let other = inward.process.instance != instance && over != Some(inward.no);
        other.then(|| Incumbent { no: inward.no, address: inward.process.address, asks: inward.asks.clone() })
    }

    /// How the old connection ends when this process takes its place.
    fn how_replaced(&self, instance: u64) -> End {
        match &self.inward {
            Some(old) if old.process.instance == instance => End::Goodbye,
            Some(_) | None => End::Broken,
        }
    }

    /// The peer is connected if both directions are up, with one process.
    fn link(&mut self) -> Option<NetEvent> {
        let (Some(out), Some(inward)) = (&self.out, &self.inward) else { return None };
        if self.connected || out.process.instance != inward.process.instance {
            return None;
        }
        self.connected = true;
        let Process { id: peer, address, .. } = out.process;
        Some(NetEvent::Connected { peer, incarnation: self.incarnation()?, address })
    }

    /// The peer is no longer connected, if it was.
    fn end(&mut self, how: End) -> Option<NetEvent> {
        if !self.connected {
            return None;
        }
        self.connected = false;
        let peer = self.out.as_ref()?.process.id;
        Some(NetEvent::Ended { peer, incarnation: self.incarnation()?, how })
    }

    /// The peer's latest incarnation on these connections.
    fn incarnation(&self) -> Option<Incarnation> {
        let out = self.out.as_ref().map(|out| out.process.incarnation);
        out.max(self.inward.as_ref().map(|inward| inward.process.incarnation))
    }

    fn queue(&self) -> Option<&Arc<Queue>> {
        self.out.as_ref().map(|out| &out.queue)
    }
}
