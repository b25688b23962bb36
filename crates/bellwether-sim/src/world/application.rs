//! Who plays the application: what it says that groups are to do, and what it wants performed.

use std::fmt;

use bellwether_proto::election::Election;
use bellwether_proto::group::{OpId, Plan, PlanRequest};
use bellwether_proto::ident::{ElectionId, NodeId};
use bellwether_proto::io::Input;
use bellwether_proto::time::Span;
use slab::Slab;

use super::World;

/// An application that has a say in what groups do.
pub(super) struct Application<'a> {
    /// How long nodes wait for it.
    pub(super) patience: Span,
    plans: Plans<'a>,
    /// What it will have answered.
    answers: Slab<Answer>,
}

/// What the application answers a node, and after which time; `None` never answers.
type Plans<'a> = Box<dyn FnMut(NodeId, &PlanRequest) -> Option<(Span, Plan)> + 'a>;

struct Answer {
    to: usize,
    no: ElectionId,
    plan: Plan,
}

impl fmt::Debug for Application<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Application")
    }
}

impl<'a, E: Election> World<'a, E> {
    /// Has an application say what groups are to do, and after which time; where it gives `None` it never answers. Nodes wait
    /// for it as long as `patience`.
    pub fn set_application(
        &mut self,
        patience: Span,
        plans: impl FnMut(NodeId, &PlanRequest) -> Option<(Span, Plan)> + 'a,
    ) {
        self.application = Some(Application { patience, plans: Box::new(plans), answers: Slab::new() });
    }

    /// The application wants it performed. What is asked of a node that does not run is lost.
    pub(super) fn perform(&mut self, at: usize, op: OpId) {
        if self.hosts[at].node.is_some() && !self.hosts[at].paused {
            self.input(at, Input::Perform(op));
        }
    }

    pub(super) fn ask(&mut self, at: usize, request: &PlanRequest) {
        let Some(Application { plans, answers, .. }) = &mut self.application else { return };
        if let Some((after, plan)) = plans(self.hosts[at].id, request) {
            self.queue.answer(self.now + after, answers.insert(Answer { to: at, no: request.no, plan }));
        }
    }

    /// The application answers, if the process that asked is still there. One that is paused does not run it either.
    pub(super) fn answer(&mut self, slot: usize) {
        let Some(application) = &mut self.application else { return };
        let Answer { to, no, plan } = application.answers.remove(slot);
        let host = &self.hosts[to];
        if host.node.as_ref().is_some_and(|node| node.incarnation() == no.incarnation) && !host.paused {
            self.input(to, Input::Planned { no, plan });
        }
    }
}
