//! What a member needs of its connections, and what happens on them, whoever makes them: TCP with mutual TLS (`transport.rs`), or
//! a test, in memory (`testing/network.rs`).

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use bellwether_proto::election::AnyMsg;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Reception;
use bellwether_proto::message::Frame;

use crate::status::{Counters, Participant};
use crate::tls::{Identity, TlsError};

/// The connections of one member.
pub(crate) trait Links: Debug + Send + Sync {
    /// Where others reach this member; tells the port if the kernel chose it.
    fn local_addr(&self) -> SocketAddr;

    /// Sends an encoded frame to that member, if it is connected. Never waits.
    fn send(&self, to: NodeId, frame: Arc<[u8]>);

    /// Sends an encoded frame to all members that are connected. Never waits.
    fn broadcast(&self, frame: Arc<[u8]>);

    /// The member is in that incarnation from now on: greetings say so.
    fn set_incarnation(&self, incarnation: Incarnation);

    /// The members, where they are listed.
    fn members(&self) -> BTreeMap<NodeId, String>;

    /// These are the members from now on, each at its address. Whoever is new is dialled. Whoever is gone hears a goodbye, and is refused
    /// when it comes again. Only where members are listed.
    fn enrol(&self, members: &BTreeMap<NodeId, String>);

    /// Until when this member's certificate is good, if it has one.
    fn certificate_until(&self) -> Option<SystemTime>;

    /// Takes other certificates for the connections that are made from now on, and ends those with peers that are not trusted any more.
    ///
    /// # Errors
    /// If they are not this member's, or peers would refuse them. Then all stays as it was.
    fn renew(&self, identity: &Identity) -> Result<(), TlsError>;

    /// The members, this one first.
    fn participants(&self) -> Vec<Participant>;

    /// What is counted here; the rest is 0.
    fn counters(&self) -> Counters;

    /// Says goodbye to all and ends.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// What happened on the network. Events of one peer are in order, and none is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NetEvent {
    /// A frame. Its sender has proved that it is the member in `from`.
    Frame(Frame<AnyMsg>),
    /// Both directions are up.
    Connected {
        /// The peer.
        peer: NodeId,
        /// Its incarnation.
        incarnation: Incarnation,
        /// The address at which it was reached.
        address: SocketAddr,
    },
    /// A link that was up is not any more.
    Ended {
        /// The peer.
        peer: NodeId,
        /// Its latest incarnation on that link.
        incarnation: Incarnation,
        /// In which way.
        how: End,
    },
    /// How peers receive this member has changed.
    Received(Reception),
    /// Another process claimed this member's id, and was refused.
    Duplicate {
        /// Where it is, as far as is known.
        at: String,
    },
    /// This process was refused because another one has its id.
    IdInUse {
        /// Who said so.
        by: NodeId,
        /// Where the other process is.
        at: String,
    },
}

/// How a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// On purpose, by one side or the other.
    Goodbye,
    /// Without a word: the process, its machine or the network is gone.
    Broken,
}
