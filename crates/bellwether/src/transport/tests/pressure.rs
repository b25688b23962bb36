use std::sync::Arc;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::wire::FRAME_MAX;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::super::connection::write;
use super::super::queue::FRAMES_MAX;
use super::super::record::{self, CONTROL_MAX, Record, Welcome};
use super::super::{EVENTS_MAX, NetEvent};
use super::harness::{
    CLUSTER, Node, Stranger, cluster, encoded, eventually, identity, listed, listener, settings,
};
use crate::tls::TlsConfigs;

/// A member that welcomes whoever dials it, and does nothing more.
async fn deaf(listener: std::net::TcpListener, id: u32) -> TlsStream<TcpStream> {
    listener.set_nonblocking(true).unwrap();
    let (stream, _) = tokio::net::TcpListener::from_std(listener).unwrap().accept().await.unwrap();
    let config = TlsConfigs::new(&identity(id), CLUSTER, NodeId(id)).unwrap().server;
    let mut stream = TlsAcceptor::from(config).accept(stream).await.unwrap();
    record::read(&mut stream, CONTROL_MAX, &mut Vec::new()).await.unwrap();
    let welcome = Welcome { id: NodeId(id), incarnation: Incarnation(1), instance: 1 };
    write(&mut stream, &Record::Welcome(welcome)).await.unwrap();
    stream
}

#[tokio::test]
async fn a_peer_that_takes_nothing_costs_a_bounded_queue_and_holds_nobody_up() {
    let listeners = [listener(), listener(), listener()];
    let addresses = [0, 1, 2].map(|place: usize| listeners[place].local_addr().unwrap());
    let peers = listed([(1, &addresses[0]), (2, &addresses[1]), (3, &addresses[2])]);
    let [first, second, third] = listeners;
    let mut one = Node::on(first, settings(1, peers.clone()));
    let mut two = Node::on(second, settings(2, peers));
    let _deaf = deaf(third, 3).await;
    one.until_linked(2).await;
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
    let mut open = Vec::new();
    while target.counters().refused_connections == 0 {
        assert!(open.len() <= most, "{} connections", open.len());
        open.push(TcpStream::connect(target.local_addr()).await.unwrap());
        eventually("it was accepted", || open.len() < most || target.counters().refused_connections > 0)
            .await;
    }
    drop(open);
    // Those who come later are served again.
    let peer = Stranger::with_id(nodes[0].address(), 2).await;
    drop(peer);
    let frame = nodes[1].frame(1);
    nodes[1].transport.send(NodeId(1), encoded(&frame));
}
