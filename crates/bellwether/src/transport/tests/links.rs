use bellwether_proto::ident::{Incarnation, NodeId};

use super::super::{End, NetEvent, StartError, Transport};
use super::harness::{Node, cluster, encoded, eventually, listed, listener, settings};
use crate::links::Links;
use crate::status::Connection;

#[tokio::test]
async fn two_link_and_frames_go_both_ways() {
    let mut nodes = cluster(2).await;
    let [one, two] = &mut nodes[..] else { unreachable!() };
    for seq in 1..=100 {
        one.send(two, seq);
        two.send(one, seq);
    }
    for seq in 1..=100 {
        assert_eq!(two.next().await, NetEvent::Frame(one.frame(seq)));
        assert_eq!(one.next().await, NetEvent::Frame(two.frame(seq)));
    }
    let counters = two.transport.counters();
    assert_eq!((counters.received, counters.dropped, counters.refused_connections), (100, 0, 0));
}

#[tokio::test]
async fn a_broadcast_reaches_all_others() {
    let mut nodes = cluster(3).await;
    let frame = nodes[0].frame(1);
    nodes[0].transport.broadcast(encoded(&frame));
    for node in &mut nodes[1..] {
        assert_eq!(node.next().await, NetEvent::Frame(frame.clone()));
    }
}

#[tokio::test]
async fn a_process_that_is_gone_leaves_broken_links() {
    let mut nodes = cluster(3).await;
    let gone = nodes.pop().unwrap();
    drop(gone);
    for node in &mut nodes {
        assert_eq!(node.until_ended(3).await, End::Broken);
        assert_eq!(node.transport.counters().gone, 1);
    }
    let [one, two] = &mut nodes[..] else { unreachable!() };
    one.reaches(two, 1).await;
    assert!(matches!(one.connection_with(3), Connection::Down(_)));
    one.transport.send(NodeId(3), encoded(&one.frame(2)));
    assert_eq!(one.transport.counters().dropped, 1, "nobody is there to send to");
}

#[tokio::test]
async fn who_closes_says_goodbye() {
    let mut nodes = cluster(3).await;
    nodes.pop().unwrap().transport.close().await;
    for node in &mut nodes {
        assert_eq!(node.until_ended(3).await, End::Goodbye);
        assert_eq!(node.transport.counters().gone, 0);
    }
}

#[tokio::test]
async fn a_goodbye_is_heard_through_traffic_in_both_directions() {
    for _ in 0..20 {
        let mut nodes = cluster(2).await;
        let [one, two] = &mut nodes[..] else { unreachable!() };
        for seq in 0..50 {
            one.send(two, seq);
            two.send(one, seq);
        }
        let mut one = nodes.remove(0);
        nodes.remove(0).transport.close().await;
        assert_eq!(one.until_ended(2).await, End::Goodbye);
    }
}

#[tokio::test]
async fn a_restarted_process_is_connected_again_in_its_new_incarnation() {
    let mut nodes = cluster(3).await;
    for incarnation in 2..5 {
        let gone = nodes.pop().unwrap();
        let peers = gone.transport.shared.table().members.clone();
        let address = gone.address();
        drop(gone);
        for node in &mut nodes {
            assert_eq!(node.until_ended(3).await, End::Broken);
        }
        let mut again = settings(3, peers);
        again.listen = address;
        again.incarnation = Incarnation(1000 * incarnation);
        let (transport, events) = Transport::start(again).unwrap();
        let mut again = Node { transport, events, id: NodeId(3) };
        for node in &mut nodes {
            let connected = node.until(|event| matches!(event, NetEvent::Connected { .. })).await;
            let incarnation = Incarnation(1000 * incarnation);
            assert_eq!(connected, NetEvent::Connected { peer: NodeId(3), incarnation, address });
        }
        again.until_connected_with([1, 2]).await;
        again.reaches(&mut nodes[0], incarnation).await;
        nodes.push(again);
    }
}

#[tokio::test]
async fn the_end_of_a_link_tells_the_latest_incarnation() {
    let mut nodes = cluster(2).await;
    let mut frame = nodes[0].frame(1);
    frame.incarnation = Incarnation(77_777);
    nodes[0].transport.send(NodeId(2), encoded(&frame));
    let mut two = nodes.pop().unwrap();
    assert_eq!(two.next().await, NetEvent::Frame(frame));
    drop(nodes);
    let ended = NetEvent::Ended { peer: NodeId(1), incarnation: Incarnation(77_777), how: End::Broken };
    assert_eq!(two.next().await, ended);
}

#[tokio::test]
async fn a_member_that_comes_late_is_connected() {
    let listeners = [listener(), listener()];
    let addresses = [listeners[0].local_addr().unwrap(), listeners[1].local_addr().unwrap()];
    let peers = listed([(1, &addresses[0]), (2, &addresses[1])]);
    let [first, second] = listeners;
    drop(second);
    let mut one = Node::on(first, settings(1, peers.clone()));
    eventually("a failed attempt", || matches!(one.connection_with(2), Connection::Down(_))).await;
    let Connection::Down(reason) = one.connection_with(2) else { unreachable!() };
    assert!(reason.contains(&addresses[1].to_string()), "{reason}");

    let mut late = settings(2, peers);
    late.listen = addresses[1];
    let (transport, events) = Transport::start(late).unwrap();
    let mut two = Node { transport, events, id: NodeId(2) };
    one.until_connected(2).await;
    two.until_connected(1).await;
    assert_eq!(one.connection_with(2), Connection::Connected(addresses[1]));
}

#[tokio::test]
async fn the_members_are_listed_with_the_state_of_their_links() {
    let nodes = cluster(3).await;
    nodes[0].transport.set_incarnation(Incarnation(5));
    let all = nodes[0].transport.participants();
    let ids: Vec<_> = all.iter().map(|participant| participant.id.unwrap().0).collect();
    assert_eq!(ids, [1, 2, 3]);
    let own: Vec<_> = all.iter().map(|participant| participant.is_self).collect();
    assert_eq!(own, [true, false, false]);
    let incarnations: Vec<_> = all.iter().map(|participant| participant.incarnation.unwrap().0).collect();
    assert_eq!(incarnations, [5, 200, 300]);
    for (participant, node) in all.iter().zip(&nodes) {
        assert_eq!(participant.connection, Connection::Connected(node.address()));
        assert_eq!(participant.address, node.address().to_string());
        assert_eq!(participant.heard, None);
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_had_is_named() {
    let taken = listener();
    let mut settings = settings(1, listed([]));
    settings.listen = taken.local_addr().unwrap();
    let error = Transport::start(settings.clone()).unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains(&settings.listen.to_string()), "{error}");
}
