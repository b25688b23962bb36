//! What the nodes announce, with the time at which it was heard of.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cluster::Cluster;

const PATIENCE: Duration = Duration::from_secs(20);

/// Whom a node says leads, and since when that is known here.
#[derive(Clone, Copy, Debug)]
struct Says {
    leader: Option<u64>,
    epoch: Option<u64>,
    at: Instant,
}

pub(crate) struct Feed {
    heard: Receiver<(u32, u32, Says)>,
    tell: Sender<(u32, u32, Says)>,
    says: BTreeMap<u32, Says>,
    /// By node: which of its streams counts.
    stream: BTreeMap<u32, u32>,
    /// Who began to lead, and when.
    began: Vec<(Instant, u32)>,
}

impl Feed {
    pub(crate) fn open(cluster: &Cluster, nodes: u32) -> Self {
        let (tell, heard) = channel();
        let mut feed =
            Self { heard, tell, says: BTreeMap::new(), stream: BTreeMap::new(), began: Vec::new() };
        (1..=nodes).for_each(|id| feed.reopen(cluster, id));
        feed
    }

    /// Listens to a node from now on. It may still be starting.
    pub(crate) fn reopen(&mut self, cluster: &Cluster, id: u32) {
        let stream = self.stream.entry(id).or_default();
        *stream += 1;
        self.says.insert(id, Says { leader: None, epoch: None, at: Instant::now() });
        let (api, tell, stream) = (cluster.api(id), self.tell.clone(), *stream);
        thread::spawn(move || listen(&api, |says| tell.send((id, stream, says)).is_ok()));
    }

    /// Waits until all agree on a leader.
    pub(crate) fn agreement(&mut self) -> u32 {
        self.agreement_without(None).0
    }

    /// Waits until all but that one agree on another leader than that. Says which, and since when.
    pub(crate) fn agreement_without(&mut self, down: Option<u32>) -> (u32, Instant) {
        let limit = Instant::now() + PATIENCE;
        loop {
            if let Some(agreed) = self.agreed(down) {
                return agreed;
            }
            let left = limit.saturating_duration_since(Instant::now());
            self.hear(left).unwrap_or_else(|_| panic!("no agreement within {PATIENCE:?}: {:?}", self.says));
        }
    }

    /// Lets time pass, and hears what happens.
    pub(crate) fn idle_for(&mut self, time: Duration) {
        let limit = Instant::now() + time;
        while self.hear(limit.saturating_duration_since(Instant::now())).is_ok() {}
    }

    /// How many nodes announced themselves since then.
    pub(crate) fn announced_since(&self, since: Instant) -> usize {
        self.began.iter().filter(|(at, _)| *at > since).count()
    }

    fn agreed(&self, down: Option<u32>) -> Option<(u32, Instant)> {
        let mut counts = self.says.iter().filter(|(id, _)| Some(**id) != down).map(|(_, says)| says);
        let first = counts.next()?;
        let leader = u32::try_from(first.leader?).ok().filter(|leader| Some(*leader) != down)?;
        let mut last = first.at;
        for says in counts {
            if (says.leader, says.epoch) != (first.leader, first.epoch) {
                return None;
            }
            last = last.max(says.at);
        }
        Some((leader, last))
    }

    fn hear(&mut self, patience: Duration) -> Result<(), RecvTimeoutError> {
        let (id, stream, says) = self.heard.recv_timeout(patience)?;
        if self.stream.get(&id) == Some(&stream) {
            if says.leader == Some(u64::from(id)) {
                self.began.push((says.at, id));
            }
            self.says.insert(id, says);
        }
        Ok(())
    }
}

/// Tells whatever the node says, as soon as it is there, until nobody wants to know or the node ends.
fn listen(api: &str, mut tell: impl FnMut(Says) -> bool) {
    let limit = Instant::now() + PATIENCE;
    let stream = loop {
        match TcpStream::connect(api) {
            Ok(stream) => break stream,
            Err(_) if Instant::now() < limit => thread::park_timeout(Duration::from_millis(2)),
            Err(_) => return,
        }
    };
    let asked = write!(&stream, "GET /v1/watch HTTP/1.0\r\nhost: {api}\r\n\r\n");
    if asked.is_err() {
        return;
    }
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let at = Instant::now();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(data) = serde_json::from_str::<Value>(data) else { continue };
        let says = Says { leader: data["leader"].as_u64(), epoch: data["epoch"].as_u64(), at };
        if !tell(says) {
            return;
        }
    }
}
