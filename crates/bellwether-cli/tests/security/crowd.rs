//! Connections that come in numbers, and say nothing, or little at a time.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::records;
use super::siege::Siege;
use super::stranger::{self, Stranger, connect, connection, until_closed};
use super::trickle::{keep_pace, trickle};
use crate::cluster::{DEADLINE, wait_until};

const CROWD: usize = 200;
/// Who has not come in after that tries again.
const COMES_IN: Duration = Duration::from_millis(100);
/// Of each kind. More would be sent away as a crowd.
const SLOW: usize = 10;

#[test]
fn a_silent_crowd_is_sent_away_and_a_member_comes_in() {
    let mut siege = Siege::without_one();
    let before = siege.refused();
    let mut crowd: Vec<TcpStream> = (0..CROWD).map(|_| connect(siege.target())).collect();
    siege.cluster.start_node(siege.other);
    let (leader, other) = (siege.leader, siege.other);
    siege.cluster.wait_for("who comes back follows", |views| {
        views[&other].as_ref().is_some_and(|view| view["leader"] == leader)
    });
    crowd.iter_mut().for_each(until_closed);
    // The member may have been sent away with them, before it came in. Who is sent away is counted a moment later.
    let refused = || siege.refused().connections - before.connections;
    assert!(wait_until(DEADLINE, || refused() >= CROWD as u64), "{} were refused", refused());
    assert!(siege.log().contains("there are too many connections"), "{}", siege.log());
    assert!(siege.log().contains("it did not greet in time"), "{}", siege.log());
    siege.is_unmoved();
}

/// They are replaced as fast as they are sent away. Members come from other addresses.
#[test]
fn a_crowd_that_keeps_coming_does_not_keep_a_member_out() {
    let mut siege = Siege::without_one();
    let (targets, over) = (
        siege.running().map(|id| siege.cluster.place(id).listen).collect::<Vec<_>>(),
        AtomicBool::new(false),
    );
    let (leader, other) = (siege.leader, siege.other);
    thread::scope(|scope| {
        let over = Over(&over);
        for target in &targets {
            scope.spawn(|| keep_coming(*target, over.0));
        }
        let before = siege.refused().connections;
        let many = || siege.refused().connections > before + CROWD as u64;
        assert!(wait_until(DEADLINE, many), "nobody is refused");
        siege.cluster.start_node(other);
        siege.cluster.wait_for("who comes back follows", |views| {
            views[&other].as_ref().is_some_and(|view| view["leader"] == leader)
        });
    });
    siege.is_unmoved();
}

/// As above, but no two of them have the same address.
#[test]
fn a_crowd_of_many_addresses_does_not_keep_a_member_out() {
    let mut siege = Siege::without_one();
    let (target, before) = (siege.target(), siege.refused().connections);
    let crowd: Vec<_> = (1..=150).filter_map(|last| come_from([127, 0, 3, last], target)).collect();
    assert!(wait_until(DEADLINE, || siege.refused().connections >= before + 80), "{}", siege.log());
    let (leader, other) = (siege.leader, siege.other);
    siege.cluster.start_node(other);
    siege.cluster.wait_for("who comes back follows", |views| {
        views[&other].as_ref().is_some_and(|view| view["leader"] == leader)
    });
    drop(crowd);
    siege.is_unmoved();
}

/// Says so when it goes, even if that is because a test failed.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Silent connections: whoever is sent away comes again, until it is over.
fn keep_coming(target: SocketAddr, over: &AtomicBool) {
    let mut crowd: Vec<TcpStream> = Vec::new();
    let is_open = |stream: &mut TcpStream| {
        stream.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    wait_until(2 * DEADLINE, || {
        crowd.retain_mut(is_open);
        crowd.extend((crowd.len()..CROWD).filter_map(|_| come(target)));
        over.load(Ordering::Relaxed)
    });
}

fn come(target: SocketAddr) -> Option<TcpStream> {
    come_from([127, 0, 0, 2], target)
}

fn come_from(address: [u8; 4], target: SocketAddr) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect_timeout(&target.into(), COMES_IN).ok()?;
    socket.set_nonblocking(true).unwrap();
    Some(socket.into())
}

/// Before a connection is secure, and after.
#[test]
fn who_greets_in_trickles_is_sent_away() {
    let siege = Siege::begin();
    let (before, target) = (siege.refused(), siege.target());
    let member = stranger::member(siege.cluster.authority(), siege.other);
    let mut greeting = Vec::new();
    connection(Arc::clone(&member)).write_tls(&mut greeting).unwrap();
    let hello = records::hello(siege.other, 1, 7);
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..SLOW {
            scope.spawn(|| {
                let mut stream = connect(target);
                keep_pace(&stream);
                trickle(&mut stream, &greeting);
            });
            scope.spawn(|| {
                let mut stranger = Stranger::dial(target, Arc::clone(&member));
                stranger.shake_hands();
                keep_pace(&stranger.stream.sock);
                trickle(&mut stranger.stream, &hello);
            });
        }
    });
    assert!(began.elapsed() < DEADLINE, "it was listened to for {:?}", began.elapsed());
    siege.has_refused(before, 2 * SLOW as u64, 0);
    siege.is_unmoved();
}
