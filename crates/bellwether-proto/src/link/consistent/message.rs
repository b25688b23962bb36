//! What the two ends of a link tell each other.

use serde::{Deserialize, Serialize};

use crate::canonical::Form;
use crate::ident::{GroupId, Incarnation, NodeId};
use crate::kind::{Kind, Message};

/// One message, which is also a beat: what the sender's end has seen and heard, and perhaps a message of a layer
/// above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistentMsg<M> {
    /// The incarnation of the receiver that the sender speaks with; 0 if it knows none.
    pub to: Incarnation,
    /// How many transitions the sender's end has seen.
    pub seen: u64,
    /// Counts the sender's messages on this link, in its incarnation.
    pub no: u64,
    /// The largest number that the sender has heard of the receiver's.
    pub echo: u64,
    /// How many of the receiver's messages were taken in this up.
    pub taken: u64,
    /// How the sender stands.
    pub membership: Membership,
    /// The message that it carries, if any.
    pub carries: Option<Carried<M>>,
}

/// A message of a layer above, on a link that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried<M> {
    /// Its number within this up, from 1.
    pub nth: u64,
    /// Itself.
    pub msg: M,
}

/// What a node says of itself to its linked peers (E-FB10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The view that it installed last, if any.
    pub view: Option<GroupId>,
    /// Whether it is dead: in no view until it is admitted to one.
    pub dead: bool,
}

impl Membership {
    pub(crate) fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.dead));
        form.option(self.view, Form::view);
    }
}

/// A message that carries nothing.
pub const BEAT: Kind = Kind::detector("LinkBeat");

impl<M: Message> ConsistentMsg<M> {
    /// Its kind: that of the message that it carries.
    pub fn kind(&self) -> Kind {
        self.carries.as_ref().map_or(BEAT, |carried| carried.msg.kind())
    }

    pub(crate) fn canonical(&self, from: NodeId, incarnation: Incarnation, to: NodeId, form: &mut Form) {
        form.incarnation(to, self.to);
        form.number(self.seen % 2);
        form.seen(from, to, self.seen);
        form.beat(from, incarnation, to, self.no);
        // None is none, however many there are to be acknowledged.
        let some = |count: u64| (count > 0).then_some(count);
        form.option(some(self.echo), |form, echo| form.beat(to, self.to, from, echo));
        form.option(some(self.taken), |form, taken| form.carried(to, from, self.seen, taken));
        self.membership.canonical(form);
        form.option(self.carries.as_ref(), |form, carried| {
            form.carried(from, to, self.seen, carried.nth);
            carried.msg.canonical(form);
        });
    }
}
