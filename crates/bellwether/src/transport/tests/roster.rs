use super::super::record::{Reason, Record};
use super::super::{End, NetEvent};
use super::harness::{Node, Stranger, cluster, eventually, hello, listed, listener, settings};
use crate::links::Links;
use crate::status::Connection;
use bellwether_proto::ident::NodeId;

#[tokio::test]
async fn who_is_enrolled_is_dialled_and_taken_in() {
    let mut nodes = cluster(2).await;
    let [one, two] = &mut nodes[..] else { unreachable!() };
    let third = listener();
    let at = third.local_addr().unwrap();
    let all = listed([(1, &one.address()), (2, &two.address()), (3, &at)]);
    let mut three = Node::on(third, settings(3, all));
    three.until_received(0, 2).await;
    for node in [&mut *one, &mut *two] {
        node.enrol(NodeId(3), &at.to_string());
        node.until_connected(3).await;
    }
    three.until_connected_with([1, 2]).await;
    assert_eq!(three.transport.shared.table().reception().refusing, 0);
    one.reaches(&mut three, 1).await;
    three.reaches(two, 1).await;
}

#[tokio::test]
async fn who_is_dismissed_hears_a_goodbye_and_is_refused_from_then_on() {
    let mut nodes = cluster(3).await;
    let [one, two, three] = &mut nodes[..] else { unreachable!() };
    one.dismiss(NodeId(3));
    assert_eq!(one.until_ended(3).await, End::Goodbye);
    assert_eq!(three.until_ended(1).await, End::Goodbye);
    three.until_received(0, 1).await;
    let refused = |connection| matches!(connection, Connection::Refused(why) if why.contains("not in the list of members"));
    assert!(refused(three.connection_with(1)));
    eventually("it is dialled no more", || {
        one.transport.shared.table().dials.values().all(|dial| dial.id != Some(NodeId(3)))
    })
    .await;
    let mut stranger = Stranger::with_id(one.address(), 3).await;
    stranger.say(&Record::Hello(hello(3))).await;
    assert_eq!(stranger.refusal().await, Reason::NotListed);
    one.reaches(two, 1).await;
    three.reaches(two, 1).await;
}

#[tokio::test]
async fn who_was_dismissed_can_be_enrolled_again() {
    let mut nodes = cluster(2).await;
    let [one, two] = &mut nodes[..] else { unreachable!() };
    one.dismiss(NodeId(2));
    one.until_ended(2).await;
    two.until_received(0, 1).await;
    one.enrol(NodeId(2), &two.address().to_string());
    one.until_connected(2).await;
    two.until_connected(1).await;
    one.reaches(two, 1).await;
}

#[tokio::test]
async fn a_new_address_takes_the_place_of_the_old_one() {
    let mut nodes = cluster(2).await;
    let two = nodes.pop().unwrap();
    let mut one = nodes.pop().unwrap();
    let peers = two.transport.shared.table().members.clone();
    let moved = listener();
    let at = moved.local_addr().unwrap();
    one.enrol(NodeId(2), &at.to_string());
    assert_eq!(one.until_ended(2).await, End::Goodbye);
    two.transport.close().await;
    let mut two = Node::on(moved, settings(2, peers));
    let connected = one.until(|event| matches!(event, NetEvent::Connected { .. })).await;
    assert!(matches!(connected, NetEvent::Connected { address, .. } if address == at), "{connected:?}");
    let old_one = one.transport.participants();
    assert_eq!(old_one.iter().filter(|other| other.id == Some(NodeId(2))).count(), 1, "{old_one:?}");
    assert_eq!(old_one[1].address, at.to_string());
    two.until_connected(1).await;
    one.reaches(&mut two, 1).await;
}

/// What is said again changes nothing: no connection ends.
#[tokio::test]
async fn who_is_enrolled_again_at_the_same_address_stays_connected() {
    let mut nodes = cluster(2).await;
    let [one, two] = &mut nodes[..] else { unreachable!() };
    one.enrol(NodeId(2), &two.address().to_string());
    one.dismiss(NodeId(9));
    one.send(two, 1);
    assert!(matches!(two.next().await, NetEvent::Frame(_)), "nothing but the frame");
}
