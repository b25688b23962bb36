//! What all tasks of a transport share.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellwether_proto::election::AnyMsg;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::message::Frame;
use bellwether_proto::wire::Channel;
use rustls::pki_types::CertificateDer;
use tokio::sync::{Notify, mpsc, watch};

use super::complaints::{About, Complaints};
use super::connection::Over;
use super::counts::Counts;
use super::homes::Homes;
use super::record::{Hello, ReadError, VERSION, Welcome};
use super::table::{Process, Table};
use super::{End, NetEvent, Settings, StartError};
use crate::random;
use crate::tls::{TlsConfigs, TlsError, id_in, verify_id};

/// Connections beyond two for each peer: those of strangers, and of peers that are coming back.
pub(super) const SPARE_CONNECTIONS: usize = 32;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) me: NodeId,
    pub(super) cluster: String,
    pub(super) channel: Channel,
    /// How the leader is chosen: what members must agree on.
    pub(super) agreed: String,
    pub(super) local: SocketAddr,
    /// They may be replaced. Connections that are up keep those that they were made with.
    pub(super) tls: watch::Sender<Arc<TlsConfigs>>,
    /// Tells this process from all others.
    pub(super) instance: u64,
    pub(super) incarnation: AtomicU64,
    pub(super) counts: Counts,
    pub(super) complaints: Complaints,
    /// Somebody came whose address is not known: look the names up again.
    pub(super) search: Notify,
    /// The list of members has changed.
    pub(super) roster: Notify,
    events: mpsc::Sender<NetEvent>,
    table: Mutex<Table>,
    homes: Mutex<Homes>,
}

impl Shared {
    pub(super) fn new(
        settings: Settings,
        tls: TlsConfigs,
        local: SocketAddr,
        events: mpsc::Sender<NetEvent>,
    ) -> Result<Self, StartError> {
        let Settings { cluster, id: me, incarnation, agreed, peers, .. } = settings;
        Ok(Self {
            me,
            channel: Channel::of_cluster(&cluster),
            cluster,
            agreed,
            local,
            tls: watch::Sender::new(Arc::new(tls)),
            instance: random::bytes().map(u64::from_le_bytes).ok_or(StartError::Random)?,
            incarnation: AtomicU64::new(incarnation.0),
            counts: Counts::default(),
            complaints: Complaints::default(),
            search: Notify::new(),
            roster: Notify::new(),
            events,
            table: Mutex::new(Table::new(me, peers)),
            homes: Mutex::default(),
        })
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics half-way through a change of it.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where peers are at home.
    pub(super) fn homes(&self) -> MutexGuard<'_, Homes> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the table and sends the event in one step, so that events are in the order of the changes. While there is
    /// no room for an event, nothing changes.
    pub(super) async fn change<T>(&self, change: impl FnOnce(&mut Table) -> (T, Option<NetEvent>)) -> T {
        let permit = self.events.reserve().await;
        let mut table = self.table();
        let (result, event) = change(&mut table);
        if let Some(event) = event {
            self.note(&event);
            // Without a driver there is nobody to tell.
            if let Ok(permit) = permit {
                permit.send(event);
            }
        }
        result
    }

    pub(super) async fn tell(&self, event: NetEvent) {
        self.change(|_| ((), Some(event))).await;
    }

    /// Hands over a frame that came on that connection; `false` if the connection must not be read any more.
    pub(super) async fn deliver(&self, no: u64, frame: Frame<AnyMsg>) -> bool {
        self.counts.received.add(1);
        let deliver = |table: &mut Table| {
            let current = table.heard(frame.from, no, frame.incarnation);
            (current, current.then_some(NetEvent::Frame(frame)))
        };
        self.change(deliver).await && !self.events.is_closed()
    }

    /// Whether the driver has fallen so far behind that connections are not read. Then nobody may be called silent.
    pub(super) fn is_behind(&self) -> bool {
        self.events.capacity() == 0
    }

    /// What the end of a connection with that process was.
    pub(super) fn over(&self, process: Process, error: &ReadError) -> Over {
        match error {
            ReadError::TooLong { .. } | ReadError::Malformed => return self.misbehaved(process, error),
            ReadError::Goodbye | ReadError::Broken(_) => {}
        }
        tracing::debug!(peer = %process.id, address = %process.address, reason = %error, "a connection is over");
        Over::Ended(if matches!(error, ReadError::Goodbye) { End::Goodbye } else { End::Broken })
    }

    /// That process said something that is not understood. It is worth a line, once for a connection.
    pub(super) fn skip(&self, process: Process, problem: &dyn Display, again: bool) {
        self.counts.refused_frames.add(1);
        if !again {
            let problem = format!("node {}: {problem}", process.id);
            self.complaints.log(About::Message, Some(process.address), &problem);
        }
    }

    /// That process broke the protocol.
    pub(super) fn misbehaved(&self, process: Process, problem: &dyn Display) -> Over {
        self.counts.refused_frames.add(1);
        let problem = format!("node {}: {problem}", process.id);
        self.complaints.log(About::Content, Some(process.address), &problem);
        Over::Misbehaved
    }

    fn note(&self, event: &NetEvent) {
        match event {
            NetEvent::Connected { peer, incarnation, address } => {
                tracing::info!(%peer, %incarnation, %address, "link up");
            }
            NetEvent::Ended { peer, incarnation, how } => {
                self.counts.gone.add(usize::from(*how == End::Broken));
                tracing::info!(%peer, %incarnation, ?how, "link down");
            }
            NetEvent::Duplicate { at } => {
                self.counts.duplicate_ids.add(1);
                self.complaints.log(About::OurId, None, &format!("a process at {at} claims our id"));
            }
            NetEvent::IdInUse { by, at } => {
                let problem = format!("node {by} says that our id is in use by a process at {at}");
                self.complaints.log(About::OurId, None, &problem);
            }
            // What is behind it is logged where it happens.
            NetEvent::Received(_) | NetEvent::Frame(_) => {}
        }
    }

    /// The certificates for connections that are made now.
    pub(super) fn tls(&self) -> Arc<TlsConfigs> {
        Arc::clone(&self.tls.borrow())
    }

    /// Waits until a peer that has shown these certificates is not trusted any more, because others are trusted than when it came.
    pub(super) async fn distrusted(&self, peer: NodeId, shown: &[CertificateDer<'_>]) {
        let mut tls = self.tls.subscribe();
        loop {
            let trusted = tls.borrow_and_update().trust(shown);
            if let Err(why) = trusted {
                tracing::warn!(%peer, %why, "a peer is not trusted any more: its connection ends");
                return;
            }
            if tls.changed().await.is_err() {
                // The transport is gone, and its connections go with it.
                std::future::pending::<()>().await;
            }
        }
    }

    pub(super) fn hello(&self) -> Hello<'_> {
        Hello {
            version: VERSION,
            cluster: self.channel.cluster,
            protocol: &self.agreed,
            id: self.me,
            incarnation: self.incarnation(),
            instance: self.instance,
        }
    }

    pub(super) fn welcome(&self) -> Welcome {
        Welcome { id: self.me, incarnation: self.incarnation(), instance: self.instance }
    }

    pub(super) fn incarnation(&self) -> Incarnation {
        Incarnation(self.incarnation.load(Ordering::Relaxed))
    }

    /// Whether these certificates, which TLS has verified, are those of that member.
    pub(super) fn verify(&self, shown: Option<&[CertificateDer<'_>]>, id: NodeId) -> Result<(), TlsError> {
        match shown.and_then(<[_]>::first) {
            Some(cert) => verify_id(cert, &self.cluster, id),
            None => Err(TlsError::NotOurs { cluster: self.cluster.clone(), id }),
        }
    }

    /// Whose certificate this is, whatever its holder says.
    pub(super) fn holder(&self, shown: Option<&[CertificateDer<'_>]>) -> Option<NodeId> {
        shown.and_then(<[_]>::first).and_then(|cert| id_in(cert, &self.cluster))
    }

    /// How many accepted connections there may be.
    pub(super) fn connections_max(&self) -> usize {
        2 * self.table().known() + SPARE_CONNECTIONS
    }

    /// That peer is there: dials to it need not wait any longer.
    pub(super) fn wake(&self, peer: NodeId) {
        if !self.table().wake(peer) {
            self.search.notify_waiters();
        }
    }

    /// A seed that no other dial has.
    pub(super) fn seed(&self, no: u64) -> u64 {
        self.instance ^ no.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
