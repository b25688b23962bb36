//! A member of a cluster: what a program holds in its hand.
//!
//! | file | what |
//! |---|---|
//! | `join.rs`, `thread.rs` | from a configuration to a driver, and to the thread on which it runs |
//! | `ground.rs` | what it stands on: clock, connections, disk |
//! | `descriptors.rs` | how many file descriptors it needs |
//! | `leadership.rs` | leadership as a value |
//! | `run.rs` | work that goes on while the member leads |
//! | `outcome.rs` | what such work may return |
//! | `elections.rs` | named elections |
//! | `observer.rs` | changes of leader, as they happen |

mod descriptors;
mod elections;
pub(crate) mod ground;
mod join;
mod leadership;
mod observer;
mod outcome;
mod run;
mod thread;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::group;
use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure;
use tokio::sync::mpsc;

use crate::command::{Asked, Command};
use crate::config::Mode;
use crate::error::{Ended, Refused};
use crate::history::HISTORY_MAX;
use crate::members::MemberChange;
use crate::reorganization::Services;
use crate::shared::Shared;
use crate::status::{Change, Counters, Leader, Participant, Status};
use crate::tls::{Identity, TlsError};

pub use descriptors::Descriptors;
pub use leadership::Leadership;
pub use observer::Observer;
pub use outcome::Outcome;

/// A member of a cluster: it takes part in the election from [`Member::join`] until [`Member::leave`]. Cheap to clone; all
/// clones are the same member.
///
/// ```no_run
/// # async fn serve(epoch: u64) {}
/// # async fn example(config: bellwether::Config) -> Result<(), Box<dyn std::error::Error>> {
/// use bellwether::Member;
///
/// let member = Member::join(config).await?;
/// member
///     .run(|leadership| async move {
///         loop {
///             // Only one member does this at a time, as far as the members can reach each other.
///             serve(leadership.epoch()).await;
///         }
///     })
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Member {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
}

/// How long to stand aside after resigning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// As long as the configuration says.
    Default,
    /// That long.
    For(Duration),
    /// Until [`Member::stand`].
    UntilTold,
}

impl From<Hold> for tenure::Hold {
    fn from(hold: Hold) -> Self {
        match hold {
            Hold::Default => Self::Default,
            Hold::For(time) => Self::For(time.into()),
            Hold::UntilTold => Self::UntilTold,
        }
    }
}

impl Member {
    /// How many changes of leader are remembered.
    pub const HISTORY_MAX: usize = HISTORY_MAX;

    /// What this member knows now. It looks at its clock first: what a process knew before it was stopped does not count after
    /// ([`Standing::CatchingUp`](crate::status::Standing::CatchingUp)).
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// What the cluster may rely on.
    pub fn mode(&self) -> Mode {
        self.shared.mode
    }

    /// The settled leader; `None` while there is none, or while this member is catching up.
    pub fn leader(&self) -> Option<Leader> {
        self.shared.leader()
    }

    /// Waits until this member knows how things are now: at once, unless it is catching up.
    pub async fn awake(&self) {
        self.shared.awake().await;
    }

    /// Changes of leader, from the next one on.
    pub fn observe(&self) -> Observer {
        let no = self.shared.known().history.last_no();
        self.observe_after(no)
    }

    /// Changes of leader after that number that this process has seen, as far back as they are remembered. What was before it
    /// started is in [`Member::history`]; it says nothing about who leads now.
    pub fn observe_after(&self, no: u64) -> Observer {
        Observer { seen: no, changed: self.shared.changed.subscribe(), shared: Arc::clone(&self.shared) }
    }

    /// The members, this one among them.
    pub fn participants(&self) -> Vec<Participant> {
        self.shared.links.participants()
    }

    /// The changes of leader that are remembered, oldest first, also of earlier processes: at most [`Member::HISTORY_MAX`].
    pub fn history(&self) -> Vec<Change> {
        self.shared.known().history.iter().cloned().collect()
    }

    /// The groups that this member's group came from, and it itself, as far as they are remembered: see
    /// [`group::Lineage`]. Empty if the algorithm does not reorganize groups.
    pub fn groups(&self) -> group::Lineage {
        self.shared.known().groups.clone()
    }

    /// The group that this member works in, and what that is to do: of an algorithm that reorganizes groups. While a new group
    /// is being reorganized, or the member is cut off from its group, there is none.
    pub fn service(&self) -> Services {
        Services::new(self.shared.service.subscribe(), Arc::clone(&self.shared.pulse))
    }

    /// Where peers reach this member; tells the port if the kernel chose it.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.links.local_addr()
    }

    /// What has been counted since the process started.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// How long ago the member last did anything. More than a few seconds mean that its process hangs.
    pub fn idle(&self) -> Duration {
        self.shared.pulse.idle()
    }

    /// Waits until this member leads. Whoever gets the guard is waited for before leadership is given back.
    ///
    /// # Errors
    /// If the member has ended.
    pub async fn campaign(&self) -> Result<Leadership, Ended> {
        let guard = tokio::select! {
            guard = self.shared.tenures.campaign() => guard.ok_or(Ended::Left)?,
            ended = self.ended() => return Err(ended),
        };
        Ok(Leadership::new(guard, Arc::clone(&self.shared), self.commands.downgrade()))
    }

    /// Releases leadership and stands aside. Returns when the next leader is known, or nobody took over in time.
    ///
    /// The member stands again when its time is over, or before that when no other connected member could lead. It stays aside
    /// all the same with [`Hold::UntilTold`], or if nobody else could lead when it resigned and `hold` says for how long.
    ///
    /// # Errors
    /// If this member does not lead; or if nobody else could, and `hold` does not say for how long nobody shall.
    pub async fn resign(&self, hold: Hold) -> Result<(), Refused> {
        self.ask(tenure::Command::Resign { hold: hold.into() }).await
    }

    /// Stands again before its time.
    ///
    /// # Errors
    /// If it does not stand aside.
    pub async fn stand(&self) -> Result<(), Refused> {
        self.ask(tenure::Command::Stand).await
    }

    /// Hands leadership over to that member. Returns when it leads.
    ///
    /// # Errors
    /// If this member does not lead, the other is not there or does not take over, or the algorithm cannot.
    pub async fn transfer(&self, to: NodeId) -> Result<(), Refused> {
        self.ask(tenure::Command::Transfer { to }).await
    }

    /// Changes who votes. Any member can be asked. Returns when the change is settled, and the next may begin: after the longest
    /// lease at least.
    ///
    /// # Errors
    /// If leadership is not exclusive, if too few voters can be reached, or if the change cannot be:
    /// [`Unchanged`](crate::members::Unchanged) says why. A change that is not settled in time may still be made.
    pub async fn change_members(&self, change: MemberChange) -> Result<(), Refused> {
        self.shared.ask(&self.commands, Asked::Members(Box::new(change))).await
    }

    /// Takes other certificates, without losing anything: connections that are up go on, and those that are made from now on use the new
    /// ones. Only connections with members end that are not trusted any more. What a program reads from files it can read again with
    /// [`Identity::load`](crate::Identity::load).
    ///
    /// # Errors
    /// If they are not this member's, or peers would refuse them now. Then all stays as it was.
    pub fn renew(&self, identity: &Identity) -> Result<(), TlsError> {
        self.shared.links.renew(identity)
    }

    /// Has names given back that are held through guards, hands over if it leads, says goodbye and stops. Work may take
    /// `release_timeout` for the names, and again for the cluster's own leadership.
    pub async fn leave(&self) {
        self.shared.elections.seats.clear(self.shared.release_timeout, self.shared.clock.uptime).await;
        // If the driver does not take it, it has ended.
        let _ = self.commands.send(Command::leave()).await;
        self.ended().await;
    }

    /// Waits until the member has stopped, and says why.
    pub async fn ended(&self) -> Ended {
        self.shared.end().await
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    async fn ask(&self, command: tenure::Command) -> Result<(), Refused> {
        self.shared.ask(&self.commands, Asked::Tenure(command)).await
    }
}
