use super::super::table::DialState;
use super::harness::{Node, eventually, listener, settings};
use crate::config::Peers;
use crate::links::Links;

#[tokio::test]
async fn members_find_each_other_by_names_that_have_their_own_address_too() {
    let listeners: Vec<_> = (0..3).map(|_| listener()).collect();
    let port = |listener: &std::net::TcpListener| listener.local_addr().unwrap().port();
    let names =
        Peers::Named(listeners.iter().map(|listener| format!("localhost:{}", port(listener))).collect());
    let mut nodes: Vec<Node> =
        (1..).zip(listeners).map(|(id, listener)| Node::on(listener, settings(id, names.clone()))).collect();
    for node in &mut nodes {
        let me = node.id.0;
        node.until_connected_with((1..=3).filter(|id| *id != me)).await;
    }
    for node in &nodes {
        let found =
            || node.transport.shared.table().dials.values().any(|dial| dial.state == DialState::Ourselves);
        eventually("it finds itself", found).await;
        let own = &node.transport.participants()[0];
        assert!(own.is_self && own.address == node.address().to_string(), "{own:?}");
        assert_eq!(node.transport.counters().refused_connections, 0);
        let again = |id| node.transport.participants().iter().filter(|all| all.id == Some(id)).count();
        assert_eq!(nodes.iter().map(|other| again(other.id)).collect::<Vec<_>>(), [1, 1, 1]);
    }
    let (one, rest) = nodes.split_first_mut().unwrap();
    one.reaches(&mut rest[1], 1).await;
}

#[tokio::test]
async fn two_addresses_of_one_member_make_one_link() {
    // All of 127.0.0.0/8 is this machine, but only where somebody listens: the second listens everywhere.
    let (first, second) = (listener(), std::net::TcpListener::bind("0.0.0.0:0").unwrap());
    let (one, two) = (first.local_addr().unwrap(), second.local_addr().unwrap());
    let names = |all: &[String]| Peers::Named(all.to_vec());
    let both = [format!("127.0.0.1:{}", two.port()), format!("127.0.0.2:{}", two.port())];
    let mut one = (Node::on(first, settings(1, names(&both))), one);
    let mut two = Node::on(second, settings(2, names(&[one.1.to_string()])));
    one.0.until_connected(2).await;
    two.until_connected(1).await;
    let states = || {
        let table = one.0.transport.shared.table();
        table.dials.values().map(|dial| dial.state.clone()).collect::<Vec<_>>()
    };
    eventually("one is spare", || states().contains(&DialState::Spare) && states().contains(&DialState::Up))
        .await;
    assert_eq!(one.0.transport.participants().len(), 2);
    one.0.reaches(&mut two, 1).await;
}

#[tokio::test]
async fn a_name_that_leads_nowhere_does_no_harm() {
    let (first, second) = (listener(), listener());
    let address = |listener: &std::net::TcpListener| listener.local_addr().unwrap().to_string();
    let names = vec!["no such name:1".to_owned(), address(&first), address(&second)];
    let mut one = Node::on(first, settings(1, Peers::Named(names.clone())));
    let mut two = Node::on(second, settings(2, Peers::Named(names)));
    one.until_connected(2).await;
    two.until_connected(1).await;
}
