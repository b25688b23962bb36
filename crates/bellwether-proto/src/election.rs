//! Election algorithms: one file each, in its paper's own terms.
//!
//! An algorithm is a pure state machine behind [`Election`]. It knows nothing of frames, sockets or detectors'
//! mechanisms: it receives messages and DownSig, and answers with [`Action`]s that the
//! [`Node`](crate::node::Node) carries out in order.
//!
//! To add one: its file, a `pub mod` here, an arm of [`Protocol`] and [`AnyElection`] in `any.rs`, a wire tag in
//! `wire.rs`, its ledger in `docs/papers`, its paper test.

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
use crate::group::Formation;
use crate::ident::{Incarnation, NodeId};
use crate::kind::Message;
use crate::roster::Roster;
use crate::time::{Span, Time};
use crate::view::{Members, View};

pub use crate::link::Peers;
pub use crate::link::history::Standing;
pub use crate::spec::{Channels, InAgent, Spec, Variant};
pub use crate::time::Timing;
pub use any::{AnyElection, AnyMsg, Protocol};
pub use raynal::{Count, Counts};

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

    /// Takes one input. The state changes, and `out` receives what is to be done.
    fn handle(&mut self, now: Time, input: Input<Self::Msg>, out: &mut Actions<Self::Msg>);

    /// When the algorithm wants [`Input::Deadline`]; an early, late or repeated one is harmless.
    fn deadline(&self) -> Time;

    /// What the node shows of itself.
    fn view(&self) -> View;

    /// Writes the state in canonical form.
    fn canonical(&self, now: Time, form: &mut Form);

    /// Which of the algorithm's invariants does not hold of this state, `before` being the state one step earlier.
    fn breach(&self, _before: &Self) -> Option<&'static str> {
        None
    }
}

/// What an algorithm is told at the start of a life.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which algorithm, where one type stands for several.
    pub protocol: Protocol,
    /// As repaired, or as the paper prints it.
    pub variant: Variant,
    /// The members, and which of them this node is.
    pub roster: Roster,
    /// This life of the node: larger than any before it. One that may have lost its disk must not reuse a number, or its
    /// peers take it for its former self. So take the larger of what stable storage holds, plus one, and the wall clock in
    /// seconds.
    pub incarnation: Incarnation,
    /// The node's own count, as stable storage holds it: of suspicions or of views; see [`Durable`](crate::io::Durable).
    pub count: u64,
    /// Raynal's t: how many crashes are to be tolerated, fewer than there are members. Not every algorithm asks.
    pub t: usize,
    /// The timing parameters.
    pub timing: Timing,
    /// What some algorithms leave to whoever runs them.
    pub choices: Choices,
}

/// What some algorithms leave to whoever runs them.
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
    /// A peer has begun another life than the one that was known. Its message follows. Only in the repaired variants: the
    /// papers' messages do not tell one life from another.
    NewLife(NodeId),
    /// The failure detector reports a watched peer.
    DownSig(NodeId),
    /// The driver has evidence that the present life of a peer is over.
    Gone(NodeId),
    /// A peer says that it takes no part for a while: it is as good as gone, and everybody is told.
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
    /// It has not, for want of this peer's answer; the group layer has left it.
    ReorganizationFailed(NodeId),
    /// A link with a history went up or down, or the peer at its other end stands differently now.
    Link {
        /// Who is at the other end.
        peer: NodeId,
        /// How the peer stands, if the link is up.
        up: Option<Standing>,
    },
    /// The deadline was reached.
    Deadline,
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
    /// Send a message that joins a group: what the group layer has to say of the past goes with it.
    Join {
        /// The coordinator.
        to: NodeId,
        /// The message.
        msg: M,
    },
    /// A group is formed: reorganize it, or wait for that.
    Form(Formation),
    /// The group is left, or what was being formed.
    Disband,
    /// Send a message to everybody, known or not.
    Broadcast(M),
    /// Have the node's own count on stable storage before anything that follows is sent.
    Persist {
        /// The count.
        count: u64,
    },
    /// From now on this is how the node stands, for those it is linked with by links with a history.
    Stand(Standing),
    /// The view that is shown has these members.
    Install(Members),
    /// Whether anything is remembered that was said about a change of the view.
    Remember(bool),
    /// Begin another life, as after a crash: this one is over, for all that the others can know.
    BeginLife,
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

/// The actions of a step, in order.
#[derive(Clone, Debug)]
pub struct Actions<M>(Vec<Action<M>>);

impl<M> Actions<M> {
    /// None yet.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends an action.
    pub fn push(&mut self, action: Action<M>) {
        self.0.push(action);
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
        self.0.drain(..)
    }
}

impl<M> Default for Actions<M> {
    fn default() -> Self {
        Self::new()
    }
}
