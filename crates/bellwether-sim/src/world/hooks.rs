//! What may be put in the way of a run: of its frames, and of its disks; and who plays the application.

use std::fmt;

use bellwether_proto::group::{Plan, PlanRequest};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Durable;
use bellwether_proto::message::Frame;
use bellwether_proto::time::Span;

/// What every frame passes through on its way, such as a trip through the wire format, or a counter of bytes.
pub struct Relay<'a, M>(pub(super) Box<dyn FnMut(Frame<M>) -> Frame<M> + 'a>);

impl<M> fmt::Debug for Relay<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Relay")
    }
}

/// What disks keep of what is written to them, if not all of it.
pub(super) struct Disks<'a>(pub(super) Box<dyn FnMut(Durable) -> Durable + 'a>);

impl fmt::Debug for Disks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disks")
    }
}

/// Says what groups are to do, and after which time; `None` never answers.
pub(super) struct Application<'a> {
    /// How long nodes wait for it.
    pub(super) patience: Span,
    pub(super) answers: Box<dyn FnMut(NodeId, &PlanRequest) -> Option<(Span, Plan)> + 'a>,
}

impl fmt::Debug for Application<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Application")
    }
}
