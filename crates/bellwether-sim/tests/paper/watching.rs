//! An "algorithm" that only watches, to measure detectors by themselves.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Action, Actions, Election, Input, Setup};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::{Kind, Message};
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::{Span, Time};

/// Watches every other node from the start, and again when one is reported.
#[derive(Clone, Debug)]
pub(crate) struct WatchesAll {
    peers: Vec<NodeId>,
}

#[derive(Clone, Debug)]
pub(crate) enum Nothing {}

impl Message for Nothing {
    fn kind(&self) -> Kind {
        match *self {}
    }

    fn canonical(&self, _: &mut Form) {
        match *self {}
    }
}

impl Election for WatchesAll {
    type Msg = Nothing;

    fn new(setup: Setup, _: Span) -> Self {
        let me = setup.roster.me();
        Self { peers: setup.roster.members().iter().copied().filter(|id| *id != me).collect() }
    }

    fn handle(&mut self, _: Time, input: Input<Nothing>, out: &mut Actions<Nothing>) {
        match input {
            Input::Recovery => self.peers.iter().for_each(|peer| out.push(Action::Start(*peer))),
            Input::DownSig(peer) => out.push(Action::Start(peer)),
            Input::NewIncarnation(_)
            | Input::Gone(_)
            | Input::Resigned { .. }
            | Input::Reorganized
            | Input::ReorganizationFailed(_)
            | Input::Link { .. }
            | Input::HandOver(_)
            | Input::Deadline => {}
            Input::Message { msg, .. } => match msg {},
        }
    }

    fn deadline(&self) -> Time {
        Time::NEVER
    }

    fn opinion(&self) -> Opinion {
        Opinion { status: Status::Normal, leader: None, group: None }
    }

    fn canonical(&self, _: Time, _: &mut Form) {}
}
