//! What the driver knows, for all handles to read.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bellwether_proto::election::{self, Protocol};
use bellwether_proto::exclusive::Vote;
use bellwether_proto::group;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Announcement;
use bellwether_proto::opinion::Opinion;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::board::Board;
use crate::clock::Clock;
use crate::command::{Asked, Command};
use crate::config::{Config, Mode};
use crate::error::{Ended, Refused};
use crate::history::{History, Occurrence};
use crate::links::Links;
use crate::members::{Differs, Membership};
use crate::pulse::Pulse;
use crate::reorganization::Service;
use crate::status::{Bar, Change, Counters, DiskStatus, ExclusiveStatus, Leader, Reach, Standing, Status};
use crate::tenure::Tenures;
use crate::validity::Rights;

/// Between the driver and the handles.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) cluster: String,
    pub(crate) id: NodeId,
    pub(crate) protocol: Protocol,
    pub(crate) mode: Mode,
    /// For how long leases are valid, if leadership is exclusive.
    pub(crate) lease_ttl: Option<Duration>,
    /// How many members there are, if the leader needs a majority of them.
    size: Option<usize>,
    /// Of exclusive leadership: who never leads.
    witnesses: BTreeSet<NodeId>,
    pub(crate) up_since: SystemTime,
    /// Whether what is known counts.
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) tenures: Tenures,
    pub(crate) links: Box<dyn Links>,
    /// Why the member has stopped, once it has.
    pub(crate) ended: watch::Sender<Option<Ended>>,
    /// The group that the member works in.
    pub(crate) service: watch::Sender<Option<Service>>,
    /// The number of the last change.
    pub(crate) changed: watch::Sender<u64>,
    /// Named elections.
    pub(crate) elections: Board,
    /// How long work may take to end before leadership, or a name, is given back all the same.
    pub(crate) release_timeout: Duration,
    pub(crate) clock: Clock,
    known: Mutex<Known>,
}

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) incarnation: Incarnation,
    pub(crate) opinion: Opinion,
    pub(crate) leader: Option<Leader>,
    pub(crate) aside: bool,
    pub(crate) bar: Option<Bar>,
    /// Of exclusive leadership: how many voters are reached, how many are needed, and what the own vote is worth.
    pub(crate) quorum: (usize, usize),
    pub(crate) vote: Vote,
    /// Who votes, and whether the file says the same.
    pub(crate) membership: Arc<Membership>,
    pub(crate) differs: Option<Differs>,
    /// The peers to which the consistent link is up.
    pub(crate) links_up: BTreeSet<NodeId>,
    pub(crate) counters: Counters,
    /// How long the last write to the disk took.
    pub(crate) last_write: Duration,
    /// When the write began that is under way.
    pub(crate) writing_since: Option<Instant>,
    pub(crate) history: History,
    /// The lineage of groups, if the algorithm forms any.
    pub(crate) groups: group::Lineage,
}

impl Shared {
    pub(crate) fn new(
        config: &Config,
        clock: Clock,
        links: Box<dyn Links>,
        incarnation: Incarnation,
        history: History,
    ) -> Self {
        let (pulse, mode) =
            (Arc::new(Pulse::new(clock.uptime, config.heartbeat, config.timeout)), config.mode());
        let rights =
            if config.exclusive.is_some() { Rights::limited(clock.uptime) } else { Rights::Unlimited };
        Self {
            cluster: config.cluster.clone(),
            id: config.id,
            protocol: config.protocol,
            mode,
            lease_ttl: config.exclusive.as_ref().map(|exclusive| exclusive.ttl),
            size: (mode == Mode::OfAlgorithm(election::Mode::Majority)).then(|| config.members().len()),
            witnesses: config.exclusive.iter().flat_map(|exclusive| exclusive.witnesses.clone()).collect(),
            up_since: clock.began_at(),
            tenures: Tenures::new(Arc::clone(&pulse), rights),
            pulse,
            links,
            ended: watch::Sender::new(None),
            service: watch::Sender::new(None),
            changed: watch::Sender::new(history.last_no()),
            elections: Board::new(clock.uptime),
            release_timeout: config.release_timeout,
            clock,
            known: Mutex::new(Known {
                incarnation,
                opinion: Opinion::DOWN,
                leader: None,
                aside: false,
                bar: None,
                quorum: (0, 0),
                vote: Vote::Unknown,
                membership: Arc::default(),
                differs: None,
                links_up: BTreeSet::new(),
                counters: Counters::default(),
                last_write: Duration::ZERO,
                writing_since: None,
                history,
                groups: group::Lineage::default(),
            }),
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        // What is in it is whole between any two lines that change it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the driver, and waits for its answer.
    pub(crate) async fn ask(&self, commands: &mpsc::Sender<Command>, asked: Asked) -> Result<(), Refused> {
        let (reply, answer) = oneshot::channel();
        if commands.send(Command { asked, reply: Some(reply) }).await.is_err() {
            return Err(self.end().await.into());
        }
        match answer.await {
            Ok(answer) => answer.map_err(Refused::Cannot),
            Err(_) => Err(self.end().await.into()),
        }
    }

    /// The member has stopped: nothing that it knew counts any more.
    pub(crate) fn finish(&self, ended: Ended) {
        self.leads_no_more();
        self.ended.send_replace(Some(ended));
    }

    /// Nobody works for this member any more, and it names no leader.
    pub(crate) fn leads_no_more(&self) {
        self.tenures.end();
        self.elections.close();
        self.service.send_replace(None);
        self.known().leader = None;
    }

    /// Waits until the member has stopped, and says why.
    pub(crate) async fn end(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        let seen = ended.wait_for(Option::is_some).await;
        seen.ok().and_then(|ended| ended.clone()).unwrap_or(Ended::Left)
    }

    /// Takes note of an announcement, and says what changed.
    pub(crate) fn announce(&self, at: SystemTime, announced: Announcement) -> Change {
        let Announcement { leader, epoch, .. } = announced;
        let mut known = self.known();
        known.leader = leader.map(|id| Leader { id, epoch, since: at });
        known.counters.leader_changes += 1;
        known.counters.led += u64::from(leader == Some(self.id));
        let incarnation = known.incarnation;
        let change = known.history.push(Occurrence { at, incarnation, announced });
        drop(known);
        self.changed.send_replace(change.no);
        change
    }

    /// Whether the member knows how things are now. One that has ended knows that it has.
    pub(crate) fn is_awake(&self) -> bool {
        self.pulse.is_awake() || self.ended.borrow().is_some()
    }

    /// Waits until it does.
    pub(crate) async fn awake(&self) {
        let mut ended = self.ended.subscribe();
        tokio::select! {
            () = self.pulse.awake() => {}
            _ = ended.wait_for(Option::is_some) => {}
        }
    }

    /// Whether at most one leads at a time.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self.mode, Mode::Exclusive(_))
    }

    /// The settled leader, as far as the member knows how things are.
    pub(crate) fn leader(&self) -> Option<Leader> {
        let leader = self.known().leader;
        // The clock is looked at last: what was read before it is true if it is.
        leader.filter(|leader| self.is_valid(leader) && self.is_awake())
    }

    /// Whether it may be said that this one leads. The member's own leadership ends by the clock, and nobody has to say so.
    fn is_valid(&self, leader: &Leader) -> bool {
        leader.id != self.id || self.tenures.is_valid(leader.epoch)
    }

    pub(crate) fn status(&self) -> Status {
        let status = self.status_when_awake();
        if self.is_awake() {
            return status;
        }
        let (standing, opinion) = (Standing::CatchingUp, Opinion::DOWN);
        let unknown = |exclusive| ExclusiveStatus { token: None, valid_for: None, ..exclusive };
        let exclusive = status.exclusive.map(unknown);
        Status { standing, leader: None, opinion, group: None, reach: None, exclusive, ..status }
    }

    fn status_when_awake(&self) -> Status {
        let known = self.known();
        let leader = known.leader.filter(|leader| self.is_valid(leader));
        Status {
            cluster: self.cluster.clone(),
            id: self.id,
            incarnation: known.incarnation,
            protocol: self.protocol,
            mode: self.mode,
            standing: match leader {
                _ if known.aside => Standing::Aside,
                None => Standing::Electing,
                Some(leader) if leader.id == self.id => Standing::Leading,
                Some(_) => Standing::Following,
            },
            leader,
            opinion: known.opinion,
            group: known.opinion.group.and_then(|group| known.groups.record(group)).cloned(),
            reach: self.size.map(|of| Reach { members: known.links_up.len() + 1, of }),
            exclusive: self.exclusive(&known, leader),
            disk: DiskStatus {
                last_write: known.last_write,
                slowest_write: known.counters.slowest_write,
                writing_for: known.writing_since.map(|since| since.elapsed()),
            },
            bar: known.bar,
            certificate_until: self.links.certificate_until(),
            up_since: self.up_since,
        }
    }

    fn exclusive(&self, known: &Known, leader: Option<Leader>) -> Option<ExclusiveStatus> {
        let Mode::Exclusive(kind) = self.mode else { return None };
        let (reached, needed) = known.quorum;
        Some(ExclusiveStatus {
            kind,
            token: leader.map(|leader| leader.epoch),
            valid_for: leader
                .filter(|leader| leader.id == self.id)
                .and_then(|led| self.tenures.left(led.epoch)),
            reached,
            needed,
            vote: known.vote,
            membership: Arc::clone(&known.membership),
            differs: known.differs.clone(),
            witnesses: self.witnesses.clone(),
        })
    }

    pub(crate) fn change_after(&self, no: u64) -> Option<Change> {
        self.known().history.after(no).cloned()
    }

    /// The driver's counts and the transport's.
    pub(crate) fn counters(&self) -> Counters {
        let ours = self.known().counters;
        let theirs = self.links.counters();
        Counters {
            sent_protocol: ours.sent_protocol,
            sent_detector: ours.sent_detector,
            refused_frames: ours.refused_frames + theirs.refused_frames,
            leader_changes: ours.leader_changes,
            led: ours.led,
            writes: ours.writes,
            write_time: ours.write_time,
            slowest_write: ours.slowest_write,
            ..theirs
        }
    }
}
