//! What a handle asks of the driver.

use bellwether_proto::tenure::{self, Refused};
use tokio::sync::oneshot;

/// What comes of a request.
pub(crate) type Reply = oneshot::Sender<Result<(), Refused>>;

/// What a handle asks of the driver.
pub(crate) struct Command {
    pub(crate) command: tenure::Command,
    pub(crate) reply: Option<Reply>,
}

impl Command {
    /// Nobody waits for the answer: who leaves has ended.
    pub(crate) fn leave() -> Self {
        Self { command: tenure::Command::Leave, reply: None }
    }
}
