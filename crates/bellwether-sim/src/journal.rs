//! Keeps the record of a run while it happens: the hash, the counts, the judge, and a listener.

use std::collections::BTreeMap;
use std::fmt;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::message::{Kind, Layer};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::check::{Finding, Judge};
use crate::operations::Operations;

/// Called with every event of a run.
pub type Listener<'a> = Box<dyn FnMut(&TraceEvent) + 'a>;

/// The record of a run.
pub struct Journal<'a> {
    hash: u64,
    accounts: Accounts,
    leaders: Leaders,
    /// By node: the leader that it announces, and the epoch.
    announced: BTreeMap<NodeId, (NodeId, u64)>,
    operations: Operations,
    judge: Judge,
    listener: Option<Listener<'a>>,
}

impl<'a> Journal<'a> {
    /// An empty record, to be judged by `judge`.
    pub fn new(judge: Judge, listener: Option<Listener<'a>>) -> Self {
        Self {
            hash: 0,
            accounts: Accounts::default(),
            leaders: Leaders::default(),
            announced: BTreeMap::new(),
            operations: Operations::default(),
            judge,
            listener,
        }
    }

    /// Adds an event. Each event's hash is seeded with the hash of all before it.
    #[inline(always)]
    pub(crate) fn record(&mut self, event: &TraceEvent) {
        let mut bytes = [0; 64];
        for (bytes, part) in bytes.chunks_exact_mut(8).zip(event.binary()) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        self.hash = xxh3_64_with_seed(&bytes, self.hash);
        self.accounts.count(&event.what);
        if !is_traffic(&event.what) {
            self.note(event);
        }
        self.judge.observe(event);
        if let Some(listener) = &mut self.listener {
            listener(event);
        }
    }

    /// Takes account of what is not a message.
    fn note(&mut self, event: &TraceEvent) {
        self.leaders.note(event);
        self.note_announced(event);
        self.operations.note(event);
    }

    /// The hash of everything recorded so far.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The messages counted so far.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// How often a node began to lead, the first time not counted.
    pub fn leader_changes(&self) -> u64 {
        self.leaders.began.saturating_sub(1)
    }

    /// The leader that the node announces, and the epoch.
    pub fn announced(&self, node: NodeId) -> Option<(NodeId, u64)> {
        self.announced.get(&node).copied()
    }

    /// The restricted operations so far.
    pub(crate) fn operations(&self) -> &Operations {
        &self.operations
    }

    fn note_announced(&mut self, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Announced(Announcement { leader: Some(leader), epoch, .. })) => {
                self.announced.insert(event.node, (leader, epoch));
            }
            What::Node(Event::Announced(Announcement { leader: None, .. })) | What::Crash => {
                self.announced.remove(&event.node);
            }
            _ => {}
        }
    }

    /// Closes the record at `end` and gives the verdicts.
    pub fn verdicts(self, end: Time) -> Vec<Finding> {
        self.judge.finish(end)
    }
}

/// Nearly all events are messages.
#[inline]
fn is_traffic(what: &What) -> bool {
    matches!(what, What::Send(_) | What::Recv(..) | What::Drop(..) | What::Late(_))
}

impl fmt::Debug for Journal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("hash", &self.hash)
            .field("accounts", &self.accounts)
            .finish_non_exhaustive()
    }
}

/// How many messages a run has cost.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// Sent, whatever became of them.
    pub sent: u64,
    /// Received; a duplicate counts again.
    pub delivered: u64,
    /// Lost on the way, or arrived at a node that was down.
    pub lost: u64,
    /// Sent, by kind. A run has a dozen kinds, and a few of them are nearly all of its messages.
    by_kind: Vec<(Kind, u64)>,
}

impl Accounts {
    #[inline]
    fn count(&mut self, what: &What) {
        match what {
            What::Send(msg) => {
                self.sent += 1;
                match self.by_kind.iter_mut().find(|(kind, _)| kind.id() == msg.kind.id()) {
                    Some((_, count)) => *count += 1,
                    None => self.by_kind.push((msg.kind, 1)),
                }
            }
            What::Recv(..) => self.delivered += 1,
            What::Drop(..) => self.lost += 1,
            _ => {}
        }
    }

    /// Sent, by kind.
    pub fn by_kind(&self) -> BTreeMap<&'static str, u64> {
        self.by_kind.iter().map(|(kind, count)| (kind.name(), *count)).collect()
    }

    /// Sent, of that kind.
    pub fn of_kind(&self, name: &str) -> u64 {
        self.by_kind.iter().filter(|(kind, _)| kind.name() == name).map(|(_, count)| count).sum()
    }

    /// Sent, of that layer.
    pub fn of_layer(&self, layer: Layer) -> u64 {
        self.by_kind.iter().filter(|(kind, _)| kind.layer() == layer).map(|(_, count)| count).sum()
    }
}

#[derive(Debug, Default)]
struct Leaders {
    /// By node: whether it leads.
    leads: BTreeMap<NodeId, bool>,
    began: u64,
}

impl Leaders {
    fn note(&mut self, event: &TraceEvent) {
        let leads = match &event.what {
            What::Node(Event::Opinion(opinion)) => opinion.normal_leader() == Some(event.node),
            What::Crash => false,
            _ => return,
        };
        let led = self.leads.insert(event.node, leads).unwrap_or(false);
        self.began += u64::from(leads && !led);
    }
}
