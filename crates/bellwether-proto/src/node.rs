//! One node: wire frames in, outputs out, and between them the layers in their order. The only file that knows it.

use core::mem;

use crate::canonical::Form;
use crate::detector::{Detector, DetectorConfig, Mail, WatchNo};
use crate::election::{self, Action, Actions, Channels, Election, Setup, Variant};
use crate::ident::{Incarnation, NodeId};
use crate::io::{Durable, Event, Input, Outbox, Output, Refusal};
use crate::link::{Admitted, Guard, Link, LinkMsg};
use crate::message::{Body, Frame};
use crate::time::Time;
use crate::view::{Status, View};

/// A node in one election, as a function of its state, the time, and what arrives.
///
/// Give it [`Input::Start`] once, then whatever happens. After each call carry out the outbox in order, then wait for
/// a frame or for [`Node::deadline`], whichever is first; a deadline that has passed goes before frames that keep coming.
///
/// - If `Persist` fails, stop the node: what follows it must not be sent.
/// - `Send` may name a peer that the driver has no address of; that frame is lost. `Broadcast` goes to all others.
/// - `now` may begin anywhere and must not run backwards. (`lockstep`, for the laboratory, needs clocks that agree.)
/// - An algorithm with [`Peers::Listed`](crate::election::Peers) is given a roster of all members, the same everywhere; one
///   with `Met`, such as `fjr`, a roster of itself. One whose spec names no detector ignores the detector's configuration.
///
/// ```
/// use bellwether_proto::detector::{DetectorConfig, DetectorKind};
/// use bellwether_proto::election::{AnyElection, Protocol, Setup, Timing, Variant};
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
///             Output::Event(_event) => { /* log it */ }
///         }
///     }
///     // Nothing arrives: sleep until the deadline.
///     now = node.deadline().expect("there is always something to wait for here");
///     input = Input::Deadline;
/// }
/// assert_eq!(node.view().normal_leader(), Some(NodeId(1)), "nobody answered, so node 1 leads itself");
/// ```
#[derive(Clone, Debug)]
pub struct Node<E: Election> {
    setup: Setup,
    detector_config: DetectorConfig,
    link: Link,
    detector: Detector,
    election: E,
    /// The view last shown to the outside.
    shown: View,
    // Buffers, empty between steps; kept so that a step need not allocate them.
    mail: Mail,
    actions: Actions<E::Msg>,
}

impl<E: Election> Node<E> {
    /// A node that has just come up at `now`, with everything volatile lost.
    pub fn new(setup: Setup, detector: DetectorConfig, now: Time) -> Self {
        let (roster, spec) = (&setup.roster, setup.protocol.spec());
        let guard = match (setup.variant, spec.channels) {
            (Variant::Printed, _) => Guard::Nothing,
            (Variant::Repaired, Channels::AnyOrder) => Guard::Lives,
            (Variant::Repaired, Channels::InOrder) => Guard::LivesAndOrder,
        };
        Self {
            link: Link::new(roster, spec.peers, guard),
            detector: match spec.detector {
                Some(_) => Detector::new(detector, roster.clone(), setup.incarnation, now),
                None => Detector::idle(detector, roster.clone(), setup.incarnation, now),
            },
            detector_config: detector,
            election: E::new(setup.clone(), detector.latency(roster.size())),
            shown: View { status: Status::Down, leader: None, group: None },
            mail: Mail::new(),
            actions: Actions::new(),
            setup,
        }
    }

    /// Takes one input at `now`, which must not run backwards. What is to be done is appended to `out`.
    pub fn handle(&mut self, now: Time, input: Input<E::Msg>, out: &mut Outbox<E::Msg>) {
        match input {
            Input::Start => self.start(now, out),
            Input::Frame(frame) => self.receive(now, frame, out),
            Input::Deadline => self.wake(now, out),
            Input::Gone { peer, incarnation } => self.gone(now, peer, incarnation, out),
            Input::Oracle { peer, alive } => {
                if let Some(rank) = self.setup.roster.rank(peer) {
                    self.detector.oracle(now, rank, alive.is_some());
                }
            }
        }
    }

    /// When to give it [`Input::Deadline`]. May be earlier than anything is due, never later.
    pub fn deadline(&self) -> Option<Time> {
        self.detector.deadline().min(self.election.deadline()).as_deadline()
    }

    /// Who this is.
    pub fn id(&self) -> NodeId {
        self.setup.roster.me()
    }

    /// This life.
    pub fn incarnation(&self) -> Incarnation {
        self.setup.incarnation
    }

    /// What the node shows of itself.
    pub fn view(&self) -> View {
        self.shown
    }

    /// The algorithm's state.
    pub fn election(&self) -> &E {
        &self.election
    }

    /// Writes the state in canonical form, as seen at `now`.
    pub fn canonical(&self, now: Time, form: &mut Form) {
        form.node(self.id());
        form.incarnation(self.id(), self.setup.incarnation);
        self.link.canonical(self.id(), form);
        self.detector.canonical(now, form);
        self.election.canonical(now, form);
    }

    fn start(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        self.persist(out);
        self.elect(now, election::Input::Recovery, out);
    }

    fn receive(&mut self, now: Time, frame: Frame<E::Msg>, out: &mut Outbox<E::Msg>) {
        let Frame { from, incarnation, rides, .. } = frame;
        match self.link.admit(&frame) {
            Ok(Admitted::SameLife) => {}
            Ok(Admitted::NewLife) => self.elect(now, election::Input::NewLife(from), out),
            Err(why) => {
                out.push(Output::Event(Event::Refused { from, why }));
                if why == Refusal::StaleIncarnation {
                    self.answer_stale(now, from, frame.body, out);
                }
                return;
            }
        }
        // A peer that was met, but is on no list, is nobody that a detector could watch.
        let rank = self.setup.roster.rank(from);
        if let Some(rank) = rank {
            self.heard(now, rank, incarnation, rides, out);
        }
        match frame.body {
            Body::Link(LinkMsg::Outlived { known }) => self.outlived(now, known, out),
            Body::Detector(msg) => {
                if let Some(rank) = rank {
                    self.detector.handle(now, rank, incarnation, msg, &mut self.mail);
                    self.post_mail(now, out);
                }
            }
            Body::Election(msg) => self.elect(now, election::Input::Message { from, msg }, out),
        }
    }

    /// What any frame tells the detector about its sender.
    fn heard(
        &mut self,
        now: Time,
        rank: usize,
        life: Incarnation,
        rides: Option<WatchNo>,
        out: &mut Outbox<E::Msg>,
    ) {
        if self.detector.heard(rank, life) {
            self.down(now, rank, out);
        }
        if let Some(no) = rides {
            self.detector.ridden(now, rank, life, no, &mut self.mail);
            self.post_mail(now, out);
        }
    }

    /// A stale peer must learn that it is. But if it says the same of this node, that is heeded: two nodes that both
    /// lost their disks would otherwise refuse each other's Outlived for ever, as fast as the network carries it.
    fn answer_stale(&mut self, now: Time, from: NodeId, body: Body<E::Msg>, out: &mut Outbox<E::Msg>) {
        match body {
            Body::Link(LinkMsg::Outlived { known }) => self.outlived(now, known, out),
            Body::Detector(_) | Body::Election(_) => {
                let known = self.link.incarnation(from);
                self.post(now, from, Body::Link(LinkMsg::Outlived { known }), out);
            }
        }
    }

    /// Reports go first, so that the election does not act on what it is about to unlearn; then the election, since
    /// what it sends may carry the beats that are due. Only here is anybody reported for silence: a sign of life that
    /// arrives at the very instant of the deadline is in time, whatever else arrives at that instant before it.
    fn wake(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        self.report_downs(now, out);
        if self.election.deadline() <= now {
            self.elect(now, election::Input::Deadline, out);
        }
        self.detector.wake(now, &mut self.mail);
        self.post_mail(now, out);
    }

    fn gone(&mut self, now: Time, peer: NodeId, incarnation: Incarnation, out: &mut Outbox<E::Msg>) {
        if peer == self.id() || self.link.incarnation(peer) != incarnation {
            return; // Of nobody, or of a life that is known to be over or has not been heard of.
        }
        if let Some(rank) = self.setup.roster.rank(peer) {
            self.detector.probe(now, rank, &mut self.mail);
            self.post_mail(now, out);
        }
        self.elect(now, election::Input::Gone(peer), out);
    }

    /// A peer remembers a later life of this node than this one: stable storage was lost. Move above it and start
    /// over, or old answers could be taken for new ones.
    fn outlived(&mut self, now: Time, known: Incarnation, out: &mut Outbox<E::Msg>) {
        let mine = self.setup.incarnation;
        let Some(incarnation) = known.next().filter(|_| known > mine && known.is_plausible_after(mine))
        else {
            return;
        };
        let shown = self.shown;
        *self = Self::new(Setup { incarnation, ..self.setup.clone() }, self.detector_config, now);
        self.shown = shown;
        out.push(Output::Event(Event::Reborn(incarnation)));
        self.start(now, out);
    }

    fn report_downs(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        while let Some(rank) = self.detector.next_down(now, &mut self.mail) {
            self.down(now, rank, out);
        }
        self.post_mail(now, out);
    }

    fn down(&mut self, now: Time, rank: usize, out: &mut Outbox<E::Msg>) {
        self.post_mail(now, out);
        let peer = self.setup.roster.at(rank);
        out.push(Output::Event(Event::Down(peer)));
        self.elect(now, election::Input::DownSig(peer), out);
    }

    fn elect(&mut self, now: Time, input: election::Input<E::Msg>, out: &mut Outbox<E::Msg>) {
        let mut actions = mem::take(&mut self.actions);
        self.election.handle(now, input, &mut actions);
        // The view is shown before the messages go out: an observer sees the cause before the effects.
        let view = self.election.view();
        if view != self.shown {
            self.shown = view;
            out.push(Output::Event(Event::View(view)));
        }
        for action in actions.drain() {
            self.carry_out(now, action, out);
        }
        self.actions = actions;
    }

    fn carry_out(&mut self, now: Time, action: Action<E::Msg>, out: &mut Outbox<E::Msg>) {
        match action {
            Action::Send { to, msg } => self.post(now, to, Body::Election(msg), out),
            Action::Broadcast(msg) => {
                let seq = self.link.next_broadcast();
                out.push(Output::Broadcast(self.frame(seq, None, Body::Election(msg))));
            }
            Action::Persist { count } => {
                self.setup.count = count;
                self.persist(out);
            }
            Action::Start(peer) => {
                if let Some(rank) = self.setup.roster.rank(peer) {
                    out.push(Output::Event(Event::Watch(peer)));
                    self.detector.start(now, rank, &mut self.mail);
                }
            }
            Action::Stop(peer) => {
                if let Some(rank) = self.setup.roster.rank(peer) {
                    out.push(Output::Event(Event::Unwatch(peer)));
                    self.detector.stop(now, rank, &mut self.mail);
                }
            }
            Action::StopAll => {
                out.push(Output::Event(Event::UnwatchAll));
                self.detector.stop_all(now, &mut self.mail);
            }
            Action::PlayDead => {
                out.push(Output::Event(Event::PlayDead));
                self.detector.play_dead();
            }
            Action::PlayAlive => {
                out.push(Output::Event(Event::PlayAlive));
                self.detector.play_alive(now);
            }
        }
        self.post_mail(now, out);
    }

    fn post_mail(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        if self.mail.is_empty() {
            return;
        }
        let mut mail = mem::take(&mut self.mail);
        for (rank, msg) in mail.drain(..) {
            self.post(now, self.setup.roster.at(rank), Body::Detector(msg), out);
        }
        self.mail = mail;
    }

    fn post(&mut self, now: Time, to: NodeId, body: Body<E::Msg>, out: &mut Outbox<E::Msg>) {
        let Some(seq) = self.link.next_seq(to) else { return };
        let rides = match body {
            Body::Election(_) => self.setup.roster.rank(to).and_then(|rank| self.detector.ride(now, rank)),
            Body::Link(_) | Body::Detector(_) => None,
        };
        out.push(Output::Send { to, frame: self.frame(seq, rides, body) });
    }

    fn frame(&self, seq: u64, rides: Option<WatchNo>, body: Body<E::Msg>) -> Frame<E::Msg> {
        Frame { from: self.id(), incarnation: self.setup.incarnation, seq, rides, body }
    }

    fn persist(&self, out: &mut Outbox<E::Msg>) {
        let Setup { incarnation, count, .. } = self.setup;
        out.push(Output::Persist(Durable { incarnation, count }));
    }
}

#[cfg(test)]
mod tests;
