use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;

use super::super::record::{self, Reason, Record, Refused};
use super::super::{NetEvent, Settings};
use super::harness::{Node, Stranger, answered, authority, eventually, listed, listener, settings};
use crate::config::Peers;
use crate::links::Links;
use crate::status::Connection;
use crate::tls::Validity;

/// Two listeners, and a list of both.
fn two() -> (TcpListener, TcpListener, Peers) {
    let (first, second) = (listener(), listener());
    let peers = listed([(1, &first.local_addr().unwrap()), (2, &second.local_addr().unwrap())]);
    (first, second, peers)
}

fn is_refused(node: &Node, by: u32, why: &str) -> bool {
    matches!(node.connection_with(by), Connection::Refused(reason) if reason.contains(why))
}

#[tokio::test]
async fn silence_is_no_refusal() {
    let (first, second, peers) = two();
    drop(second);
    let mut one = Node::on(first, settings(1, peers));
    one.until_received(1, 0).await;
    one.until_received(0, 0).await;
    eventually("it is given up", || matches!(one.connection_with(2), Connection::Down(_))).await;
    assert_eq!(one.transport.counters().refusals, 0);
}

#[tokio::test]
async fn both_learn_that_a_certificate_has_expired() {
    let (first, second, peers) = two();
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    let past = Validity { from: now - 2 * hour, until: now - hour };
    let identity = authority().issue(NodeId(2), past).unwrap();
    let mut one = Node::on(first, settings(1, peers.clone()));
    let mut two = Node::on(second, Settings { identity, ..settings(2, peers) });
    one.until_received(0, 1).await;
    two.until_received(0, 1).await;
    assert!(is_refused(&one, 2, "certificate expired"), "{:?}", one.connection_with(2));
    assert!(is_refused(&two, 1, "CertificateExpired"), "{:?}", two.connection_with(1));
    assert!(one.transport.counters().refusals > 0 && two.transport.counters().refusals > 0);
}

#[tokio::test]
async fn who_is_on_no_list_is_told_so_and_shown() {
    let (first, second, all) = two();
    let mut one = Node::on(first, settings(1, listed([])));
    let mut two = Node::on(second, settings(2, all));
    two.until_received(0, 1).await;
    assert!(is_refused(&two, 1, "node 2 is not in the list of members"), "{:?}", two.connection_with(1));
    assert!(is_refused(&one, 2, "this member refuses it: node 2 is not"), "{:?}", one.connection_with(2));
    one.transport.close().await;
    assert!(one.events.try_recv().is_err(), "whoever connects to a member makes it believe nothing");
}

/// A refusal outlives a restart of the peer, and ends when the peer accepts the member.
#[tokio::test]
async fn another_version_of_the_wire_is_a_refusal_until_the_peer_speaks_ours() {
    let refused = Refused { by: NodeId(2), reason: Reason::Version, text: "it speaks version 1" };
    let mut bytes = Vec::new();
    record::append(&Record::Refused(refused), &mut bytes);
    let (first, second, peers) = two();
    let address = second.local_addr().unwrap();
    let mut one = Node::on(first, settings(1, peers.clone()));
    drop(answered(second, 2, &bytes).await);
    one.until_received(0, 1).await;
    assert!(is_refused(&one, 2, "it speaks version 1"));
    let mut two = Node::on(again(address).await, settings(2, peers));
    let mut refusing = true;
    while refusing {
        match one.events.recv().await.expect("the transport runs") {
            NetEvent::Received(reception) => refusing = reception.refusing > 0,
            NetEvent::Connected { .. } => break,
            _ => {}
        }
    }
    two.until_connected(1).await;
    eventually("it is accepted", || matches!(one.connection_with(2), Connection::Connected(_))).await;
}

/// The system may need a moment to let an address be used again.
async fn again(address: SocketAddr) -> TcpListener {
    let mut bound = TcpListener::bind(address);
    while bound.is_err() {
        tokio::task::yield_now().await;
        bound = TcpListener::bind(address);
    }
    bound.expect("looked at above")
}

#[tokio::test]
async fn answers_that_are_none_of_ours_are_refusals() {
    let (first, second, peers) = two();
    let mut one = Node::on(first, settings(1, peers));
    let _two = answered(second, 2, &[3, 0, 0, 0, 99, 99, 99]).await;
    one.until_received(0, 1).await;
    assert!(is_refused(&one, 2, "no record"), "{:?}", one.connection_with(2));
}

#[tokio::test]
async fn a_greeting_that_cannot_be_read_is_answered() {
    let (first, _second, peers) = two();
    let one = Node::on(first, settings(1, peers));
    let mut stranger = Stranger::with_id(one.address(), 2).await;
    stranger.say(&Record::Pong { no: 1 }).await;
    assert_eq!(stranger.refusal().await, Reason::Version);
    stranger.until_closed().await;
}
