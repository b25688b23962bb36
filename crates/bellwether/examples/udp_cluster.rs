//! Run: cargo run -p bellwether --example udp_cluster
//!
//! Three nodes on loopback, each a thread with a UDP socket and the system's clock. They elect a leader; it is stopped
//! without a word; the others elect the next. Everything a driver has to do is in `drive`. The nodes run `fjr` and are not
//! told of each other; only the transport knows whom a broadcast reaches.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, process, thread};

use bellwether::proto::detector::{DetectorConfig, DetectorKind};
use bellwether::proto::election::{AnyElection, Choices, Protocol, Setup, Timing, Variant};
use bellwether::proto::ident::{Incarnation, NodeId};
use bellwether::proto::io::{Durable, Event, Input, Outbox, Output};
use bellwether::proto::node::Node;
use bellwether::proto::opinion::Opinion;
use bellwether::proto::roster::{Priority, Roster};
use bellwether::proto::time::{Span, Time};
use bellwether::proto::wire::{self, Channel, FRAME_MAX};

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let ids = [1, 2, 3].map(NodeId);
    let mut sockets = BTreeMap::new();
    for id in ids {
        sockets.insert(id, UdpSocket::bind("127.0.0.1:0")?);
    }
    let mut addresses = BTreeMap::new();
    for (id, socket) in &sockets {
        addresses.insert(*id, socket.local_addr()?);
    }
    let (tell, told) = channel();
    let mut cluster = BTreeMap::new();
    for (id, socket) in sockets {
        let stop = Arc::new(AtomicBool::new(false));
        let host = Host { id, socket, addresses: addresses.clone(), stop: Arc::clone(&stop) };
        let tell = tell.clone();
        cluster.insert(id, (stop, thread::spawn(move || host.drive(&tell))));
    }
    let leader = agreement(&told, &ids).ok_or("no leader was elected")?;
    println!("node {leader} leads; it is stopped now");
    cluster[&leader].0.store(true, Ordering::Relaxed);
    let survivors: Vec<NodeId> = ids.into_iter().filter(|id| *id != leader).collect();
    let next = agreement(&told, &survivors).ok_or("no leader was elected after the first was stopped")?;
    println!("node {next} leads");
    for (stop, thread) in cluster.into_values() {
        stop.store(true, Ordering::Relaxed);
        thread.join().map_err(|_| "a node panicked")??;
    }
    Ok(())
}

/// Listens until all of these name one of them.
fn agreement(told: &Receiver<(NodeId, Opinion)>, nodes: &[NodeId]) -> Option<NodeId> {
    let (deadline, mut views) = (Instant::now() + PATIENCE, BTreeMap::new());
    loop {
        let (node, opinion) = told.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
        views.insert(node, opinion.normal_leader());
        let leader = views.get(nodes.first()?).copied().flatten().filter(|leader| nodes.contains(leader));
        if leader.is_some() && nodes.iter().all(|node| views.get(node) == Some(&leader)) {
            return leader;
        }
    }
}

struct Host {
    id: NodeId,
    socket: UdpSocket,
    addresses: BTreeMap<NodeId, SocketAddr>,
    stop: Arc<AtomicBool>,
}

impl Host {
    fn drive(&self, tell: &Sender<(NodeId, Opinion)>) -> io::Result<()> {
        let (began, channel) = (Instant::now(), Channel::of_cluster("example"));
        let now = || Time::from_micros(began.elapsed().as_micros() as u64);
        let disk = env::temp_dir().join(format!("bellwether-udp-cluster-{}-{}", process::id(), self.id));
        let mut node =
            self.node(fs::read_to_string(&disk).ok().and_then(|text| durable(&text)).unwrap_or_default());
        let mut outbox = Outbox::new();
        let mut buffer = [0; FRAME_MAX];
        let mut input = Some(Input::Start);
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(input) = input.take() {
                node.handle(now(), input, &mut outbox);
            }
            for output in outbox.drain() {
                match output {
                    // In earnest also with a checksum, and with the folder synced.
                    Output::Persist(Durable { incarnation, count, .. }) => {
                        let next = disk.with_extension("next");
                        let mut file = File::create(&next)?;
                        write!(file, "{incarnation} {count}")?;
                        file.sync_all()?;
                        fs::rename(&next, &disk)?;
                    }
                    // To whom we have no address, whoever it claims to be, nothing is sent.
                    Output::Send { to, frame } => {
                        if let Some(address) = self.addresses.get(&to) {
                            // UDP may lose it: so may any network, and the algorithm allows for it.
                            let _ = self.socket.send_to(&wire::encode(channel, &frame), address);
                        }
                    }
                    Output::Broadcast(frame) => {
                        for address in
                            self.addresses.iter().filter(|(id, _)| **id != self.id).map(|(_, at)| at)
                        {
                            let _ = self.socket.send_to(&wire::encode(channel, &frame), address);
                        }
                    }
                    Output::Event(Event::Opinion(opinion)) => drop(tell.send((self.id, opinion))),
                    // Of a bare node: there is no program that leads, and none that asks.
                    Output::Keep(_) | Output::Valid { .. } | Output::Members(_) | Output::News(_) => {}
                    Output::Plan(_) | Output::Tenure(_) | Output::Answer { .. } | Output::Left => {}
                    Output::Event(_) => {}
                }
            }
            let wait = node.deadline().map_or(Span::secs(1), |deadline| deadline.since(now()));
            if wait == Span::ZERO {
                // Before more frames are read: however many keep coming, deadlines are not starved.
                input = Some(Input::Deadline);
                continue;
            }
            self.socket.set_read_timeout(Some(Duration::from_micros(wait.as_micros())))?;
            input = match self.socket.recv_from(&mut buffer) {
                Ok((length, _)) => wire::decode(channel, &buffer[..length]).ok().map(Input::Frame),
                // Timed out. Waking early is harmless, so it need not be checked whether the deadline was reached.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    Some(Input::Deadline)
                }
                Err(error) => return Err(error),
            };
        }
        fs::remove_file(&disk)
    }

    /// A node that restarts takes a later incarnation than the one it finds on disk, and than any it had before it lost that disk:
    /// the clock sees to that.
    fn node(&self, last: Durable) -> Node<AnyElection> {
        let timing = Timing { delta: Span::millis(50), tau: Span::millis(50), step: Span::millis(50) };
        let seconds = Incarnation(SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()));
        let setup = Setup {
            protocol: Protocol::Fjr,
            variant: Variant::Repaired,
            roster: Roster::new(self.id, [self.id], Priority::LowestId),
            incarnation: last.incarnation.next().expect("incarnations are not used up").max(seconds),
            count: last.count,
            t: 0, // `fjr` does not ask how many may crash.
            timing,
            choices: Choices::default(),
        };
        // Nor does it take a failure detector.
        Node::new(setup, DetectorConfig::new(DetectorKind::Heartbeat, timing), Time::ZERO)
    }
}

fn durable(text: &str) -> Option<Durable> {
    let (incarnation, count) = text.split_once(' ')?;
    Some(Durable {
        incarnation: Incarnation(incarnation.parse().ok()?),
        count: count.parse().ok()?,
        ..Durable::default()
    })
}
