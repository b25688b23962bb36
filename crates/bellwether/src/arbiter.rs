//! Who decides which program holds a name.
//!
//! An [`Arbiter`] grants names, each to one [`Campaign`] at a time, with a token that grows. The voters of a cluster are one:
//! [`Registers`]. An engine that people run anyway can be another. Nothing that holds names knows which it is:
//! [`Election::with`](crate::client::Election::with) gives the same face for all of them.
//!
//! Whoever writes an arbiter for one more engine writes an [`Engine`], which does single things: open a session, renew it, get in
//! line, leave the line, tell who is where. [`Kept`] makes an arbiter of it, and is the only place that says until when something is
//! valid. [`conformance`] has what every arbiter must pass.
//!
//! | file | what |
//! |---|---|
//! | `registers.rs` | the voters of a cluster, through a member of this process |
//! | `engine.rs` | what an engine has to do |
//! | `etcd.rs`, `etcd/`; `postgres.rs`, `postgres/` | engines of other makes, with the features `etcd` and `postgres` |
//! | `kept.rs`, `kept/` | an arbiter over an engine: one session, kept up, and the campaigns in it |
//! | `conformance.rs` | what an arbiter has to pass |

pub mod conformance;
mod engine;
#[cfg(feature = "etcd")]
mod etcd;
mod kept;
#[cfg(feature = "postgres")]
mod postgres;
mod registers;
#[cfg(any(feature = "etcd", feature = "postgres"))]
mod tls;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::exclusive::grant::Grant;
use bellwether_proto::exclusive::order::Declined;
use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure;
use tokio::sync::watch;

use crate::elections::{self, GrantKind, Name, State};
use crate::error::{Expired, Refused};

pub use engine::{Engine, Line, News, Place, Ticket, Trouble};
#[cfg(feature = "etcd")]
pub use etcd::{Etcd, EtcdConfig};
pub use kept::Kept;
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresConfig};
pub use registers::Registers;
#[cfg(any(feature = "etcd", feature = "postgres"))]
pub use tls::ClientTls;

pub use crate::uptime::Uptime;

/// What is done meanwhile.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides who holds names.
///
/// - Nobody is granted a name while another may act on it, as far as the [`Terms`] say.
/// - Every grant of a name has a token that is larger than that of the grant before.
/// - A campaign that loses its name waits for it again, until it is released or dropped.
pub trait Arbiter: fmt::Debug + Send + Sync {
    /// What its grants rest on.
    fn terms(&self) -> Terms;

    /// Campaigns for a name from now on. Returns when that is taken note of.
    fn campaign(&self, name: Name, candidacy: Candidacy) -> Doing<'_, Result<Box<dyn Campaign>, Denied>>;

    /// What is known of a name without asking anybody.
    fn known(&self, name: &Name) -> Option<Seen>;

    /// What is certain of a name: whatever was granted before this is called is seen.
    fn read(&self, name: Name) -> Doing<'_, Result<Option<Seen>, Denied>>;

    /// What becomes known of a name from now on, after what is known now.
    fn observe(&self, name: &Name) -> Box<dyn Observe>;

    /// For how long the machine will have been up when names have to be given back, once they have: an arbiter may have to go.
    fn asks_back(&self) -> watch::Receiver<Option<Duration>>;

    /// Waits until it grants nothing any more; why.
    fn ended(&self) -> Doing<'_, Denied>;

    /// Which member it is, if it is one.
    fn node(&self) -> Option<NodeId>;
}

/// One campaign: from when a name is asked for until it is given back. Dropping it gives the name back at once.
pub trait Campaign: fmt::Debug + Send {
    /// A look at how it stands, for others to have.
    fn sight(&self) -> Arc<dyn Sight>;

    /// Waits until how it stands has changed, or until when it is valid. If the call is dropped, nothing is lost.
    fn changed(&mut self) -> Doing<'_, ()>;

    /// Proclaims that for as long as the name is held. Returns when others can read it.
    fn proclaim(&self, value: Arc<[u8]>) -> Doing<'static, Result<(), Denied>>;

    /// Gives the name back, or ends the wait for it. Returns when another can hold it.
    fn release(self: Box<Self>) -> Doing<'static, Result<(), Denied>>;
}

/// A look at a campaign, as often as one likes. It holds nothing.
pub trait Sight: fmt::Debug + Send + Sync {
    /// How it stands.
    fn state(&self) -> State;

    /// Until when it may act, if it may now: until the machine has been up for so long. [`Duration::MAX`] if the store that it
    /// writes to decides that. It looks at the clock at every call.
    fn valid_until(&self) -> Option<Duration>;

    /// The clock of its deadlines, and of what its arbiter asks back.
    fn uptime(&self) -> Uptime {
        Uptime::Machine
    }
}

impl dyn Sight {
    /// Until when it may act with that token, if it may now.
    ///
    /// # Errors
    /// If the name is not held with it any more, or it is not certain that it is.
    pub fn check(&self, token: u64) -> Result<Duration, Expired> {
        let is_held = || self.state() == State::Held { token };
        // Lost in between and granted anew, the second look finds another token.
        let until = is_held().then(|| self.valid_until()).flatten();
        until.filter(|_| is_held()).ok_or(Expired { epoch: token })
    }
}

/// What becomes known of one name.
pub trait Observe: fmt::Debug + Send {
    /// The next thing to know: at first what is known now, then whenever that has changed. The inner `None`: there is no such
    /// name. The outer one: nothing becomes known any more. If the call is dropped, nothing is lost.
    fn next(&mut self) -> Doing<'_, Option<Option<Seen>>>;
}

/// What grants rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// In which words people know it: `etcd`, say.
    pub engine: &'static str,
    /// For how long a silent holder may act. Another is granted what it held only after that.
    pub ttl: Duration,
    /// Which clocks that rests on, besides that of the holder.
    pub clock: EngineClock,
    /// Whether tokens grow over everything that may befall the engine.
    pub tokens: Tokens,
    /// Whether whoever came first is granted a name first.
    pub is_fair: bool,
}

/// Whose clock says that a silent holder is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineClock {
    /// Those of a majority, each with an allowance for drift.
    Majority,
    /// That of one server.
    Server,
    /// That of whoever wants the name.
    Candidates,
}

/// For how long tokens grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// For ever, if disks keep what they synced.
    ForEver,
    /// As long as the engine loses nothing that it has said: a copy that takes over and lacks the latest writes gives tokens again.
    WhileNothingIsLost,
}

/// How a name would be held.
#[derive(Clone, Debug, Default)]
pub struct Candidacy {
    /// What makes the grant valid; `None`: whatever the name has, or a deadline.
    pub kind: Option<GrantKind>,
    /// Higher goes first, of those that wait, where the arbiter knows priorities.
    pub priority: u32,
    /// What it proclaims while it holds the name: at most [`VALUE_MAX`] bytes.
    pub value: Arc<[u8]>,
}

/// No value has more bytes.
pub const VALUE_MAX: usize = Grant::VALUE_MAX;

/// What is known of a name.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The name.
    pub name: Name,
    /// What makes its grants valid.
    pub kind: GrantKind,
    /// The token of the holder, or of the last one; 0 if nobody holds it and the arbiter does not remember.
    pub token: u64,
    /// Who holds it.
    pub holder: Option<Holder>,
    /// What the holder proclaims.
    pub value: Arc<[u8]>,
    /// How many others wait for it.
    pub waiting: u32,
    /// When this became known.
    pub since: SystemTime,
    /// How long ago it was that this was known to be so.
    pub age: Duration,
}

/// Who holds a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Through which member, if members hold names.
    pub node: Option<NodeId>,
    /// Which session of the member or the engine.
    pub session: String,
}

/// Why an arbiter did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// It cannot be done, for this reason, or the member has ended.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The engine refuses, or does not answer.
    #[error(transparent)]
    Engine(#[from] Trouble),
}

impl Denied {
    pub(crate) fn declined(why: Declined) -> Self {
        Self::Refused(Refused::Cannot(tenure::Refused::Election(why)))
    }

    /// The kind of the name, if that is why.
    pub(crate) fn other_kind(&self) -> Option<GrantKind> {
        match self {
            Self::Refused(Refused::Cannot(tenure::Refused::Election(Declined::OtherKind { kind }))) => {
                Some(*kind)
            }
            Self::Refused(_) | Self::Engine(_) => None,
        }
    }
}

impl From<elections::Election> for Seen {
    fn from(known: elections::Election) -> Self {
        let elections::Election { name, kind, token, holder, value, waiting, since, age } = known;
        let holder =
            holder.map(|holder| Holder { node: Some(holder.node), session: holder.session.to_string() });
        Self { name, kind, token, holder, value, waiting, since, age }
    }
}
