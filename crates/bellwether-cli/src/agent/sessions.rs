//! Sessions: programs that campaign for named elections through this agent.
//!
//! | file | what |
//! |---|---|
//! | `session.rs` | a session: its stream, its processes, its campaigns, and its end |
//! | `candidate.rs` | a campaign: tells what becomes of it |
//! | `process.rs` | processes, as the kernel knows them |
//! | `feed.rs` | a stream of events, and what is unread of it |
//! | `pace.rs` | the clock of all streams |
//! | `seal.rs` | numbers of sessions, and their secrets |

mod candidate;
mod feed;
mod pace;
mod process;
mod seal;
mod session;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bellwether::elections::{Adoption, Candidacy, Declined, Name, uptime};
use bellwether::{Member, NodeId, Refused};
use bellwether_proto::tenure;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::schema::elections::Event;
use seal::{NUMBERS_MAX, Proven, Seal};

pub(crate) use candidate::{Back, Candidate};
pub(crate) use feed::{End, Feed, Form};
pub(crate) use process::{Caller, Process, Unbound};
pub(crate) use seal::SealError;
pub(crate) use session::{Left, Scope, Session};

/// So many sessions may be open.
const SESSIONS_MAX: usize = 16_384;
/// So many campaigns they may have, all together.
const CAMPAIGNS_MAX: usize = 100_000;
/// A session that has gone may come back for no longer, unless a lease takes longer.
const KEEP_MAX: Duration = Duration::from_secs(60);
/// When the agent ends, how long it waits until everything is given back, after all have had their time.
const LAST_RELEASES: Duration = Duration::from_secs(1);
/// And until that has been read.
const LAST_WORDS: Duration = Duration::from_millis(250);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// All of them. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Sessions(Arc<Registry>);

/// What sessions are granted on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// For how long a lease is valid.
    pub(crate) ttl: Duration,
    /// How long a session may take to give back what it is asked for.
    pub(crate) release: Duration,
}

/// How a session would hold a name.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) candidacy: Candidacy,
    /// Whether it takes the kind that the name has, if it has one.
    pub(crate) of_any_kind: bool,
}

/// Why something that has to do with sessions cannot be done.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// The agent ends.
    Ending,
    /// There are as many as there may be.
    TooMany { what: &'static str, most: usize },
    /// No session has that number.
    NoSession(String),
    /// It is not the session's secret.
    WrongSecret,
    /// The session has one campaign, and is there for that alone.
    OneCampaign(u64),
    /// Its processes cannot be seen from here.
    NotSeen,
    /// That process cannot be bound.
    Unbound(u32, Unbound),
    /// The member does not do it.
    Member(Refused),
}

impl Refusal {
    fn declined(why: Declined) -> Self {
        Self::Member(Refused::Cannot(tenure::Refused::Election(why)))
    }
}

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sessions: usize,
    /// Sessions with a stream, and watchers of elections.
    pub(crate) streams: usize,
    /// Campaigns that hold their name.
    pub(crate) held: usize,
    /// Campaigns that do not.
    pub(crate) waiting: usize,
    /// What was given back because the kernel told that a process had ended.
    pub(crate) certain: u64,
}

/// What a session that comes back says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Return {
    pub(crate) session: u64,
    pub(crate) secret: String,
    /// Until then it was told that it may act.
    pub(crate) told: Duration,
    /// What it held, with which tokens.
    pub(crate) holds: Vec<(Name, u64)>,
    /// What was bound to it.
    pub(crate) bound: Vec<u32>,
}

/// What all sessions have in common.
#[derive(Debug)]
struct Registry {
    member: Member,
    node: NodeId,
    terms: Terms,
    /// Where what has rested goes on.
    runtime: Handle,
    inner: Mutex<Inner>,
    feeds: Mutex<Vec<Weak<Feed>>>,
    /// There is a stream where there was none.
    stirred: Notify,
    /// How many campaigns there are.
    campaigns: AtomicUsize,
    /// How many names are held.
    held: watch::Sender<usize>,
    is_leaving: AtomicBool,
    certain: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    seal: Seal,
    sessions: BTreeMap<u64, Arc<Session>>,
    /// Who holds what.
    holds: BTreeMap<Name, (Arc<Session>, Arc<Candidate>)>,
}

impl Sessions {
    /// None yet. The directory is where the member keeps its state.
    pub(crate) fn start(member: Member, dir: &Path, terms: Terms) -> Result<Self, SealError> {
        let inner = Inner { seal: Seal::open(dir)?, sessions: BTreeMap::new(), holds: BTreeMap::new() };
        let registry = Arc::new(Registry {
            node: member.status().id,
            member,
            terms,
            runtime: Handle::current(),
            inner: Mutex::new(inner),
            feeds: Mutex::default(),
            stirred: Notify::new(),
            campaigns: AtomicUsize::new(0),
            held: watch::Sender::new(0),
            is_leaving: AtomicBool::new(false),
            certain: AtomicU64::new(0),
        });
        tokio::spawn(pace::keep(Arc::clone(&registry)));
        Ok(Self(registry))
    }

    /// For how long a session may come back: from, to.
    pub(crate) fn keep_range(&self) -> (Duration, Duration) {
        let ttl = self.0.terms.ttl;
        (ttl, ttl.max(KEEP_MAX))
    }

    /// A new session, and its stream.
    pub(crate) fn open(
        &self,
        caller: Option<&Caller>,
        scope: Scope,
        keep: Duration,
        form: Form,
    ) -> Result<(Arc<Session>, Arc<Feed>), Refusal> {
        let number = self.0.inner().seal.number();
        let number = number.ok_or(Refusal::TooMany { what: "sessions of one process", most: NUMBERS_MAX })?;
        let session = self.0.enter(number, scope, keep)?;
        let feed = session.attach(caller, form);
        Ok((session, feed))
    }

    /// A session that comes back, with a new stream.
    pub(crate) fn resume(
        &self,
        caller: Option<&Caller>,
        form: Form,
        back: Return,
    ) -> Result<(Arc<Session>, Arc<Feed>), Refusal> {
        let (proven, known) = {
            let inner = self.0.inner();
            (inner.seal.prove(back.session, &back.secret), inner.sessions.get(&back.session).cloned())
        };
        let bound = processes(caller, &back.bound)?;
        let (session, is_of_before) = match (proven, known) {
            (Proven::Never, _) => return Err(Refusal::WrongSecret),
            (Proven::Here | Proven::Before, Some(session)) => (session, false),
            (Proven::Here, None) => return Err(Refusal::NoSession(back.session.to_string())),
            (Proven::Before, None) => (self.0.enter(back.session, Scope::Many, self.0.terms.ttl)?, true),
        };
        if is_of_before {
            // What this process has told it knows by itself.
            session.was_told(back.told);
        }
        let feed = session.attach(caller, form);
        session.rebind(bound);
        for (name, token) in back.holds {
            match session.candidate(&name) {
                Some(_) if session.holds(&name, token) => {}
                None if is_of_before => session.resume(name, Adoption { token, until: back.told }),
                known => {
                    let (lost, why) = (name.to_string(), "lease".to_owned());
                    session.tell(&Event::Lost { name: lost, token, why });
                    if known.is_none() && session.is_for(&name) {
                        session.wait_again(name);
                    }
                }
            }
        }
        Ok((session, feed))
    }

    /// The session of that number.
    pub(crate) fn get(&self, id: u64) -> Option<Arc<Session>> {
        self.0.inner().sessions.get(&id).cloned()
    }

    /// Whether that is the secret of that number.
    pub(crate) fn is_secret(&self, id: u64, secret: &str) -> bool {
        self.0.inner().seal.prove(id, secret) != Proven::Never
    }

    /// The campaign that holds that name through this agent.
    pub(crate) fn holder(&self, name: &Name) -> Option<Arc<Candidate>> {
        self.0.inner().holds.get(name).map(|(_, candidate)| Arc::clone(candidate))
    }

    /// Whether a campaign for that name waits here.
    pub(crate) fn waits(&self, name: &Name) -> bool {
        let campaigns = self.0.sessions().into_iter().filter_map(|session| session.candidate(name));
        campaigns.into_iter().any(|candidate| candidate.token().is_none())
    }

    /// A stream of something else than a session.
    pub(crate) fn feed(&self, form: Form) -> Arc<Feed> {
        let feed = Feed::new(form);
        self.0.adopt(&feed);
        feed
    }

    /// Whether the agent ends: nothing new begins.
    pub(crate) fn is_leaving(&self) -> bool {
        self.0.is_leaving()
    }

    pub(crate) fn counts(&self) -> Counts {
        let sessions = self.0.sessions();
        let counts = sessions.iter().map(|session| session.counts());
        let (held, campaigns) = counts.fold((0, 0), |sum, (held, all)| (sum.0 + held, sum.1 + all));
        Counts {
            sessions: sessions.len(),
            streams: self.0.feeds().iter().filter(|feed| feed.strong_count() > 0).count(),
            held,
            waiting: campaigns.saturating_sub(held),
            certain: self.0.certain.load(Ordering::Relaxed),
        }
    }

    /// Asks for everything back, waits for it as long as it may take, and ends all sessions.
    pub(crate) async fn leave(&self) {
        self.0.is_leaving.store(true, Ordering::Relaxed);
        let candidates = self.0.sessions().into_iter().flat_map(|session| session.candidates());
        candidates.for_each(|candidate| candidate.leave());
        let mut held = self.0.held.subscribe();
        // Whatever is not given back in time is taken.
        let _ = timeout(self.0.terms.release, held.wait_for(|held| *held == 0)).await;
        self.end().await;
    }

    /// Ends all sessions.
    pub(crate) async fn end(&self) {
        self.0.is_leaving.store(true, Ordering::Relaxed);
        let sessions = self.0.sessions();
        sessions.iter().for_each(|session| session.finish(End::AgentEnds));
        let feeds: Vec<_> = self.0.feeds().iter().filter_map(Weak::upgrade).collect();
        feeds.iter().for_each(|feed| feed.end(End::AgentEnds));
        let released = async {
            for session in &sessions {
                session.released().await;
            }
        };
        // The member gives back what is left when it leaves.
        let _ = timeout(LAST_RELEASES, released).await;
        let read = async {
            while !feeds.iter().all(|feed| feed.is_read()) {
                sleep(LOOK_EVERY).await;
            }
        };
        let _ = timeout(LAST_WORDS, read).await;
    }
}

impl Registry {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What is in it is whole between any two lines that change it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn feeds(&self) -> MutexGuard<'_, Vec<Weak<Feed>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> Vec<Arc<Session>> {
        self.inner().sessions.values().cloned().collect()
    }

    fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    /// A session of that number, which has no stream yet.
    fn enter(self: &Arc<Self>, number: u64, scope: Scope, keep: Duration) -> Result<Arc<Session>, Refusal> {
        if self.is_leaving() {
            return Err(Refusal::Ending);
        }
        let handle = self.member.session_again(number).map_err(Refusal::Member)?;
        let mut inner = self.inner();
        if inner.sessions.len() >= SESSIONS_MAX {
            return Err(Refusal::TooMany { what: "sessions", most: SESSIONS_MAX });
        }
        let session = Session::new(Arc::clone(self), handle, scope, keep);
        inner.sessions.insert(number, Arc::clone(&session));
        Ok(session)
    }

    /// Room for one more campaign, which is left when that is over.
    fn take_room(self: &Arc<Self>) -> Result<Room, Refusal> {
        if self.is_leaving() {
            return Err(Refusal::Ending);
        }
        let more = |campaigns: usize| (campaigns < CAMPAIGNS_MAX).then_some(campaigns + 1);
        match self.campaigns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Room(Arc::clone(self))),
            Err(_) => Err(Refusal::TooMany { what: "campaigns", most: CAMPAIGNS_MAX }),
        }
    }

    fn secret(&self, number: u64) -> String {
        self.inner().seal.secret(number)
    }

    /// Looks after a stream from now on.
    fn adopt(&self, feed: &Arc<Feed>) {
        let mut feeds = self.feeds();
        feeds.push(Arc::downgrade(feed));
        if feeds.len() == 1 {
            self.stirred.notify_one();
        }
    }

    fn hold(&self, name: &Name, session: &Arc<Session>, candidate: &Arc<Candidate>) {
        let mut inner = self.inner();
        inner.holds.insert(name.clone(), (Arc::clone(session), Arc::clone(candidate)));
        self.held.send_replace(inner.holds.len());
    }

    /// Another session of this agent may hold it by now.
    fn unhold(&self, name: &Name, session: u64) {
        let mut inner = self.inner();
        inner.unhold(name, session);
        self.held.send_replace(inner.holds.len());
    }

    /// A session has ended.
    fn forget<'n>(&self, session: u64, held: impl Iterator<Item = &'n Name>) {
        let mut inner = self.inner();
        inner.sessions.remove(&session);
        held.for_each(|name| inner.unhold(name, session));
        self.held.send_replace(inner.holds.len());
    }

    fn count_certain(&self, held: usize) {
        self.certain.fetch_add(held as u64, Ordering::Relaxed);
    }
}

/// What a campaign takes of the room that there is.
#[derive(Debug)]
struct Room(Arc<Registry>);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.campaigns.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Inner {
    fn unhold(&mut self, name: &Name, session: u64) {
        if let Entry::Occupied(held) = self.holds.entry(name.clone())
            && held.get().0.id == session
        {
            held.remove();
        }
    }
}

/// Those of the processes that live. They must descend from the one that asks.
fn processes(caller: Option<&Caller>, bound: &[u32]) -> Result<Vec<Process>, Refusal> {
    if bound.is_empty() {
        return Ok(Vec::new());
    }
    let caller = caller.filter(|caller| caller.process().is_some()).ok_or(Refusal::NotSeen)?;
    let ancestors: Vec<u32> = caller.pid.into_iter().collect();
    let mut processes = Vec::new();
    for pid in bound {
        match Process::descendant(*pid, caller, &ancestors) {
            Ok(process) => processes.push(process),
            Err(Unbound::Gone) => {}
            Err(why) => return Err(Refusal::Unbound(*pid, why)),
        }
    }
    Ok(processes)
}

/// When the machine will have been up for so long.
fn until(up_for: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(up_for.saturating_sub(uptime())).unwrap_or(now)
}

/// Whole microseconds.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
