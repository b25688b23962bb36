//! The driver: one loop over the node. The only place that waits for several things at once.
//!
//! ```text
//!   frames, links ──┐                      ┌─► disk    (which says when it is done; nobody else waits for it)
//!   deadline ───────┼─► node.handle(now) ──┼─► peers
//!   commands, disk ─┘                      └─► handles: who leads, and why
//! ```
//!
//! A step never waits. What it shows happens at one instant, and that instant is now.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::election::{AnyElection, AnyMsg};
use bellwether_proto::exclusive::Vote;
use bellwether_proto::exclusive::message::Objection;
use bellwether_proto::group::{GroupEvent, Plan};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use bellwether_proto::io::{Durable, Event, Input, Outbox, Output};
use bellwether_proto::leadership::{Announcement, Bar};
use bellwether_proto::message::{Body, Frame, Layer};
use bellwether_proto::node::Node;
use bellwether_proto::tenure::{Refused, Tenure, Ticket};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{self, Program, What};
use bellwether_proto::wire::{self, Channel};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::command::{Asked, Command, Reply};
use crate::config::{OnLost, Overrun};
use crate::disk::{Disk, Written};
use crate::error::Ended;
use crate::history;
use crate::links::{End, NetEvent};
use crate::members::{Listed, Membership};
use crate::recorder::Recorder;
use crate::reorganization::{Planning, Service};
use crate::shared::Shared;
use crate::status::DiskStatus;
use crate::validity::Validity;
use crate::votes::{Kept, Votes};

/// A member that ends does not wait longer for its disk.
pub(crate) const LAST_WRITE: Duration = Duration::from_secs(2);

pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pub(crate) alarm: Alarm,
    pub(crate) node: Node<AnyElection>,
    pub(crate) channel: Channel,
    pub(crate) disk: Disk,
    pub(crate) votes: Votes,
    /// What to do if work goes on when exclusive leadership has ended; `None` if leadership is not exclusive.
    pub(crate) on_lost: Option<OnLost>,
    pub(crate) history: history::Writer,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) net: mpsc::Receiver<NetEvent>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) outbox: Outbox<AnyMsg>,
    /// With whom frames can be exchanged.
    pub(crate) connected: BTreeSet<NodeId>,
    pub(crate) replies: Replies,
    pub(crate) planning: Planning,
    /// Which voters do not take the first configuration, and why, as far as the log says.
    pub(crate) objections: Vec<(NodeId, Objection)>,
    /// What the file says of members.
    pub(crate) listed: Listed,
    /// Who is connected only to be asked whether it can vote.
    pub(crate) only_met: Option<NodeId>,
    /// In which epoch somebody acts as the leader, as far as the trace says.
    pub(crate) works: Option<u64>,
    /// What the member's service was begun for, while it lasts.
    pub(crate) serving: Option<(GroupId, NodeId, ElectionId)>,
    /// Whether all handles are gone.
    pub(crate) abandoned: bool,
}

/// Who waits for the answer to which command.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    waiting: BTreeMap<Ticket, Reply>,
    /// Those who ask for a change of who votes, or about named elections. Traces do not have them.
    unrecorded: BTreeSet<Ticket>,
    last: Ticket,
}

impl Replies {
    fn ticket(&mut self, reply: Option<Reply>) -> Ticket {
        self.last = Ticket(self.last.0 + 1);
        self.waiting.extend(reply.map(|reply| (self.last, reply)));
        self.last
    }

    /// Whoever has gone need not be told.
    fn answer(&mut self, ticket: Ticket, outcome: Result<(), Refused>) {
        if let Some(reply) = self.waiting.remove(&ticket) {
            let _ = reply.send(outcome);
        }
    }
}

/// What follows from a step.
#[derive(Default)]
struct Followed {
    /// Work must end.
    asked_back: bool,
    /// What was to be written is on disk.
    written: Option<Written>,
}

/// What the loop woke up for.
enum Wake {
    Deadline,
    Net(NetEvent),
    Command(Command),
    /// The application has said what a group is to do, or has failed to.
    Planned(ElectionId, Plan),
    /// A write is done, or has failed.
    Written(Result<Written, Ended>),
    /// Votes are on the disk, or cannot be.
    Kept(Result<Kept, Ended>),
    /// Somebody has begun to act as the leader, or the last who did has stopped.
    Work,
    /// All handles are gone.
    Abandoned,
}

impl Driver {
    /// Runs until the member leaves, or cannot go on. Those who wait for answers are told when the driver is dropped.
    pub(crate) async fn run(mut self) -> Ended {
        let ended = self.drive().await;
        self.shared.leads_no_more();
        self.record(What::Crash);
        self.flush();
        self.shared.links.close().await;
        match ended {
            // Whoever comes next finds all that was to be kept.
            Ended::Left => {
                timeout(LAST_WRITE, self.disk.idle()).await.unwrap_or(Ok(())).err().unwrap_or(ended)
            }
            ended => ended,
        }
    }

    async fn drive(&mut self) -> Ended {
        self.record(What::Recover);
        if let Err(ended) = self.step(Input::Start) {
            return ended;
        }
        loop {
            let done = match self.wait().await {
                Wake::Deadline => self.step(Input::Deadline),
                Wake::Net(event) => self.on_net(event),
                Wake::Command(command) => self.on_command(command),
                Wake::Planned(no, plan) => self.step(Input::Planned { no, plan }),
                Wake::Written(done) => done.and_then(|written| self.on_written(written)),
                Wake::Kept(done) => done.and_then(|kept| self.on_kept(kept)),
                Wake::Work => self.on_work(),
                Wake::Abandoned => {
                    self.abandoned = true;
                    self.on_command(Command::leave())
                }
            };
            if let Err(ended) = done {
                return ended;
            }
        }
    }

    /// A deadline that has passed goes first: however many frames keep coming, it is not starved.
    async fn wait(&mut self) -> Wake {
        let now = self.clock.now();
        let due = self.node.deadline().unwrap_or(Time::NEVER).min(now + self.shared.pulse.pace());
        if due <= now {
            self.record_delay(due);
            return Wake::Deadline; // Before it has looked at what is overdue, what it knows does not count.
        }
        self.shared.pulse.beat(due.since(now));
        let wake = tokio::select! {
            biased;
            () = self.alarm.ring(&self.clock, due) => Wake::Deadline,
            done = self.disk.done() => Wake::Written(done),
            done = self.votes.done() => Wake::Kept(done),
            Some(event) = self.net.recv() => Wake::Net(event),
            command = self.commands.recv(), if !self.abandoned => command.map_or(Wake::Abandoned, Wake::Command),
            (no, plan) = self.planning.done() => Wake::Planned(no, plan),
            () = self.shared.tenures.turned() => Wake::Work,
        };
        self.record_delay(due);
        wake
    }

    fn on_net(&mut self, event: NetEvent) -> Result<(), Ended> {
        match event {
            NetEvent::Frame(frame) if self.shared.is_exclusive() && !self.listens_to(&frame) => Ok(()),
            NetEvent::Frame(frame) => {
                if let Some(recorder) = &mut self.recorder {
                    let at = self.clock.wall_micros(self.clock.now());
                    recorder.received(at, self.node.incarnation(), &frame);
                }
                self.step(Input::Frame(frame))
            }
            NetEvent::Connected { peer, incarnation, .. } => {
                self.connected.insert(peer);
                self.step(Input::Connected { peer, incarnation })
            }
            NetEvent::Ended { peer, incarnation, how } => {
                self.connected.remove(&peer);
                match how {
                    End::Goodbye => self.step(Input::Disconnected { peer }),
                    End::Broken => self.step(Input::Gone { peer, incarnation }),
                }
            }
            NetEvent::Received(reception) => self.step(Input::Received(reception)),
            // Logged where it was noticed, and not as often as others make it happen.
            NetEvent::Duplicate { .. } => Ok(()),
            NetEvent::IdInUse { by, at } => self.on_id_in_use(by, &at),
        }
    }

    /// With exclusive leadership: whoever cannot be answered could be nominated by all, and hear none of them. And one that is only
    /// being met, to be asked for its store, is not known to the others: it is nominated when it votes.
    fn listens_to(&self, frame: &Frame<AnyMsg>) -> bool {
        let is_only_met = self.only_met == Some(frame.from);
        self.connected.contains(&frame.from) && !(is_only_met && matches!(frame.body, Body::Election(_)))
    }

    /// One that was here first stays. One that has just come, and is refused, is the second.
    fn on_id_in_use(&self, by: NodeId, at: &str) -> Result<(), Ended> {
        if !self.connected.is_empty() {
            return Ok(());
        }
        Err(Ended::IdInUse { id: self.shared.id, at: at.to_owned(), says: by })
    }

    fn on_command(&mut self, command: Command) -> Result<(), Ended> {
        self.obey(command)?;
        self.shared.elections.unsent().into_iter().try_for_each(|command| self.obey(command))
    }

    fn obey(&mut self, Command { asked, reply }: Command) -> Result<(), Ended> {
        // Whoever asks may have begun to work before.
        self.record_work();
        let ticket = self.replies.ticket(reply);
        match asked {
            Asked::Tenure(command) => {
                self.record(What::Program(Program::Asked { ticket, command }));
                self.step(Input::Command { ticket, command })
            }
            Asked::Members(change) => {
                tracing::info!(?change, "a change of who votes is asked for");
                self.replies.unrecorded.insert(ticket);
                self.step(Input::Change { ticket, change })
            }
            Asked::Order(order) => {
                self.replies.unrecorded.insert(ticket);
                self.step(Input::Order { ticket, order })
            }
        }
    }

    /// If nobody acts as the leader any more, the node waits for that when leadership is to be given back.
    fn on_work(&mut self) -> Result<(), Ended> {
        self.record_work();
        if self.shared.tenures.is_released() { self.step(Input::Released) } else { Ok(()) }
    }

    /// The trace says that work has ended before anything is done because of that.
    fn record_work(&mut self) {
        let works = self.shared.tenures.works();
        if works != self.works {
            self.works = works;
            self.record(What::Program(
                works.map_or(Program::WorkEnds, |epoch| Program::WorkBegins { epoch }),
            ));
        }
    }

    /// Gives the node an input and carries out what it answers, in order. If that asks for work to end, and nobody works, the
    /// node is told so at once.
    fn step(&mut self, input: Input<AnyMsg>) -> Result<(), Ended> {
        let mut next = VecDeque::from([input]);
        while let Some(input) = next.pop_front() {
            let Followed { asked_back, written } = self.take(input)?;
            next.extend(written.map(|written| Input::Persisted { writes: written.writes }));
            if asked_back && self.shared.tenures.is_released() {
                next.push_back(Input::Released);
            }
        }
        Ok(())
    }

    fn take(&mut self, input: Input<AnyMsg>) -> Result<Followed, Ended> {
        self.record_work();
        let now = self.clock.now();
        let (mut outbox, mut followed) = (std::mem::take(&mut self.outbox), Followed::default());
        self.node.handle(now, input, &mut outbox);
        self.introduce();
        self.end_service();
        for output in outbox.drain() {
            match output {
                Output::Persist(durable) => followed.written = self.persist(durable).or(followed.written),
                Output::Keep(change) => self.votes.keep(*change),
                Output::Valid { epoch, until } => self.validate(now, epoch, until),
                Output::Send { to, frame } => self.send(to, &frame),
                Output::Broadcast(frame) => self.broadcast(&frame),
                Output::Plan(request) => self.planning.begin(*request),
                Output::Tenure(tenure) => {
                    self.tell_tenure(tenure);
                    followed.asked_back = !matches!(tenure, Tenure::Held { .. });
                }
                Output::Members(membership) => self.on_members(*membership),
                Output::News(news) => {
                    let clock = self.clock;
                    self.shared.elections.post(clock.wall(now), |until| clock.up_at(until), *news);
                }
                Output::Answer { ticket, outcome } => self.answer(ticket, outcome),
                Output::Left => {
                    self.record(What::Program(Program::Left));
                    return Err(Ended::Left);
                }
                Output::Event(event) => self.on_event(now, event),
            }
        }
        self.outbox = outbox;
        self.planning.keep_only(self.node.awaits_plan());
        self.begin_service();
        self.show();
        self.note_bar();
        self.note_objections();
        self.flush();
        Ok(followed)
    }

    fn show(&self) {
        let mut known = self.shared.known();
        known.aside = self.node.is_aside();
        known.writing_since = self.disk.writing_since().into_iter().chain(self.votes.writing_since()).min();
        if let Some((quorum, vote)) = self.node.quorum().zip(self.node.vote()) {
            known.quorum = quorum;
            let before = std::mem::replace(&mut known.vote, vote);
            drop(known);
            note_vote(before, vote);
        }
    }

    /// If it is on the disk already, that is answered at once.
    fn persist(&mut self, durable: Durable) -> Option<Written> {
        let written = self.disk.write(durable)?;
        self.keep(&written);
        Some(written)
    }

    fn on_written(&mut self, written: Written) -> Result<(), Ended> {
        self.count_write(written.took);
        self.keep(&written);
        self.step(Input::Persisted { writes: written.writes })
    }

    fn on_kept(&mut self, Kept { commits, took }: Kept) -> Result<(), Ended> {
        self.count_write(took);
        self.step(Input::Kept { commits })
    }

    fn count_write(&self, took: Duration) {
        let mut known = self.shared.known();
        known.counters.writes += 1;
        known.counters.write_time += took;
        known.counters.slowest_write = known.counters.slowest_write.max(took);
        known.last_write = took;
        drop(known);
        if took > DiskStatus::SLOW {
            tracing::warn!(?took, "the disk is slow: whoever is to lead next waits for it");
        }
    }

    fn keep(&mut self, Written { durable, .. }: &Written) {
        self.record(What::Persist(trace::Written::from(durable)));
    }

    /// Peers are greeted with an incarnation only when it is on disk. The disk may hold the next as well, which has not begun.
    fn introduce(&self) {
        if self.node.is_born() {
            let incarnation = self.node.incarnation();
            self.shared.links.set_incarnation(incarnation);
            self.shared.known().incarnation = incarnation;
        }
    }

    /// Until when the member may act. Whoever acts looks at the clock itself.
    fn validate(&mut self, now: Time, epoch: u64, until: Time) {
        self.shared.tenures.validate(match self.clock.up_at(until) {
            Some(until) => Validity::Until { epoch, until },
            None => Validity::ByStore { epoch },
        });
        let until = self.clock.wall_deadline(until);
        self.record_at(now, What::Program(Program::Valid { epoch, until }));
    }

    /// Who works as the leader is told first: whatever else follows must not be waited for.
    fn tell_tenure(&mut self, tenure: Tenure) {
        self.shared.tenures.set(tenure, self.node.incarnation());
        if tenure == Tenure::None {
            self.shared.tenures.validate(Validity::None);
            self.note_overrun();
        }
        if let Tenure::AskedBack { epoch } = tenure {
            self.record(What::Program(Program::AskedBack { epoch }));
        }
    }

    /// Work that goes on when leadership is over goes on beside another leader.
    fn note_overrun(&mut self) {
        let Some((on_lost, token)) = self.on_lost.zip(self.shared.tenures.works()) else { return };
        let overrun = Overrun { node: self.shared.id, token };
        tracing::error!("{overrun}");
        if let OnLost::Exit(exit) = on_lost {
            self.flush();
            exit(overrun);
        }
    }

    fn answer(&mut self, ticket: Ticket, outcome: Result<(), Refused>) {
        if !self.replies.unrecorded.remove(&ticket) {
            let refused = outcome.as_ref().err().map(Refused::name);
            self.record(What::Program(Program::Answered { ticket, refused }));
        }
        // Whoever is answered may ask at once how things are.
        self.shared.known().aside = self.node.is_aside();
        self.replies.answer(ticket, outcome);
    }

    fn send(&mut self, to: NodeId, frame: &Frame<AnyMsg>) {
        if let Some(recorder) = &mut self.recorder {
            let at = self.clock.wall_micros(self.clock.now());
            recorder.sent(at, frame, to);
            if !self.connected.contains(&to) {
                recorder.lost(at, frame, to);
            }
        }
        self.count(frame, 1);
        self.shared.links.send(to, wire::encode(self.channel, frame).into());
    }

    fn broadcast(&mut self, frame: &Frame<AnyMsg>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.broadcast(self.clock.wall_micros(self.clock.now()), frame, &self.connected);
        }
        self.count(frame, self.connected.len() as u64);
        self.shared.links.broadcast(wire::encode(self.channel, frame).into());
    }

    fn count(&self, frame: &Frame<AnyMsg>, copies: u64) {
        let mut known = self.shared.known();
        match frame.body.kind().layer() {
            Layer::Protocol => known.counters.sent_protocol += copies,
            Layer::Overhead => known.counters.sent_detector += copies,
        }
    }

    fn on_event(&mut self, now: Time, event: Event) {
        // All that a node shows in a step it shows at once, whatever the disk does in between.
        self.record_at(now, What::Node(event));
        match event {
            Event::Opinion(opinion) => {
                self.shared.known().opinion = opinion;
            }
            Event::Link(turn) => {
                let links_up = &mut self.shared.known().links_up;
                if turn.is_up() {
                    links_up.insert(turn.peer)
                } else {
                    links_up.remove(&turn.peer)
                };
            }
            Event::Group(GroupEvent::Recorded { group, .. }) => self.on_recorded(group),
            Event::Announced(announced) => self.on_announced(now, announced),
            Event::GivenUp => tracing::warn!(
                "the leader's work has not ended in time; leadership is given back all the same"
            ),
            Event::Refused { from, why } => {
                self.shared.known().counters.refused_frames += 1;
                tracing::debug!(%from, why = why.name(), "a frame was refused");
            }
            Event::Reborn(incarnation) => {
                self.shared.known().links_up.clear();
                tracing::info!(%incarnation, "this node begins a new incarnation");
            }
            _ => {}
        }
    }

    /// Whoever asks is told why the node does not lead, and so is the log.
    fn note_bar(&self) {
        let bar = self.node.bar();
        let before = std::mem::replace(&mut self.shared.known().bar, bar);
        match bar.filter(|_| before != bar) {
            Some(bar @ Bar::Refused { .. }) => tracing::warn!("this member does not lead: {bar}"),
            Some(bar @ Bar::TooFew { .. }) => tracing::info!("this member does not lead yet: {bar}"),
            Some(bar @ Bar::Elsewhere { leader, says }) if leader != says => {
                tracing::info!("this member does not lead: {bar}");
            }
            Some(Bar::Unheard { .. } | Bar::Elsewhere { .. }) | None => {}
        }
    }

    /// Nothing is granted before all voters agree on who votes, so whoever does not is named.
    fn note_objections(&mut self) {
        if self.objections.is_empty() && self.node.objections().next().is_none() {
            return;
        }
        let now: Vec<_> = self.node.objections().collect();
        for (voter, why) in now.iter().filter(|objection| !self.objections.contains(objection)) {
            match why {
                Objection::OtherList => {
                    tracing::warn!("nobody can lead yet: the file of node {voter} lists other voters")
                }
                Objection::OtherStore => {
                    tracing::warn!(
                        "nobody can lead yet: node {voter} has other votes than when it was asked first"
                    );
                }
                Objection::Rescued => {
                    tracing::warn!("node {voter} was rescued, and takes no part in what was before");
                }
            }
        }
        self.objections = now;
    }

    /// Members come and go with the voters.
    fn on_members(&mut self, membership: Membership) {
        self.only_met = self.listed.only_met(&membership);
        let members = self.listed.members(&membership, self.shared.links.members());
        let differs = self.listed.differs(&membership);
        self.shared.links.enrol(&members);
        if let Some(now) = &membership.configuration {
            let voters: Vec<u32> = now.voters.keys().map(|id| id.0).collect();
            tracing::info!(number = now.number, ?voters, settled = now.is_settled(), "who votes");
        }
        let mut known = self.shared.known();
        known.membership = Arc::new(membership);
        let before = std::mem::replace(&mut known.differs, differs.clone());
        drop(known);
        if let Some(differs) = differs.filter(|differs| before.as_ref() != Some(differs)) {
            tracing::warn!("{differs}");
        }
    }

    /// Whoever works in a group that is no more is told before anybody else.
    fn end_service(&mut self) {
        if self.serving.is_some() && self.serving != self.served_by() {
            self.serving = None;
            self.shared.service.send_replace(None);
        }
    }

    /// Whoever is to work is told when all is on the disk that must be.
    fn begin_service(&mut self) {
        if self.serving.is_none()
            && let Some(serving) = self.served_by()
            && let Some(service) = self.service()
        {
            self.serving = Some(serving);
            self.shared.service.send_replace(Some(service));
        }
    }

    /// The group that the node works in, who leads it, and which task that gave. A node that must not lead leads no group, not
    /// even one of its own.
    fn served_by(&self) -> Option<(GroupId, NodeId, ElectionId)> {
        let opinion = self.node.opinion();
        let barred = self.node.bar().map(|_| self.shared.id);
        let leader = opinion.normal_leader().filter(|leader| Some(*leader) != barred)?;
        Some((opinion.group?, leader, self.node.task_in_place()?.made_by()))
    }

    fn service(&self) -> Option<Service> {
        let ((group, leader, _), task) = (self.served_by()?, self.node.task_in_place()?);
        let members = self.node.lineage()?.record(group)?.members.clone();
        Some(Service { group, leader, members, task: task.content().into() })
    }

    /// Groups merge and part; each is worth a line, and whoever asks is told of all that are known.
    fn on_recorded(&self, group: GroupId) {
        let Some(groups) = self.node.lineage() else { return };
        if let Some(record) = groups.record(group) {
            let members: Vec<u32> = record.members.iter().map(|member| member.0).collect();
            tracing::info!(%group, ?members, "the group of node {} is in place", record.coordinator);
        }
        self.shared.known().groups = groups.clone();
    }

    fn on_announced(&self, now: Time, announced: Announcement) {
        let Announcement { leader, epoch, cause } = announced;
        match leader {
            Some(leader) => tracing::info!(epoch, %cause, "node {leader} leads"),
            None => tracing::info!(epoch, %cause, "nobody leads"),
        }
        self.history.write(self.shared.announce(self.clock.wall(now), announced));
    }

    fn flush(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
    }

    /// The machine may not let the member run when something is due.
    fn record_delay(&mut self, due: Time) {
        let now = self.clock.now();
        if let Some(recorder) = &mut self.recorder {
            recorder.late(self.clock.wall_micros(now), self.node.incarnation(), now.since(due));
        }
    }

    fn record(&mut self, what: What) {
        self.record_at(self.clock.now(), what);
    }

    fn record_at(&mut self, at: Time, what: What) {
        if let Some(recorder) = &mut self.recorder {
            recorder.event(self.clock.wall_micros(at), self.node.incarnation(), what);
        }
    }
}

/// A voter whose vote is lost says so, once.
fn note_vote(before: Vote, now: Vote) {
    match now {
        Vote::Lost if before != now => tracing::error!(
            "this member does not vote: the others know its votes from another file, which is lost; they go on without it, until \
             `members replace` lets it vote again"
        ),
        Vote::Outdated if before != now => tracing::error!(
            "this member does not vote: others have heard of more than is in its file of votes, so an old copy was put back; move it \
             away and start this member again: then `members replace` lets it vote"
        ),
        Vote::Without | Vote::Unknown | Vote::Counts | Vote::Lost | Vote::Outdated => {}
    }
}
