//! Addresses and ids that somebody has already.

use std::net::TcpListener;

use crate::cluster::{Cluster, DEADLINE, Shape, wait_until};

#[test]
fn an_address_that_is_taken_is_named() {
    let cluster = Cluster::prepare(&Shape::of(1));
    for (address, what) in [
        (cluster.peer(1).to_string(), "cannot listen on"),
        (cluster.api(1), "cannot listen for clients of the API at"),
    ] {
        let _taken = TcpListener::bind(&address).expect("it was free a moment ago");
        let (code, said) = cluster.attempt(1, &[]);
        assert_eq!(code, Some(3), "{said}");
        let error = said.lines().last().expect("it says why");
        assert!(error.starts_with(&format!("error: {what} {address}: ")), "{said}");
    }
}

#[test]
fn a_second_process_of_an_id_ends_and_the_first_goes_on() {
    let cluster = Cluster::start(3);
    let agreed = cluster.wait_for_agreement();
    for id in cluster.ids() {
        let data = cluster.home(id).join("twin");
        let flags = ["--listen-peer", "127.0.0.1:0", "--listen-api", "127.0.0.1:0", "--data-dir"];
        let flags = [&flags[..], &[data.to_str().unwrap()]].concat();
        let (code, said) = cluster.attempt(id, &flags);
        assert_eq!(code, Some(3), "{said}");
        let error = said.lines().last().expect("it says why");
        assert!(error.starts_with(&format!("error: the id {id} is already used by the node at ")), "{said}");
        let told = wait_until(DEADLINE, || {
            let log = cluster.log(id);
            log.lines().any(|line| line.contains("ERROR") && line.contains("claims our id"))
        });
        assert!(told, "{}", cluster.log(id));
        assert_eq!(cluster.wait_for_agreement(), agreed, "the first is not disturbed");
    }
}
