//! Members on loopback, and strangers that speak their language as badly as a test wants.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bellwether_proto::election::{AnyMsg, Protocol, lfa};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Reception;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::wire::{self, Channel};
use rustls::ClientConfig;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, server};

use super::super::connection::{write, write_bytes};
use super::super::record::{self, CONTROL_MAX, Hello, Reason, Record, VERSION, Welcome};
use super::super::{End, NetEvent, Settings, Transport};
use crate::config::Peers;
use crate::links::Links;
use crate::status::Connection;
use crate::tls::{Authority, Identity, TlsConfigs, Validity};

pub(super) const CLUSTER: &str = "flock";

/// Whatever a test waits for has come by then, or never will.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| Authority::create(CLUSTER, Validity::days(10)).unwrap())
}

pub(super) fn identity(id: u32) -> Identity {
    authority().issue(NodeId(id), Validity::days(10)).unwrap()
}

pub(super) fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// A member and what it has heard.
pub(super) struct Node {
    pub(super) transport: Transport,
    pub(super) events: mpsc::Receiver<NetEvent>,
    pub(super) id: NodeId,
}

pub(super) fn settings(id: u32, peers: Peers) -> Settings {
    Settings {
        cluster: CLUSTER.to_owned(),
        id: NodeId(id),
        incarnation: Incarnation(u64::from(id) * 100),
        agreed: Protocol::Lfa.name().to_owned(),
        peers,
        listen: "127.0.0.1:0".parse().unwrap(),
        identity: identity(id),
    }
}

/// Everybody's address.
pub(super) fn listed<'a>(members: impl IntoIterator<Item = (u32, &'a SocketAddr)>) -> Peers {
    let members = members.into_iter().map(|(id, address)| (NodeId(id), address.to_string()));
    Peers::Listed(members.collect())
}

/// That many members, all connected with each other.
pub(super) async fn cluster(size: u32) -> Vec<Node> {
    let listeners: BTreeMap<u32, TcpListener> = (1..=size).map(|id| (id, listener())).collect();
    let addresses: BTreeMap<u32, SocketAddr> =
        listeners.iter().map(|(id, listener)| (*id, listener.local_addr().unwrap())).collect();
    let peers = listed(addresses.iter().map(|(id, address)| (*id, address)));
    let mut nodes: Vec<Node> =
        listeners.into_iter().map(|(id, listener)| Node::on(listener, settings(id, peers.clone()))).collect();
    for node in &mut nodes {
        let me = node.id.0;
        node.until_connected_with((1..=size).filter(|id| *id != me)).await;
    }
    nodes
}

impl Node {
    pub(super) fn on(listener: TcpListener, settings: Settings) -> Self {
        let id = settings.id;
        let (transport, events) = Transport::start_on(listener, settings).unwrap();
        Self { transport, events, id }
    }

    /// That one is a member from now on.
    pub(super) fn enrol(&self, id: NodeId, address: &str) {
        self.transport
            .enrol(&self.transport.members().into_iter().chain([(id, address.to_owned())]).collect());
    }

    /// That one is not a member any more.
    pub(super) fn dismiss(&self, id: NodeId) {
        self.transport
            .enrol(&self.transport.members().into_iter().filter(|(member, _)| *member != id).collect());
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.transport.local_addr()
    }

    /// The next event that is about one peer.
    pub(super) async fn next(&mut self) -> NetEvent {
        loop {
            let event = self.next_of_any_kind().await;
            if !matches!(event, NetEvent::Received(_)) {
                return event;
            }
        }
    }

    async fn next_of_any_kind(&mut self) -> NetEvent {
        let event = timeout(PATIENCE, self.events.recv()).await;
        event.unwrap_or_else(|_| panic!("node {} hears nothing", self.id)).unwrap()
    }

    /// Waits until so many of its peers have not been heard of, and so many refuse it.
    pub(super) async fn until_received(&mut self, unheard: usize, refusing: usize) {
        let wanted = NetEvent::Received(Reception { unheard, refusing });
        while self.next_of_any_kind().await != wanted {}
    }

    /// The first event of that kind; what comes before it is forgotten.
    pub(super) async fn until(&mut self, wanted: impl Fn(&NetEvent) -> bool) -> NetEvent {
        loop {
            let event = self.next().await;
            if wanted(&event) {
                return event;
            }
        }
    }

    pub(super) async fn until_connected(&mut self, peer: u32) {
        self.until_connected_with([peer]).await;
    }

    /// In any order.
    pub(super) async fn until_connected_with(&mut self, peers: impl IntoIterator<Item = u32>) {
        let mut missing: BTreeSet<NodeId> = peers.into_iter().map(NodeId).collect();
        while !missing.is_empty() {
            if let NetEvent::Connected { peer, .. } = self.next().await {
                missing.remove(&peer);
            }
        }
    }

    pub(super) async fn until_ended(&mut self, peer: u32) -> End {
        let ended =
            |event: &NetEvent| matches!(event, NetEvent::Ended { peer: found, .. } if found.0 == peer);
        let NetEvent::Ended { how, .. } = self.until(ended).await else { unreachable!() };
        how
    }

    pub(super) fn frame(&self, seq: u64) -> Frame<AnyMsg> {
        frame(self.id.0, seq)
    }

    pub(super) fn send(&self, to: &Self, seq: u64) {
        self.transport.send(to.id, encoded(&self.frame(seq)));
    }

    /// Shows that frames still go from this one to the other.
    pub(super) async fn reaches(&self, other: &mut Self, seq: u64) {
        self.send(other, seq);
        let frame = self.frame(seq);
        other.until(|event| matches!(event, NetEvent::Frame(found) if *found == frame)).await;
    }

    pub(super) fn connection_with(&self, peer: u32) -> Connection {
        let mut all = self.transport.participants().into_iter();
        all.find(|participant| participant.id == Some(NodeId(peer))).unwrap().connection
    }
}

pub(super) fn frame(from: u32, seq: u64) -> Frame<AnyMsg> {
    let (from, incarnation) = (NodeId(from), Incarnation(u64::from(from) * 100));
    Frame { from, incarnation, seq, rides: None, body: Body::Election(AnyMsg::Lfa(lfa::Msg::Alive)) }
}

pub(super) fn encoded(frame: &Frame<AnyMsg>) -> Arc<[u8]> {
    wire::encode(Channel::of_cluster(CLUSTER), frame).into()
}

/// Lets the tasks run until that is so.
pub(super) async fn eventually(what: &str, so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::task::yield_now().await;
    }
}

/// A stranger's connection to a member.
pub(super) struct Stranger {
    pub(super) stream: TlsStream<TcpStream>,
}

impl Stranger {
    /// Dials with that configuration. TLS 1.3 lets the dialer believe that all is well before its certificate has been
    /// looked at.
    pub(super) async fn dial(to: SocketAddr, config: Arc<ClientConfig>) -> Self {
        let name = TlsConfigs::new(&identity(1), CLUSTER, NodeId(1)).unwrap().server_name;
        let stream = TcpStream::connect(to).await.unwrap();
        Self { stream: TlsConnector::from(config).connect(name, stream).await.unwrap() }
    }

    /// On a connection that is there, with a certificate of that id: greets, and is welcomed.
    pub(super) async fn welcomed_on(stream: TcpStream, id: u32) -> Self {
        let TlsConfigs { client, server_name, .. } =
            TlsConfigs::new(&identity(id), CLUSTER, NodeId(id)).unwrap();
        let stream = TlsConnector::from(client).connect(server_name, stream).await.unwrap();
        Self { stream }.greet(id).await
    }

    /// With a certificate of that id.
    pub(super) async fn with_id(to: SocketAddr, id: u32) -> Self {
        Self::dial(to, TlsConfigs::new(&identity(id), CLUSTER, NodeId(id)).unwrap().client).await
    }

    /// As a member that has been welcomed.
    pub(super) async fn welcomed(to: SocketAddr, id: u32) -> Self {
        Self::with_id(to, id).await.greet(id).await
    }

    async fn greet(mut self, id: u32) -> Self {
        self.say(&Record::Hello(hello(id))).await;
        let mut bytes = Vec::new();
        let answer = record::read(&mut self.stream, CONTROL_MAX, &mut bytes).await.unwrap();
        assert!(matches!(answer, Record::Welcome(_)), "{answer:?}");
        self
    }

    pub(super) async fn say(&mut self, record: &Record<'_>) {
        write(&mut self.stream, record).await.unwrap();
    }

    /// What it is told when it is refused.
    pub(super) async fn refusal(&mut self) -> Reason {
        let mut bytes = Vec::new();
        let read = record::read(&mut self.stream, CONTROL_MAX, &mut bytes);
        match timeout(PATIENCE, read).await.unwrap().unwrap() {
            Record::Refused(refused) => refused.reason,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the member has hung up.
    pub(super) async fn until_closed(&mut self) {
        let closed = async { while matches!(self.stream.read(&mut [0; 64]).await, Ok(1..)) {} };
        timeout(PATIENCE, closed).await.unwrap();
    }
}

/// A process as that of [`Stranger::welcomed`], which welcomes whoever dials it and does nothing more.
pub(super) async fn deaf(listener: TcpListener, id: u32) -> server::TlsStream<TcpStream> {
    let welcome =
        Welcome { id: NodeId(id), incarnation: hello(id).incarnation, instance: hello(id).instance };
    let mut bytes = Vec::new();
    record::append(&Record::Welcome(welcome), &mut bytes);
    answered(listener, id, &bytes).await
}

/// A process of that id, which answers whoever greets it in this way and does nothing more.
pub(super) async fn answered(listener: TcpListener, id: u32, answer: &[u8]) -> server::TlsStream<TcpStream> {
    listener.set_nonblocking(true).unwrap();
    let (stream, _) = tokio::net::TcpListener::from_std(listener).unwrap().accept().await.unwrap();
    let config = TlsConfigs::new(&identity(id), CLUSTER, NodeId(id)).unwrap().server;
    let mut stream = TlsAcceptor::from(config).accept(stream).await.unwrap();
    record::read(&mut stream, CONTROL_MAX, &mut Vec::new()).await.unwrap();
    write_bytes(&mut stream, answer).await.unwrap();
    stream
}

/// A peer whose both directions are in the test's hands.
pub(super) async fn connected_with_a_stranger() -> (Node, Stranger, server::TlsStream<TcpStream>) {
    let (first, second) = (listener(), listener());
    let peers = listed([(1, &first.local_addr().unwrap()), (2, &second.local_addr().unwrap())]);
    let mut one = Node::on(first, settings(1, peers));
    let deaf = deaf(second, 2).await;
    let stranger = Stranger::welcomed(one.address(), 2).await;
    one.until_connected(2).await;
    (one, stranger, deaf)
}

/// What a process of that id says, if it is honest.
pub(super) fn hello(id: u32) -> Hello<'static> {
    Hello {
        version: VERSION,
        cluster: Channel::of_cluster(CLUSTER).cluster,
        protocol: Protocol::Lfa.name(),
        id: NodeId(id),
        incarnation: Incarnation(7),
        instance: 7,
    }
}
