//! What a worker is told by whatever elects: in which view it is, and what it is to do there.

use tokio::sync::oneshot;

/// Something that changes what a worker may do.
#[derive(Debug)]
pub enum Notice {
    /// This node leads a new view: it is to find out what the failed had done, and to say who does what from now on. The
    /// view is not in service before the answer is there.
    Recover {
        /// Which view, and who is in it.
        view: View,
        /// Who was in the view before, and is not in this one, or not in the same life.
        failed: Vec<u32>,
        /// Who is in this view, and was not in the one before.
        readmitted: Vec<u32>,
        /// Where the task description is to go.
        reply: oneshot::Sender<Result<Vec<u8>, String>>,
    },
    /// A view is in service, and this node is in it.
    InService {
        /// Which.
        view: View,
        /// Its task description.
        task: Vec<u8>,
    },
    /// There is a view that is not in service yet, or none that this node knows of.
    OutOfService,
    /// The others have given this node up, or it cannot reach enough of them.
    Dead,
}

/// A view: some nodes that agree on who is among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Views are numbered; later ones have larger numbers.
    pub number: u64,
    /// Its leader, the fault manager.
    pub leader: u32,
    /// Who is in it.
    pub members: Vec<u32>,
}
