//! A program beside an agent: one session on the Unix socket, with as many campaigns as it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::cluster::{Cluster, wait_until};

/// So many questions are asked before the first answer is read.
const AHEAD: usize = 64;

pub(crate) struct Program {
    socket: PathBuf,
    session: String,
    /// How many names it holds.
    held: Arc<AtomicUsize>,
}

impl Program {
    /// Opens the session, and hears what becomes of its campaigns from then on.
    pub(crate) fn beside(cluster: &Cluster, node: u32) -> Self {
        let mut events = cluster.socket(node).open("POST", "/v1/session", "");
        let (session, _) = events.session();
        let held = Arc::new(AtomicUsize::new(0));
        let holds = Arc::clone(&held);
        thread::spawn(move || {
            while let Some((event, _)) = events.any() {
                match event.as_str() {
                    "elected" => drop(holds.fetch_add(1, Ordering::Relaxed)),
                    "lost" => drop(holds.fetch_sub(1, Ordering::Relaxed)),
                    _ => {}
                }
            }
        });
        Self { socket: cluster.socket_path(node), session, held }
    }

    /// Campaigns for all these names, over one connection.
    pub(crate) fn campaign(&self, names: &[String]) {
        let mut stream = UnixStream::connect(&self.socket).expect("the agent listens");
        let mut answers = BufReader::new(stream.try_clone().expect("it is open"));
        for names in names.chunks(AHEAD) {
            let asked: String = names.iter().map(|name| self.question(name)).collect();
            stream.write_all(asked.as_bytes()).expect("the agent reads");
            names.iter().for_each(|name| assert_eq!(status(&mut answers), 200, "{name}"));
        }
    }

    fn question(&self, name: &str) -> String {
        let path = format!("/v1/session/{}/campaign/{name}", self.session);
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
    }

    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Waits until it holds so many.
    pub(crate) fn holds(&self, count: usize, within: Duration) {
        let all = wait_until(within, || self.held() >= count);
        assert!(all, "{} of {count} names are held after {within:?}", self.held());
    }
}

/// Reads an answer: its status.
fn status(answers: &mut impl BufRead) -> u16 {
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        assert!(answers.read_line(&mut line).expect("it answers") > 0, "it has hung up");
        match line.trim_end().split_once(' ') {
            None => break,
            Some(("HTTP/1.1", rest)) => status = rest[..3].parse().expect("a number"),
            Some(("content-length:", rest)) => length = rest.parse().expect("a number"),
            Some(_) => {}
        }
    }
    answers.take(length).read_to_end(&mut Vec::new()).expect("the whole answer");
    status
}
