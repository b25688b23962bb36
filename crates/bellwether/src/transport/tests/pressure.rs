use std::net::SocketAddr;
use std::sync::Arc;

use bellwether_proto::ident::NodeId;
use bellwether_proto::wire::FRAME_MAX;
use tokio::net::{TcpSocket, TcpStream};

use super::super::queue::FRAMES_MAX;
use super::super::record::{Reason, Record};
use super::super::{EVENTS_MAX, End, NetEvent};
use super::harness::{Node, Stranger, cluster, connected_with_a_stranger, deaf, eventually, hello};
use super::harness::{listed, listener, settings};
use crate::links::Links;
use crate::status::Connection;

#[tokio::test]
async fn a_peer_that_takes_nothing_costs_a_bounded_queue_and_holds_nobody_up() {
    let listeners = [listener(), listener(), listener()];
    let addresses = [0, 1, 2].map(|place: usize| listeners[place].local_addr().unwrap());
    let peers = listed([(1, &addresses[0]), (2, &addresses[1]), (3, &addresses[2])]);
    let [first, second, third] = listeners;
    let mut one = Node::on(first, settings(1, peers.clone()));
    let mut two = Node::on(second, settings(2, peers));
    let _deaf = deaf(third, 3).await;
    one.until_connected(2).await;
    let connected = || one.transport.shared.table().is_connected_to(NodeId(3));
    eventually("the deaf one is connected", connected).await;

    let big: Arc<[u8]> = vec![0; FRAME_MAX].into();
    for seq in 0..500 {
        one.transport.send(NodeId(3), Arc::clone(&big));
        one.reaches(&mut two, seq).await;
    }
    let waiting = one.transport.shared.table().queue(NodeId(3)).unwrap().len();
    assert_eq!(waiting, FRAMES_MAX);
    let dropped = one.transport.counters().dropped;
    assert!(0 < dropped && dropped < 500 - FRAMES_MAX as u64, "{dropped}");
}

#[tokio::test]
async fn a_peer_that_takes_nothing_for_long_is_given_up() {
    let (mut one, mut stranger, _deaf) = connected_with_a_stranger().await;
    let big: Arc<[u8]> = vec![0; FRAME_MAX].into();
    for _ in 0..FRAMES_MAX {
        one.transport.send(NodeId(2), Arc::clone(&big));
    }
    assert_eq!(one.until_ended(2).await, End::Broken);
    stranger.until_closed().await;
    assert!(one.transport.counters().dropped > 0, "what waited is counted");
}

#[tokio::test]
async fn a_driver_that_does_not_listen_slows_its_peers_and_loses_nothing_that_came() {
    let mut nodes = cluster(2).await;
    let [one, two] = &mut nodes[..] else { unreachable!() };
    let all = EVENTS_MAX as u64 + 500;
    for seq in 0..all {
        one.send(two, seq);
        // What has been sent is written before the next: nothing is dropped on the way.
        eventually("it is written", || one.transport.shared.table().queue(NodeId(2)).unwrap().len() == 0)
            .await;
    }
    eventually("there is no room", || two.transport.shared.is_behind()).await;
    for seq in 0..all {
        assert_eq!(two.next().await, NetEvent::Frame(one.frame(seq)));
    }
    nodes.remove(0).transport.close().await;
    assert!(matches!(nodes[0].next().await, NetEvent::Ended { .. }));
}

#[tokio::test]
async fn only_so_many_connections_are_accepted() {
    let nodes = cluster(2).await;
    let target = &nodes[0].transport;
    let most = target.shared.connections_max();
    // One place is taken by the other member.
    let mut open = Vec::new();
    for _ in 0..most {
        open.push(TcpStream::connect(target.local_addr()).await.unwrap());
    }
    eventually("one is refused", || target.counters().refused_connections == 1).await;
    // Those who come later are served again.
    drop(open);
    eventually("all have gone", || target.counters().refused_connections == most as u64).await;
    let mut peer = Stranger::with_id(target.local_addr(), 2).await;
    peer.say(&Record::Hello(hello(2))).await;
    assert_eq!(peer.refusal().await, Reason::InUse);
}

#[tokio::test]
async fn a_silent_crowd_keeps_no_member_out() {
    let mut nodes = cluster(3).await;
    nodes.pop().unwrap().transport.close().await;
    nodes[0].until_ended(3).await;
    let target = &nodes[0].transport;
    let crowd = 3 * target.shared.connections_max();
    let mut open = Vec::new();
    for _ in 0..crowd {
        open.push(TcpStream::connect(target.local_addr()).await.unwrap());
    }
    Stranger::welcomed(target.local_addr(), 3).await;
    let refused = target.counters().refused_connections;
    assert!(0 < refused && refused < crowd as u64, "{refused}");
}

/// More addresses than there is room for, all of them lower than the member's, which takes its time.
#[tokio::test]
async fn a_crowd_of_many_addresses_does_not_keep_a_member_out() {
    let (first, home) = (listener(), [127, 200, 0, 1]);
    let peers = listed([(1, &first.local_addr().unwrap()), (2, &SocketAddr::from((home, 9)))]);
    let one = Node::on(first, settings(1, peers));
    let looked = || matches!(one.connection_with(2), Connection::Down(_));
    eventually("the member was not there", looked).await;

    let member = come_from(home, one.address()).await;
    let mut crowd = Vec::new();
    for last in 1..=150 {
        crowd.push(come_from([127, 0, 1, last], one.address()).await);
    }
    let sent_away = || one.transport.counters().refused_connections >= 80;
    eventually("there was no room for all", sent_away).await;
    Stranger::welcomed_on(member, 2).await;
}

async fn come_from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((address, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}
