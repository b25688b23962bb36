//! What a handle asks of the driver.

use bellwether_proto::exclusive::order::Order;
use bellwether_proto::tenure::{self, Refused};
use tokio::sync::oneshot;

use crate::members::MemberChange;

/// What comes of a request.
pub(crate) type Reply = oneshot::Sender<Result<(), Refused>>;

/// What a handle asks of the driver.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) asked: Asked,
    pub(crate) reply: Option<Reply>,
}

/// What it is about.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Who leads.
    Tenure(tenure::Command),
    /// Who votes.
    Members(Box<MemberChange>),
    /// A named election.
    Order(Box<Order>),
}

impl Command {
    /// Nobody waits for the answer: who leaves has ended.
    pub(crate) fn leave() -> Self {
        Self { asked: Asked::Tenure(tenure::Command::Leave), reply: None }
    }
}
