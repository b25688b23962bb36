use bellwether_proto::ident::NodeId;
use tokio::io::AsyncReadExt;

use super::super::record::{Hello, Reason, Record};
use super::super::{End, NetEvent};
use super::harness::{Node, Stranger, cluster, connected_with_a_stranger, hello, listed, listener, settings};
use crate::config::Peers;
use crate::links::Links;

#[tokio::test]
async fn a_second_process_of_an_id_is_refused_and_both_hear_of_it() {
    let mut nodes = cluster(2).await;
    let peers = nodes[0].transport.shared.table().members.clone();
    let mut twin = Node::on(listener(), settings(2, peers));

    let in_use = twin.until(|event| matches!(event, NetEvent::IdInUse { .. })).await;
    let NetEvent::IdInUse { by, at } = in_use else { unreachable!() };
    assert_eq!(by, NodeId(1));
    assert!(at.starts_with("127.0.0.1:"), "{at}");
    let [one, two] = &mut nodes[..] else { unreachable!() };
    let duplicate = two.until(|event| matches!(event, NetEvent::Duplicate { .. })).await;
    assert!(matches!(duplicate, NetEvent::Duplicate { at } if at.starts_with("127.0.0.1:")));
    assert!(two.transport.counters().duplicate_ids >= 1);
    assert!(one.transport.counters().refused_connections >= 1);

    one.reaches(two, 1).await;
    two.reaches(one, 1).await;
    assert_eq!(one.transport.counters().gone, 0, "the link stayed up");
}

#[tokio::test]
async fn two_processes_of_one_id_that_dial_each_other_both_notice() {
    let (first, second) = (listener(), listener());
    let address = |listener: &std::net::TcpListener| listener.local_addr().unwrap().to_string();
    let names = Peers::Named(vec![address(&first), address(&second)]);
    let twins = [first, second].map(|listener| Node::on(listener, settings(1, names.clone())));
    for mut twin in twins {
        twin.until(|event| matches!(event, NetEvent::Duplicate { .. })).await;
        twin.until(|event| matches!(event, NetEvent::IdInUse { .. })).await;
        assert!(twin.transport.participants().iter().all(|participant| participant.id == Some(NodeId(1))));
    }
}

#[tokio::test]
async fn a_process_that_does_not_answer_loses_its_id_to_one_that_comes() {
    let (first, second) = (listener(), listener());
    let peers = listed([(1, &first.local_addr().unwrap()), (2, &second.local_addr().unwrap())]);
    let mut one = Node::on(first, settings(1, peers.clone()));
    // It has greeted, and hangs from then on.
    let mut hung = Stranger::welcomed(one.address(), 2).await;
    let mut two = Node::on(second, settings(2, peers));
    one.until_connected(2).await;
    two.until_connected(1).await;
    hung.until_closed().await;
    two.reaches(&mut one, 1).await;
}

#[tokio::test]
async fn the_same_process_may_connect_anew() {
    let first = listener();
    let peers = listed([(1, &first.local_addr().unwrap()), (2, &first.local_addr().unwrap())]);
    let one = Node::on(first, settings(1, peers));
    let mut old = Stranger::welcomed(one.address(), 2).await;
    let _new = Stranger::welcomed(one.address(), 2).await;
    old.until_closed().await;
    assert_eq!(one.transport.counters().refused_connections, 0);
}

#[tokio::test]
async fn a_process_that_connects_anew_has_lost_its_link() {
    let (mut one, mut old, mut deaf) = connected_with_a_stranger().await;
    let _new = Stranger::welcomed(one.address(), 2).await;
    assert_eq!(one.until_ended(2).await, End::Goodbye);
    old.until_closed().await;
    assert!(matches!(deaf.read(&mut [0; 64]).await, Ok(0)), "the other direction is closed with a goodbye");
}

#[tokio::test]
async fn when_one_direction_breaks_the_other_is_closed() {
    let (mut one, mut stranger, deaf) = connected_with_a_stranger().await;
    drop(deaf);
    assert_eq!(one.until_ended(2).await, End::Broken);
    assert!(matches!(stranger.stream.read(&mut [0; 64]).await, Ok(0)), "with a goodbye");

    let (mut one, stranger, mut deaf) = connected_with_a_stranger().await;
    drop(stranger);
    assert_eq!(one.until_ended(2).await, End::Broken);
    assert!(matches!(deaf.read(&mut [0; 64]).await, Ok(0)), "with a goodbye");
}

#[tokio::test]
async fn who_claims_our_own_id_is_refused_at_once() {
    let mut nodes = cluster(2).await;
    let mut twin = Stranger::with_id(nodes[0].address(), 1).await;
    twin.say(&Record::Hello(Hello { instance: 8, ..hello(1) })).await;
    assert_eq!(twin.refusal().await, Reason::InUse);
    nodes[0].until(|event| matches!(event, NetEvent::Duplicate { .. })).await;
    assert_eq!(nodes[0].transport.counters().duplicate_ids, 1);
}
