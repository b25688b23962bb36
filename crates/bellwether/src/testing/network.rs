//! The network of a cluster in memory. Frames take a while, and arrive in order. As in the laboratory, a cut does not end a connection:
//! what is sent is lost, and nobody is told. When a process ends, its peers are told as fast as a frame would be, or when the cut is mended
//! that is in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Reception;
use bellwether_proto::wire::{self, Channel};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use super::plug::Plug;
use crate::links::{End, NetEvent};
use crate::status::Counters;

/// At most so many frames wait for a member. It is sent no more until it takes some.
const FRAMES_MAX: usize = 1024;

/// So much else may wait for it: news of connections, of which none is lost.
const NEWS_MAX: usize = 1 << 16;

/// A dial that nobody answers is given up after so long.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);

/// All that is between the members.
#[derive(Debug)]
pub(super) struct Network {
    wires: Mutex<Wires>,
    /// Rung when something is under way.
    posted: Notify,
}

/// Two members, the lower id first.
type Pair = (NodeId, NodeId);

#[derive(Debug)]
pub(super) struct Wires {
    pub(super) processes: BTreeMap<NodeId, Process>,
    connected: BTreeSet<Pair>,
    cut: BTreeSet<Pair>,
    /// What could not be told because of a cut: to whom, and of whom.
    unsaid: Vec<(NodeId, NodeId, NetEvent)>,
    /// By when it arrives, and in which order it was sent.
    under_way: BTreeMap<(Instant, u64), Parcel>,
    /// When the last of it arrives, from whom and to whom.
    last: BTreeMap<(NodeId, NodeId), Instant>,
    posted: u64,
    latency: RangeInclusive<Duration>,
    chance: ChaCha8Rng,
}

/// A process on the network.
#[derive(Debug)]
pub(super) struct Process {
    /// Tells it from those before it.
    no: u64,
    pub(super) incarnation: Incarnation,
    channel: Channel,
    /// Whom it knows, and where.
    pub(super) members: BTreeMap<NodeId, String>,
    /// Those that have neither answered nor been given up.
    unheard: BTreeSet<NodeId>,
    /// When the last frame of each came.
    pub(super) heard: BTreeMap<NodeId, Instant>,
    pub(super) counters: Counters,
    events: mpsc::Sender<NetEvent>,
}

#[derive(Debug)]
struct Parcel {
    from: NodeId,
    to: NodeId,
    /// The process that it is for.
    process: u64,
    holds: Content,
}

#[derive(Debug)]
enum Content {
    Frame(Arc<[u8]>),
    News(NetEvent),
    /// It is known whether that one is there.
    Dialled,
}

impl Network {
    pub(super) fn new(latency: RangeInclusive<Duration>, seed: u64) -> Arc<Self> {
        let wires = Wires {
            processes: BTreeMap::new(),
            connected: BTreeSet::new(),
            cut: BTreeSet::new(),
            unsaid: Vec::new(),
            under_way: BTreeMap::new(),
            last: BTreeMap::new(),
            posted: 0,
            latency,
            chance: ChaCha8Rng::seed_from_u64(seed),
        };
        Arc::new(Self { wires: Mutex::new(wires), posted: Notify::new() })
    }

    /// Carries what is under way, until nobody waits for that any more.
    pub(super) async fn carry(self: Arc<Self>) {
        loop {
            let next = self.look().next();
            match next {
                Some(at) if at <= Instant::now() => self.wires().deliver(),
                Some(at) => tokio::select! {
                    biased;
                    () = self.posted.notified() => {}
                    () = sleep_until(at) => {}
                },
                None => self.posted.notified().await,
            }
        }
    }

    /// A process comes up, and dials the others.
    pub(super) fn plug_in(
        self: &Arc<Self>,
        id: NodeId,
        incarnation: Incarnation,
        channel: Channel,
        members: BTreeMap<NodeId, String>,
    ) -> (Plug, mpsc::Receiver<NetEvent>) {
        let (events, received) = mpsc::channel(FRAMES_MAX + NEWS_MAX);
        let mut wires = self.wires();
        wires.posted += 1;
        let no = wires.posted;
        let unheard: BTreeSet<NodeId> = members.keys().copied().filter(|peer| *peer != id).collect();
        let mut process = Process {
            no,
            incarnation,
            channel,
            members,
            unheard: unheard.clone(),
            heard: BTreeMap::new(),
            counters: Counters::default(),
            events,
        };
        process.tell_reception();
        wires.processes.insert(id, process);
        unheard.into_iter().for_each(|peer| wires.dial(id, peer));
        drop(wires);
        (Plug { network: Arc::clone(self), id, process: no }, received)
    }

    /// That process has ended, with a goodbye or without.
    pub(super) fn unplug(&self, id: NodeId, process: u64, how: End) {
        let mut wires = self.wires();
        if wires.processes.get(&id).is_none_or(|now| now.no != process) {
            return;
        }
        let peers: Vec<NodeId> = wires.peers(id).collect();
        peers.into_iter().for_each(|peer| wires.disconnect(id, peer, how));
        wires.processes.remove(&id);
        // What it was not told is of no interest to its next process.
        wires.unsaid.retain(|(to, _, _)| *to != id);
    }

    pub(super) fn cut(&self, one: NodeId, other: NodeId) {
        self.wires().cut.insert(pair(one, other));
    }

    pub(super) fn mend(&self) {
        let mut wires = self.wires();
        let cut = std::mem::take(&mut wires.cut);
        for (to, of, news) in std::mem::take(&mut wires.unsaid) {
            wires.post(of, to, Content::News(news));
        }
        cut.into_iter().for_each(|(one, other)| wires.connect(one, other));
    }

    /// Whoever is shown the wires may post something.
    pub(super) fn wires(&self) -> MutexGuard<'_, Wires> {
        self.posted.notify_one();
        self.look()
    }

    fn look(&self) -> MutexGuard<'_, Wires> {
        // Nothing panics half-way through a change of it.
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wires {
    /// Those that are connected with that one.
    pub(super) fn peers(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let other = move |(one, other): &Pair| match id {
            id if id == *one => Some(*other),
            id if id == *other => Some(*one),
            _ => None,
        };
        self.connected.iter().filter_map(other)
    }

    /// Sends a frame, if the two are connected.
    pub(super) fn send(&mut self, from: NodeId, to: NodeId, frame: Arc<[u8]>) {
        if self.connected.contains(&pair(from, to)) {
            self.post(from, to, Content::Frame(frame));
        } else if let Some(process) = self.processes.get_mut(&from) {
            process.counters.dropped += 1;
        }
    }

    /// Whoever is not on both lists any more is parted from, with a goodbye; whoever is new is dialled.
    pub(super) fn follow_list(&mut self, id: NodeId) {
        let Some(process) = self.processes.get(&id) else { return };
        let listed: Vec<NodeId> = process.members.keys().copied().filter(|peer| *peer != id).collect();
        let gone: Vec<NodeId> = self.peers(id).filter(|peer| !listed.contains(peer)).collect();
        gone.into_iter().for_each(|peer| {
            self.disconnect(id, peer, End::Goodbye);
            self.disconnect_told(peer, id);
        });
        listed.into_iter().for_each(|peer| self.connect(id, peer));
    }

    fn dial(&mut self, id: NodeId, peer: NodeId) {
        let silent = self.cut.contains(&pair(id, peer));
        self.connect(id, peer);
        if silent {
            self.post_at(Instant::now() + DIAL_TIMEOUT, peer, id, Content::Dialled);
        } else {
            self.post(peer, id, Content::Dialled);
        }
    }

    /// Connects two processes, if they can be and are not.
    fn connect(&mut self, one: NodeId, other: NodeId) {
        let pair = pair(one, other);
        let know = |a: NodeId, b: NodeId| self.processes.get(&a).is_some_and(|a| a.members.contains_key(&b));
        if self.cut.contains(&pair) || !know(one, other) || !know(other, one) || !self.connected.insert(pair)
        {
            return;
        }
        for (to, peer) in [(one, other), (other, one)] {
            let incarnation = self.processes[&peer].incarnation;
            let news = NetEvent::Connected { peer, incarnation, address: address(peer) };
            self.post(peer, to, Content::News(news));
        }
    }

    /// The peer of a process that ends, or parts, is told.
    fn disconnect(&mut self, id: NodeId, peer: NodeId, how: End) {
        self.connected.remove(&pair(id, peer));
        let incarnation = self.processes[&id].incarnation;
        let news = NetEvent::Ended { peer: id, incarnation, how };
        if self.cut.contains(&pair(id, peer)) {
            self.unsaid.push((peer, id, news));
        } else {
            self.post(id, peer, Content::News(news));
        }
    }

    /// One that parted is told, too.
    fn disconnect_told(&mut self, peer: NodeId, id: NodeId) {
        let incarnation = self.processes.get(&peer).map(|peer| peer.incarnation).unwrap_or_default();
        let news = NetEvent::Ended { peer, incarnation, how: End::Goodbye };
        self.post(peer, id, Content::News(news));
    }

    fn post(&mut self, from: NodeId, to: NodeId, holds: Content) {
        let (least, most) = (*self.latency.start(), *self.latency.end());
        let spread = u64::try_from(most.saturating_sub(least).as_micros()).unwrap_or(u64::MAX);
        let more = self.chance.next_u64() % spread.saturating_add(1);
        let at = Instant::now() + least + Duration::from_micros(more);
        // Nothing overtakes what was sent before it.
        let at = self.last.get(&(from, to)).map_or(at, |last| at.max(*last));
        self.last.insert((from, to), at);
        self.post_at(at, from, to, holds);
    }

    fn post_at(&mut self, at: Instant, from: NodeId, to: NodeId, holds: Content) {
        let Some(process) = self.processes.get(&to).map(|process| process.no) else { return };
        self.posted += 1;
        self.under_way.insert((at, self.posted), Parcel { from, to, process, holds });
    }

    fn next(&self) -> Option<Instant> {
        self.under_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// Delivers what is due first.
    fn deliver(&mut self) {
        let Some((_, Parcel { from, to, process, holds })) = self.under_way.pop_first() else { return };
        let cut = self.cut.contains(&pair(from, to));
        let Some(process) = self.processes.get_mut(&to).filter(|now| now.no == process) else { return };
        match holds {
            Content::Frame(_) if cut => {}
            Content::Frame(frame) => process.take(from, &frame),
            Content::News(news) => process.tell(news),
            Content::Dialled => {
                process.unheard.remove(&from);
                process.tell_reception();
            }
        }
    }
}

impl Process {
    fn take(&mut self, from: NodeId, frame: &[u8]) {
        if self.events.capacity() <= NEWS_MAX {
            return;
        }
        self.heard.insert(from, Instant::now());
        self.counters.received += 1;
        match wire::decode(self.channel, frame) {
            Ok(frame) => self.tell(NetEvent::Frame(frame)),
            Err(error) => {
                self.counters.refused_frames += 1;
                tracing::debug!(%from, %error, "a frame is not understood");
            }
        }
    }

    fn tell_reception(&mut self) {
        self.tell(NetEvent::Received(Reception { unheard: self.unheard.len(), refusing: 0 }));
    }

    fn tell(&mut self, news: NetEvent) {
        if let NetEvent::Ended { how: End::Broken, .. } = news {
            self.counters.gone += 1;
        }
        // Without a driver there is nobody to tell.
        let _ = self.events.try_send(news);
    }
}

fn pair(one: NodeId, other: NodeId) -> Pair {
    (one.min(other), one.max(other))
}

/// Where that member is said to be: nobody is there.
pub(super) fn address(id: NodeId) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(0x0a00_0000 + (id.0 & 0x00ff_ffff)), 3170))
}
