//! What a cluster may rely on. An algorithm has a mode of its own; exclusive leadership is one that no algorithm has.

use bellwether_proto::election;

use super::{Config, GrantKind};

/// What a cluster may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What its algorithm gives.
    OfAlgorithm(election::Mode),
    /// At most one leads at a time, and with a token that grows for ever: [`Exclusive`](super::Exclusive).
    Exclusive(GrantKind),
}

impl Mode {
    /// The name of exclusive leadership in files.
    pub const EXCLUSIVE: &str = "exclusive";

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OfAlgorithm(mode) => mode.name(),
            Self::Exclusive(_) => Self::EXCLUSIVE,
        }
    }

    /// What a cluster may rely on, and what not, in plain words.
    pub const fn guarantee(self) -> &'static str {
        match self {
            Self::OfAlgorithm(mode) => mode.guarantee(),
            Self::Exclusive(GrantKind::Lease) => {
                "At most one member leads at a time, as long as clocks differ no more in speed than `drift` says. Every leadership \
                 has a token that is larger than all before it, for ever. Without a majority of the voters nobody leads. A leader \
                 that is merely silent is replaced when its `ttl` is over."
            }
            Self::Exclusive(GrantKind::Token) => {
                "Every leadership has a token that is larger than all before it, for ever; a store that refuses smaller tokens has \
                 one leader at a time. Until the store has seen the next token, a leader that was replaced may go on. Without a \
                 majority of the voters nobody is elected. No clock is relied on."
            }
        }
    }
}

impl Config {
    /// What the member's cluster may rely on.
    pub fn mode(&self) -> Mode {
        match &self.exclusive {
            Some(exclusive) => Mode::Exclusive(exclusive.kind),
            None => Mode::OfAlgorithm(self.protocol.spec().mode),
        }
    }
}
