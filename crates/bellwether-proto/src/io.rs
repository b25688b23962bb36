//! What goes into a node and what comes out of it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use crate::group::{GroupEvent, Kept, OpId, Plan, PlanRequest};
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::leadership::Announcement;
use crate::message::Frame;
use crate::time::Time;
use crate::view::{Members, View};

pub use crate::link::Refusal;

/// Everything that can happen to a node. Time comes with it as `now`; see [`Node::handle`](crate::node::Node::handle).
#[derive(Clone, Debug)]
pub enum Input<M> {
    /// The node has come up: run the recovery rule. Once, before anything else.
    Start,
    /// A frame arrived.
    Frame(Frame<M>),
    /// The deadline was reached. Early, late or repeated is harmless.
    Deadline,
    /// The driver has evidence that a peer's life ended: its connection was reset, or ended without a goodbye. A
    /// detector weighs it by probing; it is not believed blindly. To an algorithm with timers of its own it is as if
    /// that peer's had expired, except that no timeout grows from it.
    Gone {
        /// Whose connection it was.
        peer: NodeId,
        /// The life it belonged to.
        incarnation: Incarnation,
    },
    /// A connection to a peer came about: it can be spoken with, and is in this life.
    Linked {
        /// With whom.
        peer: NodeId,
        /// The life it is in.
        incarnation: Incarnation,
    },
    /// The connection ended with a goodbye: what that tells is in what the peer said before.
    Unlinked {
        /// With whom.
        peer: NodeId,
    },
    /// Stand aside until then: give leadership back, and do not stand for it.
    StandAside {
        /// When to stand again; never, if not told to.
        until: Time,
    },
    /// Stand again before that.
    Stand,
    /// Hand leadership over to that peer; see [`Node::may_hand_over`](crate::node::Node::may_hand_over).
    HandOver {
        /// To whom.
        to: NodeId,
    },
    /// The application answers [`Output::Plan`].
    Planned {
        /// Which question it answers.
        no: ElectionId,
        /// What the group is to do; `None` if the application has failed to say.
        plan: Plan,
    },
    /// Perform a restricted operation, if this node coordinates a group that holds a majority.
    Perform(OpId),
    /// The simulator tells the truth about a peer. Only the `perfect` detector listens, and links that are told when to go up
    /// and down.
    Oracle {
        /// Of whom.
        peer: NodeId,
        /// The life it is in, or `None` if it is down.
        alive: Option<Incarnation>,
    },
}

/// What a node asks of its driver. The driver carries outputs out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<M> {
    /// Must be durable before any later output of the same step is carried out. A node that forgets its incarnation
    /// may reuse an election identifier and take an old answer for a new one.
    Persist(Durable),
    /// Send a frame. It may be lost.
    Send {
        /// The receiver.
        to: NodeId,
        /// What to send.
        frame: Frame<M>,
    },
    /// Send a frame to everybody that can be reached, known to this node or not. Each copy may be lost.
    Broadcast(Frame<M>),
    /// Ask the application what a group is to do, and answer with [`Input::Planned`]. Only of a node that was told that there
    /// is one; see [`Node::with_planner`](crate::node::Node::with_planner).
    Plan(Box<PlanRequest>),
    /// Something happened that an observer may want to know.
    Event(Event),
}

/// What a node keeps on stable storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The latest life of the node.
    pub incarnation: Incarnation,
    /// What the algorithm counts; 0 if it does not count. How often the node has been suspected, as far as it knows: one that
    /// forgets it may come back as the least suspected of all and oust a leader that never failed. Or the views that it has
    /// been in: one that forgets them takes itself for a member of the first.
    pub count: u64,
    /// The largest epoch of a leadership that the node has seen; 0 without the leadership layer. A node that forgets it
    /// may announce an epoch that its own group has seen before.
    pub epoch: u64,
    /// What the group layer keeps; `None` without groups. A node that forgets it may vote for one operation in two groups.
    pub group: Option<Arc<Kept>>,
}

/// What an observer of one node may want to know. The raw material of traces, and so of the checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The node's view changed to this.
    View(View),
    /// Something about the groups that the node is in.
    Group(GroupEvent),
    /// The leader that the reachable members have settled on changed to this.
    Announced(Announcement),
    /// The leader should have its work stopped, and then be told to hand over to that peer, which has priority.
    Yield(NodeId),
    /// The node moved to a higher incarnation because a peer remembered one at least as high.
    Reborn(Incarnation),
    /// The failure detector began to watch a peer, or was reset (Stoller's Start).
    Watch(NodeId),
    /// It stopped watching a peer (Stoller's Stop).
    Unwatch(NodeId),
    /// It stopped watching everybody.
    UnwatchAll,
    /// It reported a peer as down (Stoller's DownSig).
    Down(NodeId),
    /// It began to play dead to the weaker nodes (Stoller's PlayDead).
    PlayDead,
    /// It ended that (Stoller's PlayAlive).
    PlayAlive,
    /// This end of a link with a history saw it go up or down.
    Link(Turn),
    /// The node installed the view that it shows, with these members.
    Members(Members),
    /// Whether the node remembers anything that was said about a change of its view.
    Pending(bool),
    /// A frame was refused and had no effect.
    Refused {
        /// Its sender.
        from: NodeId,
        /// Why.
        why: Refusal,
    },
}

/// A link as one end sees it, after a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who is at the other end.
    pub peer: NodeId,
    /// In which life.
    pub life: Incarnation,
    /// How many transitions this end has seen, with that life: odd is up, even is down.
    pub seen: u64,
}

impl Turn {
    /// Whether the link is up now.
    pub const fn is_up(self) -> bool {
        self.seen % 2 == 1
    }
}

/// The outputs of a step, in order.
#[derive(Clone, Debug)]
pub struct Outbox<M> {
    outputs: Vec<Output<M>>,
}

impl<M> Outbox<M> {
    /// An empty outbox.
    pub fn new() -> Self {
        Self { outputs: Vec::new() }
    }

    /// Appends an output.
    pub fn push(&mut self, output: Output<M>) {
        self.outputs.push(output);
    }

    /// Whether there is nothing to carry out.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// Takes the outputs out, in the order in which to carry them out.
    pub fn drain(&mut self) -> Drain<'_, Output<M>> {
        self.outputs.drain(..)
    }
}

impl<M> Default for Outbox<M> {
    fn default() -> Self {
        Self::new()
    }
}
