//! Who holds what at this instant. It knows no machine.

use bellwether_proto::exclusive::campaigns::OWN;
use bellwether_proto::exclusive::grant::{Name, Token};
use bellwether_proto::ident::NodeId;

use super::promise::{Breach, Promise};

/// A program may act under that grant at this instant: its agent was told of it, of its present lease and campaign, and the lease is
/// valid by the agent's clock; or an agent that is gone told its programs so, and they go on until then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Holding {
    pub(super) agent: NodeId,
    pub(super) name: Name,
    pub(super) token: Token,
    /// For which session. That of a program is the same after its agent has restarted: it is one holder, whatever tokens it was told.
    pub(super) session: u64,
}

impl Holding {
    fn is_of_program(&self, other: &Self) -> bool {
        self.session != OWN && (self.agent, self.session) == (other.agent, other.session)
    }
}

/// Never two at once.
pub(super) fn judge(holdings: &[Holding]) -> Result<(), Breach> {
    for (at, one) in holdings.iter().enumerate() {
        let beside =
            |other: &&Holding| other.name == one.name && **other != *one && !other.is_of_program(one);
        if let Some(other) = holdings[at + 1..].iter().find(beside) {
            let (name, a, b) = (&one.name, (one.agent, one.token), (other.agent, other.token));
            return Err(Breach {
                promise: Promise::OneHolder,
                what: format!("{} and {} hold {name} at once, with tokens {} and {}", a.0, b.0, a.1, b.1),
            });
        }
    }
    Ok(())
}
