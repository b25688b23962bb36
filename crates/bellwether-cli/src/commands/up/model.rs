//! The state of the nodes, and what is new about it.
//!
//! A leader counts when it says that it leads and every running node names it. Between the last time of that and the
//! next there was no leader.
//!
//! The cause is taken from a node that saw the change: not from one that slept, to which all others seemed silent, nor
//! from one that missed the leader before.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bellwether::Mode;
use bellwether::status::Standing;
use bellwether_proto::cause;
use bellwether_proto::ident::NodeId;

use crate::client::words;
use crate::duration::rough;
use crate::fleet::Process;
use crate::fleet::files::{NodePlan, Plan};
use crate::schema::{self, Cause, Change, Right, Status};
use crate::terminal::notes::Notes;

/// For this long after a node resumes, its causes may be about its own sleep. After that, every algorithm has
/// noticed.
const DROWSY: Duration = Duration::from_secs(5);

/// The cluster, as far as it is known.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) nodes: BTreeMap<u32, Node>,
    pub(super) notes: Notes,
    /// The last leader that counted, and until when it did; `None` while it does.
    last: Option<Leader>,
    lost: Option<Instant>,
    /// How many nodes must run so that anybody leads, and whether it was reported that too few do.
    needed: usize,
    too_few: bool,
    /// Of which, if only some vote.
    voters: BTreeSet<u32>,
    /// Whether at most one leads at a time: then epochs are tokens.
    pub(super) mode: Mode,
}

/// What is known of a node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) api: SocketAddr,
    pub(super) socket: Option<PathBuf>,
    pub(super) process: Option<Process>,
    /// What it says; `None` while it says nothing.
    pub(super) says: Option<Says>,
    /// When it last went on after it had been stopped.
    woke: Option<Instant>,
    /// What its exclusive leadership rests on.
    pub(super) right: Right,
}

/// What a node says.
#[derive(Clone, Debug)]
pub(super) struct Says {
    pub(super) standing: Standing,
    pub(super) leader: Option<Leader>,
    pub(super) since: Instant,
    /// Why it changed, if it did while it was watched.
    cause: Option<Cause>,
    /// The leader that it named before.
    before: Option<Leader>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leader {
    pub(super) id: u32,
    pub(super) epoch: u64,
}

impl Model {
    pub(super) fn new(plan: &Plan, now: Instant) -> Self {
        let node = |plan: &NodePlan| Node {
            api: plan.api,
            socket: plan.socket.clone(),
            process: None,
            says: None,
            woke: None,
            right: Right::default(),
        };
        let voters = plan.voters();
        Self {
            nodes: plan.nodes.iter().map(|plan| (plan.id, node(plan))).collect(),
            notes: Notes::new(now),
            last: None,
            lost: Some(now),
            needed: match plan.mode {
                Mode::OfAlgorithm(mode) => mode.needs(plan.nodes.len()),
                Mode::Exclusive(_) => voters.len() / 2 + 1,
            },
            too_few: false,
            voters,
            mode: plan.mode,
        }
    }

    /// Who leads.
    pub(super) fn leader(&self) -> Option<u32> {
        self.agreed().map(|leader| leader.id)
    }

    /// Notes what somebody did.
    pub(super) fn note(&mut self, text: &str, now: Instant) {
        self.notes.add(text, now);
    }

    /// A process has come, gone, stopped or gone on.
    pub(super) fn process(&mut self, id: u32, process: Process, now: Instant) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let before = node.process.replace(process.clone());
        match (&before, &process) {
            (Some(Process::Stopped(_)), Process::Up(_)) => node.woke = Some(now),
            (_, Process::Down(_)) => node.woke = None,
            _ => {}
        }
        if let Process::Down(how) = &process {
            node.says = None;
            // What was done to it on purpose has been noted already.
            if !matches!(before, Some(Process::Down(_))) && how != "killed" {
                self.note(&format!("node {id} ended ({how}); its log is in node-{id}/log"), now);
            }
        }
        self.weigh(now);
        self.count(now);
    }

    /// Notes once that too few nodes run for anybody to lead.
    fn count(&mut self, now: Instant) {
        let all = self.nodes.iter().filter(|(id, _)| self.voters.contains(id));
        let running = all.filter(|(_, node)| matches!(node.process, None | Some(Process::Up(_)))).count();
        let too_few = running < self.needed;
        if too_few && !self.too_few && running > 0 {
            let (of, needed) = (self.voters.len(), self.needed);
            self.note(&format!("nobody can lead: {running} of {of} run, and {needed} are needed"), now);
        }
        self.too_few = too_few;
    }

    /// A node says how it sees things.
    pub(super) fn status(&mut self, id: u32, status: &Status, now: Instant) {
        let leader = status.leader.leader.zip(status.leader.epoch).map(|(id, epoch)| Leader { id, epoch });
        let standing = match status.standing {
            schema::Standing::Leading => Standing::Leading,
            schema::Standing::Following => Standing::Following,
            schema::Standing::Aside => Standing::Aside,
            schema::Standing::CatchingUp => Standing::CatchingUp,
            schema::Standing::Electing | schema::Standing::Other(_) => Standing::Electing,
        };
        let ago = status.leader.since_us.map(words::since).unwrap_or_default();
        let since = now.checked_sub(ago).unwrap_or(now);
        self.says(id, Says { standing, leader, since, cause: None, before: None }, now);
    }

    /// A node has seen a change.
    pub(super) fn change(&mut self, id: u32, change: &Change, now: Instant) {
        let leader = change.leader.map(|id| Leader { id, epoch: change.epoch });
        let resigned = change.cause.known() == Some(cause::Cause::Resigned(NodeId(id)));
        let standing = match leader {
            Some(leader) if leader.id == id => Standing::Leading,
            _ if resigned => Standing::Aside,
            Some(_) => Standing::Following,
            None => Standing::Electing,
        };
        let cause = Some(change.cause.clone());
        self.says(id, Says { standing, leader, since: now, cause, before: None }, now);
    }

    /// A node says what its exclusive leadership rests on.
    pub(super) fn right(&mut self, id: u32, right: Right) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.right = right;
        }
    }

    /// What the number of a leadership is called.
    fn number(&self) -> &'static str {
        if let Mode::Exclusive(_) = self.mode { "token" } else { "epoch" }
    }

    /// A node does not answer any more.
    pub(super) fn lost(&mut self, id: u32, now: Instant) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.says = None;
        }
        self.weigh(now);
    }

    fn says(&mut self, id: u32, says: Says, now: Instant) {
        if let Some(node) = self.nodes.get_mut(&id)
            && !matches!(node.process, Some(Process::Down(_)))
        {
            let before = node.says.take().and_then(|said| said.leader.or(said.before));
            node.says = Some(Says { before, ..says });
        }
        self.weigh(now);
    }

    /// Finds out whether there is a leader that counts, and notes a new one.
    fn weigh(&mut self, now: Instant) {
        let agreed = self.agreed();
        match (agreed, self.lost) {
            (None, None) => self.lost = Some(now),
            (Some(leader), Some(lost)) => {
                self.lost = None;
                self.announce(leader, now - lost, now);
                self.last = Some(leader);
            }
            (Some(leader), None) if self.last != Some(leader) => {
                self.announce(leader, Duration::ZERO, now);
                self.last = Some(leader);
            }
            (None, Some(_)) | (Some(_), None) => {}
        }
    }

    fn announce(&mut self, leader: Leader, without: Duration, now: Instant) {
        let (Leader { id, epoch }, number) = (leader, self.number());
        let text = match self.last {
            None => format!("node {id} leads, {number} {epoch}; {} after the start", rough(without)),
            Some(last) if last == leader => format!("all follow node {id} again, {number} {epoch}"),
            Some(_) => {
                let why = self.why(leader).map_or_else(String::new, |why| format!(" ({why})"));
                format!("node {id} leads, {number} {epoch}; {} without a leader{why}", rough(without))
            }
        };
        self.note(&text, now);
    }

    /// Why that leader leads: in its own words if it saw the one before go, or in those of most that did.
    fn why(&self, leader: Leader) -> Option<String> {
        let witnesses = self.witnesses(leader);
        let told = |says: &Says| says.cause.as_ref().map(|cause| cause.text.clone());
        if let Some(says) = witnesses.get(&leader.id) {
            return told(says);
        }
        let mut votes: BTreeMap<String, usize> = BTreeMap::new();
        witnesses.values().filter_map(|says| told(says)).for_each(|why| *votes.entry(why).or_default() += 1);
        votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(why, _)| why)
    }

    /// Of those that saw that leader come, the ones that knew the latest before.
    fn witnesses(&self, leader: Leader) -> BTreeMap<u32, &Says> {
        let all = self.nodes.iter().filter_map(|(id, node)| Some((*id, node.saw_come(leader)?)));
        let epoch = |says: &Says| says.before.map(|before| before.epoch);
        let latest = all.clone().map(|(_, says)| epoch(says)).max();
        all.filter(|(_, says)| Some(epoch(says)) == latest).collect()
    }

    /// The leader that counts. A node that has just been started does not keep the others from having one.
    fn agreed(&self) -> Option<Leader> {
        let running = |node: &&Node| matches!(node.process, None | Some(Process::Up(_)));
        let mut says = self.nodes.values().filter(running).filter_map(|node| node.says.as_ref());
        let leader = says.clone().next()?.leader?;
        let all = says.all(|says| says.leader == Some(leader));
        let itself = self.nodes.get(&leader.id).filter(running).and_then(|node| node.says.as_ref());
        (all && itself.is_some_and(|says| says.standing == Standing::Leading)).then_some(leader)
    }
}

impl Node {
    /// What it says about that leader, if it knows the cause of the change and was awake.
    fn saw_come(&self, leader: Leader) -> Option<&Says> {
        let says = self.says.as_ref().filter(|says| says.leader == Some(leader))?;
        let knows = says.cause.as_ref().is_some_and(|cause| cause.known() != Some(cause::Cause::Started));
        let awake = self.woke.is_none_or(|woke| says.since < woke || says.since - woke > DROWSY);
        (knows && awake).then_some(says)
    }
}

#[cfg(test)]
mod tests;
