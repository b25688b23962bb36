//! Election algorithms: one file each, in its paper's own terms.
//!
//! An algorithm is a pure state machine behind [`Election`]. It knows nothing of frames, sockets or detectors'
//! mechanisms: it receives messages and DownSig, and answers with [`Action`]s that the
//! [`Node`](crate::node::Node) carries out in order.
//!
//! To add one: its file, and here its `pub mod` and its line in the table `protocols!`; see CONTRIBUTING.

pub mod adft;
mod any;
pub mod async_bully;
pub mod bully;
pub mod bully_fd;
pub mod calls;
pub mod fb_omega;
pub mod fjr;
pub mod franceschetti;
pub mod gamma;
pub mod invitation;
pub(crate) mod inviting;
pub mod lfa;
pub mod lockstep;
pub mod mmrt;
pub mod phi;
pub mod psi;
mod raynal;
pub mod souto_bully;
pub mod souto_invitation;
pub mod stoller;

use alloc::vec::{Drain, Vec};

use crate::canonical::Form;
use crate::cause::Cause;
use crate::group::Formation;
use crate::ident::{Incarnation, NodeId};
use crate::kind::Message;
use crate::members::Members;
use crate::opinion::Opinion;
use crate::roster::Roster;
use crate::time::{Span, Time};

pub use crate::link::Peers;
pub use crate::link::consistent::Membership;
pub use crate::spec::{Channels, GivesWay, InAgent, Mode, Spec, Variant};
pub use crate::time::Timing;
pub use any::{AnyElection, AnyMsg, Protocol};
pub use raynal::{SuspicionCount, SuspicionCounts};

/// Every algorithm: its document, its type, and its tag on the wire, which must never have been another's. All that is said
/// of each in turn is generated from this: `$generate` is the macro that does so.
macro_rules! protocols {
    ($generate:ident) => {
        $generate! {
            "Stoller, Fig. 1." bully_fd::BullyFd = 16,
            "Stoller, Fig. 3." async_bully::AsyncBully = 17,
            "Raynal, Fig. 1." lfa::Lfa = 18,
            "Raynal, Fig. 2." adft::Adft = 19,
            "Raynal, Fig. 3." mmrt::Mmrt = 20,
            "Raynal, Fig. 4." fjr::Fjr = 21,
            "Raynal, section 1." lockstep::Lockstep = 22,
            "Garcia-Molina, Appendix I." bully::Bully = 23,
            "Souto, The Bully Election Algorithm." souto_bully::SoutoBully = 25,
            "Garcia-Molina, Appendix II." invitation::Invitation = 24,
            "Souto, The Invitation Algorithm." souto_invitation::SoutoInvitation = 26,
            "Franceschetti and Bruck, section 3.1." gamma::Gamma = 27,
            "Franceschetti and Bruck, section 3.2." phi::Phi = 28,
            "Franceschetti and Bruck, section 3.3." psi::Psi = 29,
            "Franceschetti and Bruck, Fig. 2." fb_omega::FbOmega = 30,
        }
    };
}
pub(crate) use protocols;

/// The algorithm that nominates whoever coordinates exclusive leadership: it is stable, and needs no list.
pub const NOMINATES: Protocol = Protocol::Fjr;

/// What an agent runs unless it is told otherwise.
impl Default for Protocol {
    fn default() -> Self {
        Self::Fjr
    }
}

/// A leader-election algorithm as one node runs it.
pub trait Election: Clone {
    /// The algorithm's own messages.
    type Msg: Message;

    /// The state of a node that has just come up, before its recovery rule has run. `tau_fd` is the latency that its
    /// failure detector declares.
    fn new(setup: Setup, tau_fd: Span) -> Self;

    /// Whether what it forms is reorganized. Only an algorithm that is none of [`Protocol`] need say so itself.
    fn reorganizes(protocol: Protocol) -> bool {
        protocol.spec().reorganizes
    }

    /// Takes one input: changes the state, and adds the actions that follow to `out`. If it then names another leader, and the
    /// input alone does not say why ([`Input::cause`]), it says so: [`Actions::because`].
    fn handle(&mut self, now: Time, input: Input<Self::Msg>, out: &mut Actions<Self::Msg>);

    /// When the algorithm wants [`Input::Deadline`]; an early, late or repeated one is harmless.
    fn deadline(&self) -> Time;

    /// What the election says now: the node's status, the leader that it names, its group.
    fn opinion(&self) -> Opinion;

    /// Writes the state in canonical form.
    fn canonical(&self, now: Time, form: &mut Form);

    /// Which of the algorithm's invariants does not hold of this state, `before` being the state one step earlier.
    fn breach(&self, _before: &Self) -> Option<&'static str> {
        None
    }
}

/// What an algorithm is told when its node starts.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which algorithm to run, if one type stands for several.
    pub protocol: Protocol,
    /// As repaired, or as the paper prints it.
    pub variant: Variant,
    /// The members, and which of them this node is.
    pub roster: Roster,
    /// This incarnation of the node: larger than any before it. A node that may have lost its disk must not reuse a
    /// number, or its peers would take it for its former self. So use the larger of two numbers: one more than the
    /// number on disk, and the wall clock in seconds.
    pub incarnation: Incarnation,
    /// The node's own count, as stable storage holds it: of suspicions or of views; see [`Durable`](crate::io::Durable).
    pub count: u64,
    /// Raynal's t: how many crashes are to be tolerated, fewer than there are members. Not every algorithm asks.
    pub t: usize,
    /// The timing parameters.
    pub timing: Timing,
    /// What some algorithms leave to those who run them.
    pub choices: Choices,
}

/// What some algorithms leave to those who run them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Whether this node stands by itself; the others wake up when they are spoken to (`gamma`).
    pub candidate: bool,
    /// Which parts of a cluster that is split may go on (`phi`, `psi`, `fb-omega`).
    pub primary: Primary,
}

impl Default for Choices {
    fn default() -> Self {
        Self { candidate: true, primary: Primary::Majority }
    }
}

/// Which of several parts of a cluster may have a leader (Franceschetti and Bruck, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primary {
    /// One with more than half of all members. Of two halves neither has.
    Majority,
    /// Every one: as many leaders as there are cliques.
    Any,
}

impl Primary {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Majority, Self::Any];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Any => "none",
        }
    }

    /// The rule of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|primary| primary.name() == name)
    }

    /// Whether so many of all members may go on.
    pub const fn admits(self, part: usize, all: usize) -> bool {
        match self {
            Self::Majority => part * 2 > all,
            Self::Any => true,
        }
    }
}

/// What can happen to an algorithm.
#[derive(Clone, Debug)]
pub enum Input<M> {
    /// The node has come up.
    Recovery,
    /// A message of the algorithm arrived.
    Message {
        /// Its sender.
        from: NodeId,
        /// Its content.
        msg: M,
    },
    /// A peer has begun another incarnation than the one that was known. Its message follows. Only in the repaired
    /// variants: the papers' messages do not tell one incarnation from another.
    NewIncarnation(NodeId),
    /// The failure detector reports a watched peer.
    DownSig(NodeId),
    /// The driver has evidence that the present incarnation of a peer is over.
    Gone(NodeId),
    /// A peer says that it takes no part for a while. Treat it as gone; all members are told.
    Resigned {
        /// Who.
        who: NodeId,
        /// If it led and the algorithm can hand over: who leads next, as far as it knew.
        next: Option<NodeId>,
    },
    /// The leader that this node named hands over to that node, which may be this one. Only for those whose spec says so.
    HandOver(NodeId),
    /// The group that was formed has its task in place.
    Reorganized,
    /// The reorganization failed, because this peer did not answer. The group layer has left the group.
    ReorganizationFailed(NodeId),
    /// A consistent link went up or down, or the peer at its other end reports another view or that it is
    /// dead.
    Link {
        /// The peer at the other end.
        peer: NodeId,
        /// How the peer stands, if the link is up.
        up: Option<Membership>,
    },
    /// The deadline was reached.
    Deadline,
}

impl<M> Input<M> {
    /// Why a leader is given up for this input, if the algorithm has nothing more to say about it.
    pub fn cause(&self, led: NodeId) -> Cause {
        match self {
            Self::Recovery => Cause::Started,
            Self::Gone(peer) | Self::NewIncarnation(peer) => Cause::Gone(*peer),
            Self::Resigned { who, .. } => Cause::Resigned(*who),
            Self::HandOver(to) => Cause::HandedOver(led, *to),
            Self::DownSig(peer) | Self::ReorganizationFailed(peer) | Self::Link { peer, up: None } => {
                Cause::Silent(*peer)
            }
            // What deadlines are for, mostly, is to wait for the leader.
            Self::Deadline => Cause::Silent(led),
            Self::Message { .. } | Self::Reorganized => Cause::Outranked(led),
            Self::Link { up: Some(_), .. } => Cause::Merged,
        }
    }
}

/// Gives an election an input. Answers why it names another leader than the one that was `named`, should it do so; `known` is
/// why the input came, if something else than the input says that.
pub(crate) fn decide<E: Election>(
    election: &mut E,
    now: Time,
    input: Input<E::Msg>,
    (named, known): (Option<NodeId>, Option<Cause>),
    out: &mut Actions<E::Msg>,
) -> Cause {
    let obvious = named.map(|led| known.unwrap_or_else(|| input.cause(led)));
    election.handle(now, input, out);
    let said = out.why.take();
    obvious.map_or(Cause::Started, |obvious| said.unwrap_or(obvious))
}

/// What an algorithm asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<M> {
    /// Send a message.
    Send {
        /// The receiver.
        to: NodeId,
        /// Its content.
        msg: M,
    },
    /// Send a message that joins a group. The group layer adds where this node comes from.
    Join {
        /// The coordinator.
        to: NodeId,
        /// The message.
        msg: M,
    },
    /// A group is formed: reorganize it, or wait for that.
    Form(Formation),
    /// The node leaves its group, or the group that it was forming.
    Disband,
    /// Send a message to everybody, known or not.
    Broadcast(M),
    /// Have the node's own count on stable storage before anything that follows is sent.
    Persist {
        /// The count.
        count: u64,
    },
    /// Have the node's own count on stable storage. Nothing waits for that: an earlier count would do after a crash.
    Note {
        /// The count.
        count: u64,
    },
    /// From now on, tell this to the peers at the other end of the node's consistent links.
    Stand(Membership),
    /// The node's view has these members.
    Install(Members),
    /// Whether the node remembers any message about a change of its view.
    Remember(bool),
    /// Begin another incarnation, as after a crash, for this reason. To the others it looks as if this one had ended.
    BeginIncarnation(Cause),
    /// Start_FD(i).
    Start(NodeId),
    /// Stop_FD(i).
    Stop(NodeId),
    /// Stop_FD(ID ⊖ i).
    StopAll,
    /// PlayDead_FD(greater(i)).
    PlayDead,
    /// PlayAlive_FD(greater(i)).
    PlayAlive,
}

/// The actions of a step, in order, and why the algorithm names another leader, if it does.
#[derive(Clone, Debug)]
pub struct Actions<M> {
    list: Vec<Action<M>>,
    why: Option<Cause>,
}

impl<M> Actions<M> {
    /// Whether anything must be on stable storage before what follows it is sent.
    pub(crate) fn keep_something(&self) -> bool {
        self.list.iter().any(|action| matches!(action, Action::Persist { .. }))
    }

    /// None yet.
    pub fn new() -> Self {
        Self { list: Vec::new(), why: None }
    }

    /// Says why another leader is named, or nobody. The first reason of a step counts, and only if the leader changes.
    pub fn because(&mut self, why: Cause) {
        self.why.get_or_insert(why);
    }

    /// Appends an action.
    pub fn push(&mut self, action: Action<M>) {
        self.list.push(action);
    }

    /// Sends a message.
    pub fn send(&mut self, to: NodeId, msg: M) {
        self.push(Action::Send { to, msg });
    }

    /// Sends a copy to each.
    pub fn send_each(&mut self, to: &[NodeId], msg: &M)
    where
        M: Clone,
    {
        to.iter().for_each(|to| self.send(*to, msg.clone()));
    }

    /// Takes the actions out, in order.
    pub fn drain(&mut self) -> Drain<'_, Action<M>> {
        self.list.drain(..)
    }
}

impl<M> Default for Actions<M> {
    fn default() -> Self {
        Self::new()
    }
}
