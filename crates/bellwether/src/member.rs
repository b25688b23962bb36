//! A member of a cluster: what a program holds in its hand.

use std::future::Future;
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;

use crate::config::Config;
use crate::status::{Change, Counters, Leader, Participant, Status};

/// A member of a cluster. Cheap to clone; all clones are the same member.
#[derive(Clone, Debug)]
pub struct Member {}

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

impl Member {
    /// Comes up and takes part. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If the state file or the address cannot be had.
    pub async fn join(_config: Config) -> Result<Self, JoinError> {
        unimplemented!()
    }
    /// What this member knows now.
    pub fn status(&self) -> Status {
        unimplemented!()
    }
    /// The settled leader.
    pub fn leader(&self) -> Option<Leader> {
        unimplemented!()
    }
    /// Changes of leader, from the next one on.
    pub fn observe(&self) -> Observer {
        unimplemented!()
    }
    /// Changes of leader after that number, as far back as they are remembered.
    pub fn observe_after(&self, _no: u64) -> Observer {
        unimplemented!()
    }
    /// The members, this one among them.
    pub fn participants(&self) -> Vec<Participant> {
        unimplemented!()
    }
    /// Changes of leader that are remembered, oldest first.
    pub fn history(&self) -> Vec<Change> {
        unimplemented!()
    }
    /// What has been counted.
    pub fn counters(&self) -> Counters {
        unimplemented!()
    }
    /// Waits until this member leads.
    ///
    /// # Errors
    /// If the member has ended.
    pub async fn campaign(&self) -> Result<Leadership, Ended> {
        unimplemented!()
    }
    /// Campaigns and runs `lead` whenever this member leads, until the member ends.
    ///
    /// # Errors
    /// If the member ended because of a fault.
    pub async fn run<F, Fut>(&self, _lead: F) -> Result<(), Ended>
    where
        F: FnMut(Leadership) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        unimplemented!()
    }
    /// Releases leadership and stands aside. Returns when the next leader is known, or nobody took over within the timeout.
    ///
    /// # Errors
    /// If this member does not lead.
    pub async fn resign(&self, _hold: Hold) -> Result<(), Refused> {
        unimplemented!()
    }
    /// Stands again before its time.
    ///
    /// # Errors
    /// If it does not stand aside.
    pub async fn stand(&self) -> Result<(), Refused> {
        unimplemented!()
    }
    /// Hands leadership over to that member. Returns when it leads.
    ///
    /// # Errors
    /// If this member does not lead, the other is not there, or the algorithm cannot.
    pub async fn transfer(&self, _to: NodeId) -> Result<(), Refused> {
        unimplemented!()
    }
    /// Resigns if it leads, says goodbye and stops.
    pub async fn leave(&self) {
        unimplemented!()
    }
    /// Waits until the member has stopped, and says why.
    pub async fn ended(&self) -> Ended {
        unimplemented!()
    }
}

/// A stream of changes.
#[derive(Debug)]
pub struct Observer {}

impl Observer {
    /// The next change; `None` when the member has stopped.
    pub async fn next(&mut self) -> Option<Change> {
        unimplemented!()
    }
}

/// Leadership of this member, while it lasts.
#[derive(Debug)]
pub struct Leadership {}

impl Leadership {
    /// The epoch of this leadership.
    pub fn epoch(&self) -> u64 {
        unimplemented!()
    }
    /// Whether it still lasts.
    pub fn is_held(&self) -> bool {
        unimplemented!()
    }
    /// Waits until it has ended, or is to be given back.
    pub async fn ended(&self) -> SystemTime {
        unimplemented!()
    }
}

/// Why a member could not join. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[error("not yet")]
pub struct JoinError;

/// Why a member has stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// It left.
    #[error("the member left the cluster")]
    Left,
    /// Its state could not be written.
    #[error("{0}")]
    Disk(String),
    /// Another live process uses its id.
    #[error("{0}")]
    IdInUse(String),
}

/// Why a request was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Only the leader can do this.
    #[error("node {me} does not lead{}", leads(.leader))]
    NotLeader {
        /// Who was asked.
        me: NodeId,
        /// Who leads.
        leader: Option<NodeId>,
    },
    /// The request cannot be met, for this reason.
    #[error("{0}")]
    Cannot(String),
    /// The member has ended.
    #[error(transparent)]
    Ended(#[from] Ended),
}

fn leads(leader: &Option<NodeId>) -> String {
    leader.map_or_else(|| "; nobody does".to_owned(), |leader| format!("; node {leader} does"))
}
