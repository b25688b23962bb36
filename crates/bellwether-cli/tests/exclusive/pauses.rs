use std::net::TcpStream;

use super::{LEASE, PROMISED, started};
use crate::cluster::http;
use crate::faults::judged::assert_kept;
use crate::faults::pauses::QUESTIONS;

/// How often each question is asked while its agent is stopped.
const ASKED: usize = 10;

/// A holder is stopped until another holds the leadership. Whatever it is asked meanwhile, it answers when it goes on, and says of
/// none of it that it leads.
#[test]
fn a_holder_that_was_stopped_for_too_long_does_not_say_that_it_leads() {
    let mut cluster = started(3, LEASE);
    let (mut leader, mut token) = cluster.wait_for_agreement();
    for _ in 0..3 {
        cluster.stop(leader);
        let (next, larger) = cluster.wait_for_agreement();
        assert!(next != leader && larger > token, "{larger} after {token}");
        let api = cluster.api(leader);
        let all = |path: &str| -> Vec<TcpStream> { (0..ASKED).map(|_| http::ask(&api, path)).collect() };
        let asked: Vec<_> = QUESTIONS.iter().map(|(path, leads)| (path, leads, all(path))).collect();
        cluster.cont(leader);
        for (path, leads, answers) in asked {
            for stream in answers {
                let answer = http::answer(stream).expect("who goes on answers");
                assert!(!leads(leader, &answer), "{path}: {}\n{}", answer.head, answer.body);
            }
        }
        assert_eq!(cluster.wait_for_agreement(), (next, larger), "who comes back changes nothing");
        (leader, token) = (next, larger);
    }
    assert_kept(&cluster, &PROMISED);
}
