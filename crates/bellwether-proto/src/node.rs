//! One node: frames in, outputs out, and between them the layers. Only this file and its submodules know the order
//! of the layers.

mod electing;
mod exclusively;
mod form;
mod grouped;
mod leading;
mod linked;
mod work;
mod writes;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::mem;

use crate::cause::Cause;
use crate::detector::{Detector, DetectorConfig, DetectorMsg, Mail, WatchNo};
use crate::election::{self, Actions, Channels, Election, Setup, Variant};
use crate::exclusive::Exclusive;
use crate::group::{Attempted, Group, Kept, Lineage, Task, TaskDigest};
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::io::{Event, Input, Outbox, Output, Refusal};
use crate::leadership::{Bar, Leadership, LeadershipConfig, Office};
use crate::link::consistent::{ConsistentLinks, News};
use crate::link::{Admitted, Guard, Link, LinkMsg};
use crate::message::{Body, Frame, Joining, Letter};
use crate::opinion::Opinion;
use crate::release::{Patience, Release};
use crate::time::{Span, Time};
use work::{Tell, Work};
use writes::{Waits, Writes};

/// A node in one election, as a function of its state, the time, and what arrives.
///
/// Give it [`Input::Start`] once, then whatever happens. After each call carry out the outbox in order, then wait for
/// a frame or for [`Node::deadline`], whichever is first; a deadline that has passed goes before frames that keep coming.
///
/// - If `Persist` fails, stop the node: what follows it must not be sent.
/// - Give [`Node::with_kept`] what stable storage holds, if the algorithm forms groups.
/// - `Send` may name a peer that the driver has no address of; that frame is lost. `Broadcast` goes to all others.
/// - `now` may begin anywhere and must not run backwards. (`lockstep`, for the laboratory, needs clocks that agree.)
/// - An algorithm with [`Peers::Listed`](crate::election::Peers) is given a roster of all members, the same everywhere; one
///   with `Met`, such as `fjr`, a roster of itself. One whose spec names no detector ignores the detector's configuration.
///
/// ```
/// use bellwether_proto::detector::{DetectorConfig, DetectorKind};
/// use bellwether_proto::election::{AnyElection, Choices, Protocol, Setup, Timing, Variant};
/// use bellwether_proto::ident::{Incarnation, NodeId};
/// use bellwether_proto::io::{Input, Outbox, Output};
/// use bellwether_proto::node::Node;
/// use bellwether_proto::roster::{Priority, Roster};
/// use bellwether_proto::time::{Span, Time};
///
/// let timing = Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(10) };
/// let setup = Setup {
///     protocol: Protocol::AsyncBully,
///     variant: Variant::Repaired,
///     roster: Roster::new(NodeId(1), [NodeId(1), NodeId(2)], Priority::LowestId),
///     incarnation: Incarnation(1), // one more than what stable storage holds
///     count: 0,                    // what stable storage holds
///     t: 0,
///     timing,
///     choices: Choices::default(),
/// };
/// let detector = DetectorConfig::new(DetectorKind::Heartbeat, timing);
/// let mut node: Node<AnyElection> = Node::new(setup, detector, Time::ZERO);
/// let mut outbox = Outbox::new();
/// let (mut now, mut input) = (Time::ZERO, Input::Start);
/// for _ in 0..10 {
///     node.handle(now, input, &mut outbox);
///     for output in outbox.drain() {
///         match output {
///             Output::Persist(_durable) => { /* write and sync before going on */ }
///             Output::Send { to, .. } => assert_eq!(to, NodeId(2)), // here: lost
///             Output::Broadcast(_frame) => { /* to everybody within reach */ }
///             Output::Plan(_request) => { /* only of a node `with_planner` */ }
///             Output::Tenure(_) | Output::Answer { .. } | Output::Left => { /* only of a node `with_leadership` */ }
///             Output::Keep(_) | Output::Valid { .. } | Output::Members(_) | Output::News(_) => { /* only of a node `with_exclusive` */ }
///             Output::Event(_event) => { /* log it */ }
///         }
///     }
///     // Nothing arrives: sleep until the deadline.
///     now = node.deadline().expect("there is always something to wait for here");
///     input = Input::Deadline;
/// }
/// assert_eq!(node.opinion().normal_leader(), Some(NodeId(1)), "nobody answered, so node 1 leads itself");
/// ```
#[derive(Clone, Debug)]
pub struct Node<E: Election> {
    setup: Setup,
    detector_config: DetectorConfig,
    link: Link,
    /// The ups and downs of links, if the algorithm is told of them.
    links: Option<ConsistentLinks<Letter<E::Msg>>>,
    detector: Detector,
    election: E,
    /// The layer that reorganizes the groups that the election forms, if its paper has that.
    group: Option<Group>,
    /// The layer that turns being named into leading. Without it, as mostly in the laboratory, there are only
    /// elections.
    leadership: Option<Leadership>,
    /// The layer that lets at most one lead, instead: the election only nominates whoever coordinates that.
    exclusive: Option<Exclusive>,
    /// Until when the node does not stand, and its election does not run.
    aside: Option<Time>,
    /// The layer that releases leadership, and answers commands.
    release: Option<Release>,
    /// This incarnation is over; another begins when the step is done.
    ending: Option<Ending>,
    /// The opinion last reported.
    shown: Opinion,
    // Empty between steps; kept so that a step need not allocate them.
    /// Actions of one layer for another.
    queue: VecDeque<Work<E::Msg>>,
    /// What waits for the disk; empty between steps, too, if nothing does.
    parked: VecDeque<Work<E::Msg>>,
    /// What the disk has been asked for.
    writes: Writes,
    /// What consistent links have brought.
    news: VecDeque<News<Letter<E::Msg>>>,
    mail: Mail,
    actions: Actions<E::Msg>,
}

/// Why an incarnation ends in a process that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The election asked for it, for that reason.
    Asked(Cause),
    /// The node has stood aside, and stands again.
    StoodAside,
}

impl<E: Election> Node<E> {
    /// A node that has just come up at `now`, with everything volatile lost.
    pub fn new(setup: Setup, detector: DetectorConfig, now: Time) -> Self {
        let (roster, spec) = (&setup.roster, setup.protocol.spec());
        let guard = match (setup.variant, spec.channels) {
            (_, Channels::Consistent) => Guard::Incarnations,
            (Variant::Printed, _) => Guard::Nothing,
            (Variant::Repaired, Channels::AnyOrder) => Guard::Incarnations,
            (Variant::Repaired, Channels::InOrder) => Guard::IncarnationsAndOrder,
        };
        Self {
            link: Link::new(roster, spec.peers, guard),
            links: (spec.channels == Channels::Consistent)
                .then(|| ConsistentLinks::new(roster, setup.incarnation, setup.timing)),
            detector: watching(&setup, detector, now),
            detector_config: detector,
            election: E::new(setup.clone(), detector.latency(roster.size())),
            group: E::reorganizes(setup.protocol)
                .then(|| Group::for_election(spec, setup.variant, roster, setup.incarnation, setup.timing)),
            leadership: None,
            exclusive: None,
            aside: None,
            release: None,
            ending: None,
            shown: Opinion::DOWN,
            queue: VecDeque::new(),
            parked: VecDeque::new(),
            writes: Writes::default(),
            news: VecDeque::new(),
            mail: Mail::new(),
            actions: Actions::new(),
            setup,
        }
    }

    /// The same node with leadership: it announces a leader on these terms once the connected members agree, and releases
    /// leadership with this patience. Agents are made by [`Settings`](crate::agent::Settings).
    pub fn with_leadership(mut self, config: LeadershipConfig, patience: Patience, now: Time) -> Self {
        self.leadership = Some(Leadership::new(self.id(), self.incarnation(), config, now));
        self.release = Some(Release::new(self.id(), self.setup.protocol.name(), patience));
        self
    }

    /// The same node, on a machine whose disk holds this of its group layer.
    pub fn with_kept(mut self, kept: Option<Arc<Kept>>, now: Time) -> Self {
        if let (Some(group), Some(kept)) = (&mut self.group, kept) {
            group.recall(kept, now);
        }
        self
    }

    /// The same node, with an application that says what groups are to do: it is asked with [`Output::Plan`], and if it has not
    /// answered within that time (T, at least), the reorganization has failed.
    pub fn with_planner(mut self, patience: Span) -> Self {
        if let Some(group) = &mut self.group {
            group.ask_application(patience);
        }
        self
    }

    /// The same node, which remembers no groups: for exhaustive search, whose states would otherwise never come back.
    pub fn without_history(mut self) -> Self {
        if let Some(group) = &mut self.group {
            group.forget_groups();
        }
        self
    }

    /// Takes one input at `now`, which must not run backwards. The outputs that follow are put into `out`.
    ///
    /// # Panics
    /// If `out` is not empty: carry out the outputs of a step before the next.
    pub fn handle(&mut self, now: Time, input: Input<E::Msg>, out: &mut Outbox<E::Msg>) {
        assert!(out.is_empty(), "the outputs of the step before have been carried out");
        let overslept = self.has_overslept(now);
        match input {
            Input::Start => {
                self.queue.push_back(Work::StartExclusive);
                self.start(now, Cause::Started, out);
            }
            Input::Frame(frame) => self.receive(now, frame, out),
            Input::Deadline => self.wake(now, out),
            Input::Gone { peer, incarnation } => self.gone(now, peer, incarnation, out),
            Input::Connected { peer, incarnation } => self.connected(now, peer, incarnation, out),
            Input::Disconnected { peer } => {
                self.lead(|leadership| leadership.disconnect(now, peer));
                self.exclude(|exclusive| exclusive.reach(now, peer, false));
            }
            Input::Received(reception) => {
                self.lead(|leadership| leadership.receive(now, reception));
                self.exclude(|exclusive| exclusive.receive(reception));
            }
            Input::Command { ticket, command } => {
                self.release(|release, office| release.command(now, ticket, command, office));
            }
            Input::Change { ticket, change } => self.change(now, ticket, *change, out),
            Input::Order { ticket, order } => self.order(now, ticket, *order, out),
            Input::Released => self.release(|release, _| release.released()),
            Input::Persisted { writes } => {
                if overslept {
                    self.wake(now, out); // What is overdue comes first: it was before the disk was done.
                }
                self.persisted(now, writes);
            }
            Input::Kept { commits } => self.exclude(|exclusive| exclusive.kept(now, commits)),
            Input::Planned { no, plan } => self.tell(Tell::Planned(no, plan)),
            Input::Perform(op) => self.tell(Tell::Perform(op)),
            Input::Oracle { peer, alive } => self.told(now, peer, alive.is_some()),
        }
        self.work_off(now, out);
        if overslept {
            self.lead(|leadership| leadership.overslept(now));
            self.work_off(now, out);
        }
        self.reconsider(now, out);
        debug_assert_eq!(self.breach(), None, "node {} at {now}", self.id());
    }

    /// When to give it [`Input::Deadline`]. May be earlier than anything is due, never later.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let leadership = self.leadership.as_ref().map_or(Time::NEVER, Leadership::deadline);
        let release = self.release.as_ref().map_or(Time::NEVER, Release::deadline);
        let election = self.aside.unwrap_or_else(|| self.electing());
        election.min(leadership).min(self.excluding()).min(release).min(self.hung_at()).as_deadline()
    }

    /// When there is something to do for the election, what watches for it, and what follows it.
    #[inline]
    fn electing(&self) -> Time {
        if self.writes.is_unborn() {
            return Time::NEVER;
        }
        let links = self.links.as_ref().map_or(Time::NEVER, ConsistentLinks::deadline);
        let beats = self.detector.deadline().min(links);
        if self.writes.election_waits() {
            return beats; // Whoever waits for its disk has not overslept.
        }
        let group = self.group.as_ref().map_or(Time::NEVER, Group::deadline);
        beats.min(self.election.deadline()).min(group)
    }

    /// Whether the node stands aside.
    pub fn is_aside(&self) -> bool {
        self.aside.is_some() || self.exclusive.as_ref().is_some_and(Office::is_aside)
    }

    /// Why the node does not lead, whatever its election says.
    pub fn bar(&self) -> Option<Bar> {
        let exclusively = || self.exclusive.as_ref().and_then(Exclusive::bar);
        self.leadership.as_ref().and_then(Leadership::bar).or_else(exclusively)
    }

    /// The id of this node.
    pub fn id(&self) -> NodeId {
        self.setup.roster.me()
    }

    /// This incarnation.
    pub fn incarnation(&self) -> Incarnation {
        self.setup.incarnation
    }

    /// Whether its incarnation is on disk: before that it says nothing.
    pub fn is_born(&self) -> bool {
        !self.writes.is_unborn()
    }

    /// The node's opinion: its status, the leader that it names, its group.
    pub fn opinion(&self) -> Opinion {
        self.shown
    }

    /// The lineage of groups, as far as the node knows it; `None` if the algorithm forms none.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.group.as_ref().map(Group::lineage)
    }

    /// The task of the node's group, once it is in place.
    pub fn task_in_place(&self) -> Option<&Task> {
        self.group.as_ref().and_then(Group::task_in_place)
    }

    /// The number of the reorganization for which the application's answer is awaited: any other comes too late.
    pub fn awaits_plan(&self) -> Option<ElectionId> {
        self.group.as_ref().and_then(Group::awaits_plan)
    }

    /// The restricted operations that the node voted for without knowing the outcome.
    pub fn doubts(&self) -> &[Attempted] {
        self.group.as_ref().map_or(&[], Group::doubts)
    }

    /// Tells the task description in place at this node from others.
    pub fn task(&self) -> Option<TaskDigest> {
        self.task_in_place().map(Task::digest)
    }

    /// The algorithm's state.
    pub fn election(&self) -> &E {
        &self.election
    }

    /// Which invariant of the layers does not hold of this state. Those of an election are about a step:
    /// [`Election::breach`].
    pub fn breach(&self) -> Option<&'static str> {
        let links = self.links.as_ref().and_then(ConsistentLinks::breach);
        let group = self.group.as_ref().and_then(Group::breach);
        let leadership = self.leadership.as_ref().and_then(Leadership::breach);
        let release = self.release.as_ref().and_then(Release::breach);
        links.or(group).or(leadership).or(release)
    }

    /// Whether its election's message is so late that the others may have given this node up: its machine was
    /// stopped.
    #[inline]
    fn has_overslept(&self, now: Time) -> bool {
        self.leadership.is_some() && now.since(self.electing()) > self.setup.timing.delta * 2
    }

    fn start(&mut self, now: Time, cause: Cause, out: &mut Outbox<E::Msg>) {
        self.persist(now, Waits::Incarnation, out);
        self.take_up(now, cause, out);
    }

    /// The election begins, and links may come up.
    fn take_up(&mut self, now: Time, cause: Cause, out: &mut Outbox<E::Msg>) {
        self.queue.push_back(Work::Elect(election::Input::Recovery, Some(cause)));
        self.queue.push_back(Work::StartLinks);
        self.work_off(now, out);
    }

    /// The incarnation is on disk: its time begins now.
    fn comes_to_life(&mut self, now: Time) {
        self.detector = watching(&self.setup, self.detector_config, now);
    }

    fn receive(&mut self, now: Time, frame: Frame<E::Msg>, out: &mut Outbox<E::Msg>) {
        if !self.is_there_to_hear(&frame.body) {
            return;
        }
        let Frame { from, incarnation, seq, rides, .. } = frame;
        match self.link.admit(from, incarnation, frame.nth()) {
            Ok(admitted) => self.admitted(now, from, admitted, out),
            Err(why) => {
                out.push(Output::Event(Event::Refused { from, why }));
                if why == Refusal::StaleIncarnation && !self.writes.is_unborn() {
                    self.answer_stale(now, from, frame.body, out);
                }
                return;
            }
        }
        if let Some(leadership) = &mut self.leadership {
            leadership.heard(now, from);
        }
        // A peer that was met, but is on no list, is nobody that a detector could watch. And whoever stands aside is dead to
        // those that watch it.
        let watches = self.aside.is_none() && !self.writes.is_unborn();
        let rank = self.setup.roster.rank(from).filter(|_| watches);
        if let Some(rank) = rank {
            self.heard(now, rank, incarnation, rides, out);
        }
        match frame.body {
            Body::Link(LinkMsg::Outlived { known }) => self.outlived(now, known, out),
            // Who stands aside is linked with nobody.
            Body::Consistent(_) if self.aside.is_some() || self.is_overrun() => {}
            Body::Consistent(msg) => self.relink(|links| links.handle(now, from, incarnation, *msg)),
            Body::Detector(msg) => {
                if let Some(rank) = rank {
                    self.detector.handle(now, rank, incarnation, msg, &mut self.mail);
                    self.post_mail(now, out);
                }
            }
            Body::Election(_) | Body::Join(_) | Body::Group(_) if self.is_overrun() => {}
            Body::Election(msg) => self.elect(election::Input::Message { from, msg }),
            Body::Join(joining) => {
                let Joining { msg, past } = *joining;
                self.tell(Tell::Joined(from, (incarnation, seq), Box::new(past)));
                self.elect(election::Input::Message { from, msg });
            }
            Body::Group(msg) => self.tell(Tell::Message(from, msg)),
            Body::Leadership(msg) => self.heed(now, from, msg, out),
            Body::Exclusive(msg) => self.exclude(|layer| layer.handle(now, (from, incarnation), *msg)),
        }
    }

    /// The election hears of a new incarnation before it hears that incarnation's message.
    #[inline]
    fn admitted(&mut self, now: Time, peer: NodeId, admitted: Admitted, out: &mut Outbox<E::Msg>) {
        match admitted {
            Admitted::SameIncarnation => {}
            Admitted::NewIncarnation => {
                self.lead(|leadership| leadership.forget(peer));
                self.elect(election::Input::NewIncarnation(peer));
                self.work_off(now, out);
            }
        }
    }

    /// What any frame tells the detector about its sender.
    fn heard(
        &mut self,
        now: Time,
        rank: usize,
        incarnation: Incarnation,
        rides: Option<WatchNo>,
        out: &mut Outbox<E::Msg>,
    ) {
        if self.detector.heard(rank, incarnation) {
            self.down(now, rank, Cause::Gone(self.setup.roster.at(rank)), out);
        }
        if let Some(no) = rides {
            self.detector.ridden(now, rank, incarnation, no, &mut self.mail);
            self.post_mail(now, out);
        }
    }

    /// A stale peer must learn that it is. But if it says the same of this node, that is heeded: two nodes that both
    /// lost their disks would otherwise refuse each other's Outlived for ever, as fast as the network carries it.
    fn answer_stale(&mut self, now: Time, from: NodeId, body: Body<E::Msg>, out: &mut Outbox<E::Msg>) {
        match body {
            Body::Link(LinkMsg::Outlived { known }) => self.outlived(now, known, out),
            Body::Consistent(_)
            | Body::Detector(_)
            | Body::Election(_)
            | Body::Join(..)
            | Body::Group(_)
            | Body::Leadership(_)
            | Body::Exclusive(_) => {
                let known = self.link.incarnation(from);
                self.post(now, from, Body::Link(LinkMsg::Outlived { known }), out);
            }
        }
    }

    /// Reports go first, so that the election does not act on outdated knowledge. Then comes the election, because
    /// its messages may carry the beats that are due. Only here is anybody reported for silence: a sign of life that
    /// arrives at the very instant of the deadline is in time, whatever else arrives at that instant before it.
    fn wake(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        if !self.has_overslept(now) {
            self.lead(|leadership| leadership.wake(now));
            self.work_off(now, out);
        }
        // What may wait for a heartbeat goes with it.
        if self.excluding().min(self.election.deadline()) <= now {
            self.exclude(|exclusive| exclusive.wake(now));
            self.work_off(now, out);
        }
        if self.hung_at() <= now {
            return self.give_way(now, out);
        }
        if let Some(until) = self.aside {
            if until <= now {
                self.ending = Some(Ending::StoodAside);
            }
            return;
        }
        if self.writes.is_unborn() {
            return;
        }
        self.report_downs(now, out);
        self.relink(|links| links.wake(now));
        self.work_off(now, out);
        // While they wait for the disk, their deadlines do, too.
        if !self.writes.election_waits() {
            self.regroup(|group| group.wake(now));
            self.work_off(now, out);
        }
        if !self.writes.election_waits() && self.election.deadline() <= now {
            self.elect(election::Input::Deadline);
            self.work_off(now, out);
        }
        self.detector.wake(now, &mut self.mail);
        self.post_mail(now, out);
    }

    fn gone(&mut self, now: Time, peer: NodeId, incarnation: Incarnation, out: &mut Outbox<E::Msg>) {
        if peer == self.id() || self.link.incarnation(peer) != incarnation {
            return; // Of no peer, or of an incarnation that is over or was never heard of.
        }
        if let Some(rank) = self.setup.roster.rank(peer) {
            self.detector.probe(now, rank, &mut self.mail);
            self.post_mail(now, out);
        }
        self.link.part(peer);
        // The election first: who leads next is a matter of its own. It is to know why the link goes down.
        self.elect(election::Input::Gone(peer));
        self.work_off(now, out);
        self.relink(|links| links.gone(now, peer));
        self.work_off(now, out);
        self.tell(Tell::Gone(peer));
        self.work_off(now, out);
        self.lead(|leadership| leadership.gone(now, peer));
        self.exclude(|exclusive| exclusive.reach(now, peer, false));
    }

    /// A peer remembers a later incarnation of this node: stable storage was lost. Move above it and start
    /// over, or old answers could be taken for new ones.
    fn outlived(&mut self, now: Time, known: Incarnation, out: &mut Outbox<E::Msg>) {
        let mine = self.setup.incarnation;
        let Some(incarnation) = known.next().filter(|_| known > mine && known.is_plausible_after(mine))
        else {
            return;
        };
        self.begin_incarnation(now, incarnation, Cause::Started, out);
        self.exclude(|exclusive| exclusive.raise(now, incarnation));
    }

    /// Starts over in a later incarnation.
    fn begin_incarnation(
        &mut self,
        now: Time,
        incarnation: Incarnation,
        cause: Cause,
        out: &mut Outbox<E::Msg>,
    ) {
        self.turn_into(now, incarnation, out);
        self.start(now, cause, out);
        if self.writes.is_unborn() {
            // To lead no more does not wait for a disk.
            self.show(Opinion::DOWN, out);
            self.lead(|leadership| leadership.name(now, None, cause));
        }
    }

    /// Everything volatile is lost, except which peers are connected, their incarnations, and who leads. The process is the
    /// same, and so are its connections: no peer is introduced anew, and followers are silent by design.
    fn turn_into(&mut self, now: Time, incarnation: Incarnation, out: &mut Outbox<E::Msg>) {
        let next = Self::new(Setup { incarnation, ..self.setup.clone() }, self.detector_config, now);
        let before = mem::replace(self, next.driven_like(self));
        debug_assert!(before.queue.is_empty(), "what the old incarnation had to say has been said");
        (self.shown, self.link, self.writes) = (before.shown, before.link, before.writes);
        (self.leadership, self.exclusive, self.release) =
            (before.leadership, before.exclusive, before.release);
        self.writes.need_no_next();
        // What is parked of the election ends with it. What leaders say goes on.
        self.parked = before.parked;
        self.parked.retain(Work::outlasts_election);
        self.group = before.group.map(|group| group.reborn(incarnation, now));
        out.push(Output::Event(Event::Reborn(incarnation)));
    }

    /// This incarnation is over, and its last messages have been sent.
    fn end_incarnation(&mut self, now: Time, ending: Ending, out: &mut Outbox<E::Msg>) {
        let Some(incarnation) = self.setup.incarnation.next() else { return };
        match ending {
            Ending::Asked(cause) => self.begin_incarnation(now, incarnation, cause, out),
            // It comes back as from a crash: in a new incarnation, so that nothing of the old one is taken
            // for it.
            Ending::StoodAside if self.has_next(now, out) => {
                self.lead(Leadership::stand);
                self.turn_into(now, incarnation, out);
                self.take_up(now, Cause::Started, out);
                self.lead(Leadership::introduce);
            }
            Ending::StoodAside => {} // The disk says when it is time.
        }
    }

    fn connected(&mut self, now: Time, peer: NodeId, incarnation: Incarnation, out: &mut Outbox<E::Msg>) {
        if peer == self.id() {
            return;
        }
        match self.link.introduce(peer, incarnation) {
            Ok(admitted) => self.admitted(now, peer, admitted, out),
            Err(why) => return out.push(Output::Event(Event::Refused { from: peer, why })),
        }
        self.lead(|leadership| leadership.connect(now, peer));
        self.exclude(|exclusive| exclusive.reach(now, peer, true));
    }

    /// An oracle says how things are with a peer.
    fn told(&mut self, now: Time, peer: NodeId, alive: bool) {
        self.relink(|links| links.oracle(now, peer, alive));
        if let Some(rank) = self.setup.roster.rank(peer).filter(|_| self.links.is_none()) {
            self.detector.oracle(now, rank, alive);
        }
    }

    /// One at a time: the election's answer to one report may void the next.
    fn report_downs(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        while let Some(rank) = self.detector.next_down(now, &mut self.mail) {
            let peer = self.setup.roster.at(rank);
            let why = if self.link.is_parted(peer) { Cause::Gone(peer) } else { Cause::Silent(peer) };
            self.down(now, rank, why, out);
        }
        self.post_mail(now, out);
    }

    /// The detector reports a peer, for that reason.
    fn down(&mut self, now: Time, rank: usize, why: Cause, out: &mut Outbox<E::Msg>) {
        self.post_mail(now, out);
        let peer = self.setup.roster.at(rank);
        out.push(Output::Event(Event::Down(peer)));
        self.queue.push_back(Work::Elect(election::Input::DownSig(peer), Some(why)));
        self.work_off(now, out);
    }

    fn elect(&mut self, input: election::Input<E::Msg>) {
        self.queue.push_back(Work::Elect(input, None));
    }

    fn post_mail(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        if self.mail.is_empty() {
            return;
        }
        if self.writes.is_unborn() {
            return self.mail.clear(); // Nobody is there who could say it.
        }
        let mut mail = mem::take(&mut self.mail);
        for (rank, msg) in mail.drain(..) {
            let to = self.setup.roster.at(rank);
            match msg {
                // Nearly all of it.
                DetectorMsg::Beat { no } => self.post_beat(to, no, out),
                msg => self.post(now, to, Body::Detector(msg), out),
            }
        }
        self.mail = mail;
    }

    fn post(&mut self, now: Time, to: NodeId, body: Body<E::Msg>, out: &mut Outbox<E::Msg>) {
        let Some(seq) = self.link.next_seq(to) else { return };
        let rides = match body {
            Body::Election(_) | Body::Join(..) | Body::Group(_) => {
                self.setup.roster.rank(to).and_then(|rank| self.detector.ride(now, rank))
            }
            Body::Link(_)
            | Body::Consistent(_)
            | Body::Detector(_)
            | Body::Leadership(_)
            | Body::Exclusive(_) => None,
        };
        out.make_room();
        out.push(Output::Send { to, frame: self.frame(seq, rides, body) });
    }

    /// As [`Node::post`], of a beat. It is made anew, from its number, so that it is made in the outbox and not moved there: see
    /// [`Outbox::make_room`]. For that, all that is not known yet is looked up before.
    #[inline]
    fn post_beat(&mut self, to: NodeId, no: WatchNo, out: &mut Outbox<E::Msg>) {
        let Some(seq) = self.link.next_seq(to) else { return };
        let (from, incarnation) = (self.id(), self.setup.incarnation);
        out.make_room();
        let body = Body::Detector(DetectorMsg::Beat { no });
        out.push(Output::Send { to, frame: Frame { from, incarnation, seq, rides: None, body } });
    }

    fn frame(&self, seq: u64, rides: Option<WatchNo>, body: Body<E::Msg>) -> Frame<E::Msg> {
        Frame { from: self.id(), incarnation: self.setup.incarnation, seq, rides, body }
    }
}

/// The detector of a node, if its algorithm has one, or one that is idle.
fn watching(setup: &Setup, config: DetectorConfig, now: Time) -> Detector {
    let roster = setup.roster.clone();
    match setup.protocol.spec().detector {
        Some(_) => Detector::new(config, roster, setup.incarnation, now),
        None => Detector::idle(config, roster, setup.incarnation, now),
    }
}

#[cfg(test)]
mod tests;
