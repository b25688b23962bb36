//! What goes into a node and what comes out of it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use crate::exclusive::membership::{MemberChange, Membership};
use crate::exclusive::order::{News, Order};
use crate::exclusive::voter::Change;
use crate::group::{GroupEvent, Kept, OpId, Plan, PlanRequest};
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::leadership::{Announcement, Reception};
use crate::members::Members;
use crate::message::Frame;
use crate::opinion::Opinion;
use crate::tenure::{Command, Refused, Tenure, Ticket};
use crate::time::Time;

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
    /// The driver has evidence that a peer's incarnation ended: its connection was reset, or ended without a
    /// goodbye. A detector does not believe it blindly, and probes the peer. An algorithm with timers of its own
    /// acts as if that peer's had expired, except that no timeout grows from it.
    Gone {
        /// Whose connection it was.
        peer: NodeId,
        /// The incarnation that ended.
        incarnation: Incarnation,
    },
    /// There is a connection to a peer, which is in this incarnation.
    Connected {
        /// The peer.
        peer: NodeId,
        /// The peer's incarnation.
        incarnation: Incarnation,
    },
    /// The connection ended with a goodbye. That alone tells nothing: the peer has said before why it goes.
    Disconnected {
        /// The peer.
        peer: NodeId,
    },
    /// The driver has found out more about how the node's peers receive it. A node that they refuse does not lead.
    Received(Reception),
    /// The program asks for something. It is answered with [`Output::Answer`], or the node has [left](Output::Left).
    Command {
        /// Comes back with the answer.
        ticket: Ticket,
        /// What is asked for.
        command: Command,
    },
    /// Change who votes. Any member may be asked. It is answered with [`Output::Answer`] when the change is settled, or refused.
    Change {
        /// Comes back with the answer.
        ticket: Ticket,
        /// What is asked for.
        change: Box<MemberChange>,
    },
    /// A program wants something of a named election. It is answered with [`Output::Answer`].
    Order {
        /// Comes back with the answer.
        ticket: Ticket,
        /// What is asked for.
        order: Box<Order>,
    },
    /// The work that was done as the leader has ended, after [`Tenure::AskedBack`] or [`Tenure::None`]. Given at once if
    /// there was none.
    Released,
    /// Writes are on disk. Only for a node that [writes behind](crate::node::Node::writing_behind).
    Persisted {
        /// The first so many of those that the node has asked for.
        writes: u64,
    },
    /// So many changes of what the node's voter keeps are on disk, counted from when its store was made.
    Kept {
        /// How many.
        commits: u64,
    },
    /// The application answers [`Output::Plan`].
    Planned {
        /// Which question it answers.
        no: ElectionId,
        /// The content of the task; `None` if the application has failed.
        plan: Plan,
    },
    /// Perform a restricted operation, if this node coordinates a group that holds a majority.
    Perform(OpId),
    /// The simulator tells the truth about a peer. Only the `perfect` detector uses this, and links that an oracle turns up
    /// and down.
    Oracle {
        /// The peer.
        peer: NodeId,
        /// The incarnation it is in, or `None` if it is down.
        alive: Option<Incarnation>,
    },
}

/// What a node asks of its driver. The driver carries outputs out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<M> {
    /// Must be durable before any later output of the same step is carried out, unless the node
    /// [writes behind](crate::node::Node::writing_behind). A node that forgets its incarnation
    /// may reuse an election identifier and take an old answer for a new one.
    Persist(Durable),
    /// Have this on stable storage after all changes before it, and say so with [`Input::Kept`]. Nothing else waits for it.
    Keep(Box<Change>),
    /// Send a frame. It may be lost.
    Send {
        /// The receiver.
        to: NodeId,
        /// What to send.
        frame: Frame<M>,
    },
    /// Send a frame to everybody that can be reached, known to this node or not. Each copy may be lost.
    Broadcast(Frame<M>),
    /// Ask the application what a group works on, and answer with [`Input::Planned`]. Only a node with an application asks;
    /// see [`Node::with_planner`](crate::node::Node::with_planner).
    Plan(Box<PlanRequest>),
    /// What the program may do as the leader has changed.
    Tenure(Tenure),
    /// This node holds the leadership of that number, and may act as the leader until then, by the clock of its inputs. Only of a
    /// node with exclusive leadership.
    Valid {
        /// The number.
        epoch: u64,
        /// Until when; [`Time::NEVER`] if a store decides that.
        until: Time,
    },
    /// Who votes changed, as far as this node knows, or who is to be met. Only of a node with exclusive leadership.
    Members(Box<Membership>),
    /// What became known of named elections. Only of a node with exclusive leadership.
    News(Box<News>),
    /// The answer to a command, to an order, or to a change of who votes.
    Answer {
        /// The command's ticket.
        ticket: Ticket,
        /// Done, or why not.
        outcome: Result<(), Refused>,
    },
    /// The node has left: end its connections with a goodbye, and give it no more inputs.
    Left,
    /// Something happened that an observer may want to know.
    Event(Event),
}

impl<M> Output<M> {
    /// Whether anything outside of the node's process can tell that it was carried out.
    pub fn is_effect(&self) -> bool {
        match self {
            Self::Persist(_) | Self::Keep(_) | Self::Send { .. } | Self::Broadcast(_) | Self::Plan(_) => true,
            Self::Valid { .. }
            | Self::Tenure(_)
            | Self::Members(_)
            | Self::News(_)
            | Self::Answer { .. }
            | Self::Left
            | Self::Event(_) => false,
        }
    }
}

/// What a node keeps on stable storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The latest incarnation of the node.
    pub incarnation: Incarnation,
    /// A number that the algorithm keeps; 0 if it keeps none. With some algorithms it is the node's suspicion count: a node
    /// that forgets it may come back as the least suspected of all and oust a leader that never failed. With others it is
    /// the number of its latest view: a node that forgets it takes itself for a member of the first view.
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
    /// The node's opinion changed to this.
    Opinion(Opinion),
    /// Something about the groups that the node is in.
    Group(GroupEvent),
    /// The leader that the reachable members have settled on changed to this.
    Announced(Announcement),
    /// A coordinator has learnt that this is decided: who holds the leadership, with which token.
    Granted {
        /// The token.
        token: u64,
        /// The holder, if there is one.
        to: Option<NodeId>,
        /// The round of the ballot in which it was written.
        round: u64,
        /// Whose ballot that is: the coordinator's, or that of one before it.
        by: NodeId,
        /// The incarnation that the ballot is of.
        of: Incarnation,
        /// Which of the ballot's writes of that name it was.
        write: u64,
    },
    /// The leader's work did not end in time. Leadership is released without waiting for it any longer.
    GivenUp,
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
    /// A consistent link went up or down at this end.
    Link(Turn),
    /// The node installed a view with these members.
    ViewInstalled(Members),
    /// Whether the node remembers any message about a change of its view.
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
    /// The peer at the other end.
    pub peer: NodeId,
    /// The peer's incarnation.
    pub incarnation: Incarnation,
    /// How many transitions this end has seen, with that incarnation: odd is up, even is down.
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
    #[inline]
    pub fn push(&mut self, output: Output<M>) {
        self.outputs.push(output);
    }

    /// Makes room for one more. An output that is made and pushed right after that is made in its place. Otherwise it is made
    /// elsewhere and moved, and a processor that moves what was written just now in small pieces has to wait.
    #[inline]
    pub(crate) fn make_room(&mut self) {
        // After a loop it is certain that there is room: the push has nothing left that could fail.
        while self.outputs.len() == self.outputs.capacity() {
            self.outputs.reserve(1);
        }
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
