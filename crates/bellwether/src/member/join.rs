//! From a configuration to a driver, on this machine.

use std::sync::Arc;
use std::time::SystemTime;

use bellwether_proto::exclusive::ExclusiveConfig;
use bellwether_proto::exclusive::ident::{LifeId, StoreId};
use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::Durable;
use tokio::runtime::Handle;

use super::ground::{Ground, record, told};
use super::{Member, thread};
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::config::Config;
use crate::disk::{Disk, Medium};
use crate::driver::Driver;
use crate::error::JoinError;
use crate::history::HistoryFile;
use crate::random;
use crate::reorganization::Manager;
use crate::store::{Closed, Store, VotesFile};
use crate::transport::{Settings, Transport};
use crate::votes::Votes;

impl Member {
    /// Comes up and takes part, on a thread of its own: work that blocks the program's runtime costs no leadership.
    ///
    /// Must be called inside a tokio runtime. The member ends with that runtime, at once and without a goodbye, as with the process.
    /// Its handles can be used on any runtime.
    ///
    /// # Errors
    /// If the configuration cannot be ([`Config::problems`]), or its state, its address or its certificate cannot be had. Nothing is left
    /// running.
    pub async fn join(config: Config) -> Result<Self, JoinError> {
        thread::start(config, None).await
    }

    /// As [`Member::join`], with an application that says what groups are to do which this member leads. Only algorithms that
    /// reorganize groups ask it: `fb-omega` and `invitation`.
    ///
    /// # Errors
    /// As [`Member::join`].
    pub async fn join_as_manager(config: Config, manager: Manager) -> Result<Self, JoinError> {
        thread::start(config, Some(manager)).await
    }
}

/// Makes what there is of a member, and what tells when its directory is free. Must be called on its own runtime; the manager is asked on the program's.
pub(super) fn set_up(
    config: &Config,
    manager: Option<Manager>,
    program: Handle,
) -> Result<(Member, Driver, Closed), JoinError> {
    if let Some(bad) = config.problems().into_iter().next() {
        return Err(bad.into());
    }
    let clock = Clock::start();
    let (store, closed, kept) =
        Store::open(&config.data_dir, &config.cluster, config.id).map_err(JoinError::from_store)?;
    let kept = kept.unwrap_or_default();
    let (votes, exclusive) = exclusive(config, &store)?;
    let incarnation = next_incarnation(&kept).ok_or(JoinError::IncarnationsUsedUp)?;
    // Before anybody hears of it.
    let begins = Durable { incarnation, ..kept.clone() };
    store.write(&begins).map_err(JoinError::from_store)?;
    let recorder = record(config, incarnation, clock)?;
    let (transport, net) =
        Transport::start(addresses(config, incarnation)).map_err(JoinError::from_transport)?;
    let (file, before) = HistoryFile::open(&config.data_dir);
    // The directory is in use until all are done with it.
    let store = Arc::new(store);
    let votes = votes.map(|file| Votes::behind(file, Arc::clone(&store))).transpose();
    let ground = Ground {
        clock,
        alarm: Alarm::new(),
        links: Box::new(transport),
        net,
        kept,
        incarnation,
        history: file.write_behind(Arc::clone(&store)),
        before,
        disk: Disk::new(Medium::Directory(store), begins),
        votes: votes.map_err(JoinError::Thread)?.unwrap_or_default(),
        exclusive,
        recorder,
    };
    let (member, driver) = ground.set_up(config, manager, program);
    Ok((member, driver, closed))
}

/// What the node is told of exclusive leadership, if that is the mode, and where its votes are kept. Who does not vote yet may be
/// asked to, and then it must have a store of its own.
fn exclusive(
    config: &Config,
    store: &Store,
) -> Result<(Option<VotesFile>, Option<ExclusiveConfig>), JoinError> {
    let Some(exclusive) = &config.exclusive else { return Ok((None, None)) };
    let draw = || random::bytes().map(u128::from_le_bytes);
    let (file, kept) = store.votes(|| draw().map(StoreId)).map_err(JoinError::from_store)?;
    let life = draw().map(LifeId).ok_or(JoinError::Randomness)?;
    Ok((Some(file), Some(told(config, exclusive, life, kept))))
}

fn addresses(config: &Config, incarnation: Incarnation) -> Settings {
    Settings {
        cluster: config.cluster.clone(),
        id: config.id,
        incarnation,
        agreed: config.agreed(),
        peers: config.peers.clone(),
        listen: config.listen,
        identity: config.identity.clone(),
    }
}

/// An incarnation is larger than the last one that the disk remembers, and than any before a disk was lost: the clock sees to that. It
/// counts microseconds, so that no two starts have the same one, even if the clock begins anew whenever the machine does.
fn next_incarnation(kept: &Durable) -> Option<Incarnation> {
    let micros = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros());
    let clock = Incarnation(u64::try_from(micros).unwrap_or(u64::MAX)).min(Incarnation::CLOCK_MAX);
    kept.incarnation.next().map(|next| next.max(clock))
}
