//! What the election tells a worker: its view, and its task there.

use tokio::sync::oneshot;

/// Something that changes what a worker may do.
#[derive(Debug)]
pub enum Notice {
    /// This node leads a new view. It must find out what the failed nodes had done, and say who does what from now on.
    /// The view is not in service before the answer is there.
    Recover {
        /// The view and its members.
        view: View,
        /// The nodes that were in the view before and are not in this one, or have restarted since.
        failed: Vec<u32>,
        /// The nodes that are in this view and were not in the one before.
        readmitted: Vec<u32>,
        /// Takes the task description.
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

/// A view: nodes that agree on its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its number. Later views have larger numbers.
    pub number: u64,
    /// Its leader, the fault manager.
    pub leader: u32,
    /// Who is in it.
    pub members: Vec<u32>,
}
