//! What a node makes of one input.

use std::sync::Arc;

use bellwether_proto::election::Election;
use bellwether_proto::io::{Durable, Event, Input, Outbox};
use bellwether_proto::leadership::Announcement;
use bellwether_proto::tenure::{Refused, Tenure, Ticket};
use bellwether_proto::trace::{Program, What, Written};

use super::broken::Breach;
use super::state::{Content, Host};
use crate::check::Leadership;

/// A node that wakes this often without an effect will never let time pass.
const IDLE_WAKES_MAX: u32 = 1_000;

/// What a node makes of one input. Many states have the same machine in them, and a machine does the same in each: turns
/// are kept and used again.
#[derive(Debug)]
pub(super) struct Turn<E: Election> {
    /// As it is when all is carried out.
    pub(super) host: Arc<Host<E>>,
    /// In order; a broadcast is as many things to send as there are others.
    pub(super) deeds: Vec<Deed<E::Msg>>,
    /// How many of them the outside can tell were done.
    pub(super) effects: u8,
    /// Whether time passed at the node.
    pub(super) passes: bool,
    /// What the node broke by itself.
    pub(super) breaches: Vec<Breach>,
    /// Whether it befalls the group: the node stands again, or is to give leadership back.
    pub(super) disturbs: bool,
    /// Whether the node has left.
    pub(super) leaves: bool,
}

/// Something that a node asks for.
#[derive(Debug)]
pub(super) enum Deed<M> {
    Persist(Durable),
    Send { to: u8, content: Arc<Content<M>> },
    Event(Event),
    Tenure(Tenure),
    Answer(Ticket, Result<(), Refused>),
    Left,
}

impl<M> Deed<M> {
    /// What a trace has of it, but for messages.
    pub(super) fn what(&self) -> Option<What> {
        Some(match self {
            Self::Persist(durable) => What::Persist(Written::from(durable)),
            Self::Send { .. } => return None,
            Self::Event(event) => What::Node(*event),
            Self::Tenure(Tenure::AskedBack { epoch }) => What::Program(Program::AskedBack { epoch: *epoch }),
            Self::Tenure(Tenure::Held { epoch }) => What::Program(Program::WorkBegins { epoch: *epoch }),
            Self::Tenure(Tenure::None) => return None,
            Self::Answer(ticket, outcome) => {
                let refused = outcome.err().map(|refused| refused.name());
                What::Program(Program::Answered { ticket: *ticket, refused })
            }
            Self::Left => What::Program(Program::Left),
        })
    }

    /// Whether the outside can tell that it was done.
    pub(super) fn is_effect(&self) -> bool {
        matches!(self, Self::Persist(_) | Self::Send { .. })
    }
}

impl<E: Election> Turn<E> {
    /// What was done when a crash came after so many effects.
    pub(super) fn done_before(&self, cut: u8) -> &[Deed<E::Msg>] {
        let mut effects = 0;
        let done = self.deeds.iter().take_while(|deed| {
            effects += u8::from(deed.is_effect());
            effects <= cut
        });
        &self.deeds[..done.count()]
    }

    /// What the node remembers having announced when a crash came after so many effects, if it remembered that before. Its own
    /// leadership is on its disk before it is announced; one that it follows is announced first.
    pub(super) fn remembered(&self, cut: u8, before: Option<Leadership>) -> Option<Leadership> {
        let (mut kept, mut told) = (before, before);
        for deed in self.done_before(cut) {
            match deed {
                Deed::Event(Event::Announced(Announcement { leader: Some(leader), epoch, .. })) => {
                    told = Some((*epoch, *leader));
                    kept = if *leader == self.host.id { told } else { kept };
                }
                Deed::Persist(_) => kept = told,
                _ => {}
            }
        }
        kept
    }
}

/// Has a node see to what is due at once.
pub(super) fn report<E: Election>(host: &mut Host<E>) -> Outbox<E::Msg> {
    let mut outbox = Outbox::new();
    if let Some(node) = &mut host.node
        && node.deadline().is_some_and(|deadline| deadline <= host.clock)
    {
        node.handle(host.clock, Input::Deadline, &mut outbox);
    }
    outbox
}

/// Has a node reach its next deadline that has an effect, and gives what it then asks for.
pub(super) fn wake<E: Election>(host: &mut Host<E>) -> Option<Outbox<E::Msg>> {
    let node = host.node.as_mut()?;
    let mut outbox = Outbox::new();
    for _ in 0..IDLE_WAKES_MAX {
        host.clock = host.clock.max(node.deadline()?);
        let election_due = node.election().deadline() <= host.clock;
        node.handle(host.clock, Input::Deadline, &mut outbox);
        if election_due || !outbox.is_empty() {
            return Some(outbox);
        }
    }
    panic!("node {} does not let time pass", host.id)
}
