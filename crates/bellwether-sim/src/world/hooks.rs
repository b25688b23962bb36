//! What may be put in the way of a run: of its frames, and of its disks.

use std::fmt;

use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::io::Durable;
use bellwether_proto::message::Frame;

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

/// What disks do to the votes that they hold.
pub(super) struct BallotBoxes<'a>(pub(super) Box<dyn FnMut(&mut VoterKept) + 'a>);

impl fmt::Debug for BallotBoxes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BallotBoxes")
    }
}
