//! A session: a program that campaigns through this agent, the stream on which it is told what becomes of that, and the processes
//! whose end is its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bellwether::Refused;
use bellwether::elections::{self, Adoption, Candidacy, Declined, GrantKind, Name};
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, sleep_until};

use super::candidate::{Candidate, Runner, Start};
use super::feed::{End, Feed, Form};
use super::process::{Caller, Process};
use super::{Asked, Refusal, Registry, micros, until};
use crate::schema::elections::Event;

/// So many processes may be bound to a session.
const PROCESSES_MAX: usize = 64;

/// A process that has closed a stream, and ends before this is over, has closed it because it ends.
const DIES: Duration = Duration::from_secs(1);

/// How the end of a session is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// The kernel tells that its processes have ended.
    Certain,
    /// Its stream has ended, and what it was told is over.
    Presumed,
}

impl Death {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Presumed => "presumed",
        }
    }
}

/// Whether anybody would be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Somebody reads, on the stream of that number.
    Here { stream: u64 },
    /// There is no stream, and processes that are bound live.
    Unheard,
    /// There is no stream. It may come back, but it must not count on what it was not told.
    Gone,
    /// The session has ended.
    Over,
}

/// What a session is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One campaign.
    One(Name),
    /// Any number of them.
    Many,
}

/// How a stream has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Its reader has closed it, or has died.
    Closed,
    /// The agent has, and the reader may not know.
    SentAway,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: u64,
    /// For how long it may come back.
    pub(crate) keep: Duration,
    scope: Scope,
    handle: elections::Session,
    registry: Arc<Registry>,
    inner: Mutex<Inner>,
    presence: watch::Sender<Presence>,
    /// How many campaigns there are.
    campaigning: watch::Sender<usize>,
}

#[derive(Debug)]
struct Inner {
    death: Death,
    /// Whether it is on this machine: then it is told times of the machine's clock.
    is_local: bool,
    feed: Option<Arc<Feed>>,
    /// Counts its streams.
    streams: u64,
    /// Who reads the present stream, or has read the last one: its process, if that can be seen.
    reader: Option<u32>,
    /// Who read before others took the session over, and until when they may act by what they were told: they may not know yet.
    before: BTreeMap<Option<u32>, Duration>,
    /// Until when somebody may act by what an earlier process of the agent has told: who that was is not known.
    earlier: Duration,
    /// Those who opened it, and those that were bound to it, as far as they live.
    openers: BTreeMap<u32, Process>,
    bound: BTreeMap<u32, Process>,
    campaigns: BTreeMap<Name, Arc<Candidate>>,
    last: u64,
    held: BTreeMap<Name, (u64, GrantKind)>,
    /// The latest validity that it was told of.
    told: Duration,
    is_over: bool,
    /// When its stream was closed, which ended it, and how much it held then.
    closed: Option<(Instant, usize)>,
    /// Why something is perhaps not given back yet.
    unreleased: Option<Refused>,
}

impl Inner {
    fn pids(&self) -> Vec<u32> {
        self.openers.keys().chain(self.bound.keys()).copied().collect()
    }

    /// That process, if its end is known already. While it lives, no other has its number.
    fn known(&self, process: &Process) -> Option<Process> {
        let known = self.openers.get(&process.pid).or_else(|| self.bound.get(&process.pid));
        known.filter(|known| !known.has_ended()).cloned()
    }

    /// Another reads from now on, who may not know what was told before.
    fn is_read_by(&mut self, reader: Option<u32>) {
        let now = elections::uptime();
        self.before.retain(|_, until| now < *until);
        if self.streams > 0 && self.reader != reader {
            self.before.insert(self.reader, self.told);
        }
        self.reader = reader;
    }

    /// It may be acted until then. Who read before may have asked, too.
    fn is_told(&mut self, until: Duration) {
        self.told = self.told.max(until);
        let now = elections::uptime();
        let others = self.before.values_mut().chain([&mut self.earlier]);
        others.filter(|told| now < **told).for_each(|told| *told = until.max(*told));
    }

    /// Whether somebody may act by what was told, beside whoever has read last and what is bound.
    fn others_may_act(&self) -> bool {
        let now = elections::uptime();
        let lives = |reader: &Option<u32>| reader.is_none_or(|pid| self.openers.contains_key(&pid));
        let mut before = self.before.iter().filter(|(_, until)| now < **until);
        now < self.earlier || before.any(|(reader, _)| *reader != self.reader && lives(reader))
    }

    fn valid_until(&self, kind: GrantKind, until: Duration) -> Option<Option<u64>> {
        let clock = match kind {
            GrantKind::Lease => Some(micros(until)),
            GrantKind::Token => None,
        };
        self.is_local.then_some(clock)
    }
}

impl Session {
    pub(super) fn new(
        registry: Arc<Registry>,
        handle: elections::Session,
        scope: Scope,
        keep: Duration,
    ) -> Arc<Self> {
        let inner = Inner {
            death: Death::Presumed,
            is_local: false,
            feed: None,
            streams: 0,
            reader: None,
            before: BTreeMap::new(),
            earlier: Duration::ZERO,
            openers: BTreeMap::new(),
            bound: BTreeMap::new(),
            campaigns: BTreeMap::new(),
            last: 0,
            held: BTreeMap::new(),
            told: Duration::ZERO,
            is_over: false,
            closed: None,
            unreleased: None,
        };
        Arc::new(Self {
            id: handle.id(),
            keep,
            scope,
            handle,
            registry,
            inner: Mutex::new(inner),
            presence: watch::Sender::new(Presence::Gone),
            campaigning: watch::Sender::new(0),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What is in it is whole between any two lines that change it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn handle(&self) -> &elections::Session {
        &self.handle
    }

    /// Whoever campaigns for it hears of what was noted, whether it rests or not.
    fn stir(&self) {
        self.candidates().iter().for_each(|candidate| candidate.stir());
    }

    pub(super) fn presence(&self) -> watch::Receiver<Presence> {
        self.presence.subscribe()
    }

    pub(crate) fn death(&self) -> Death {
        self.inner().death
    }

    /// Whether it may campaign for that name.
    pub(super) fn is_for(&self, name: &Name) -> bool {
        match &self.scope {
            Scope::One(one) => one == name,
            Scope::Many => true,
        }
    }

    /// The latest validity that it was told of.
    pub(super) fn told(&self) -> Duration {
        self.inner().told
    }

    /// How many names it holds, and how many campaigns it has.
    pub(super) fn counts(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.held.len(), inner.campaigns.len())
    }

    /// Whether that process is one of its own.
    pub(crate) fn knows(&self, caller: &Caller) -> bool {
        let inner = self.inner();
        caller.pid.is_some_and(|pid| inner.openers.contains_key(&pid) || inner.bound.contains_key(&pid))
    }

    /// A stream for whoever has opened it, or comes back to it.
    pub(super) fn attach(self: &Arc<Self>, caller: Option<&Caller>, form: Form) -> Arc<Feed> {
        let feed = Feed::new(form);
        self.registry.adopt(&feed);
        let secret = self.registry.secret(self.id);
        let mut inner = self.inner();
        // Nobody can tell of its end before it is entered.
        let watched = caller.and_then(Caller::process).and_then(|process| self.watch(&inner, process).ok());
        inner.death = if watched.is_some() { Death::Certain } else { Death::Presumed };
        inner.is_local = caller.is_some();
        inner.is_read_by(watched.as_ref().map(|process| process.pid));
        inner.openers.extend(watched.map(|process| (process.pid, process)));
        inner.streams += 1;
        let _ = feed.tell(&Event::Session {
            session: self.id.to_string(),
            secret,
            death: inner.death.name().to_owned(),
            node: self.registry.node.0,
            keep_ms: u64::try_from(self.keep.as_millis()).unwrap_or(u64::MAX),
        });
        if inner.is_over {
            feed.end(End::Closed);
            return feed;
        }
        if let Some(before) = inner.feed.replace(Arc::clone(&feed)) {
            before.end(End::TakenOver);
        }
        self.note(Presence::Here { stream: inner.streams });
        drop(inner);
        self.stir();
        feed
    }

    /// What campaigns go by: noted under the lock, in the order in which it became so. The end of a session is its end.
    fn note(&self, presence: Presence) {
        self.presence.send_if_modified(|now| {
            let goes_on = *now != Presence::Over;
            if goes_on {
                *now = presence;
            }
            goes_on
        });
    }

    /// From now on the end of that process is known, as long as the session is there.
    fn watch(self: &Arc<Self>, inner: &Inner, process: &Process) -> std::io::Result<Process> {
        if let Some(known) = inner.known(process) {
            return Ok(known);
        }
        let (ended, session, watched) = (process.watch()?, Arc::clone(self), process.clone());
        tokio::spawn(async move {
            tokio::select! {
                ended = ended.wait() => session.without(&watched, ended.is_ok()),
                () = session.is_past() => {}
            }
        });
        Ok(process.clone())
    }

    /// Waits until nothing is to be known of its processes any more.
    async fn is_past(&self) {
        // It is there for as long as this is.
        let _ = self.presence().wait_for(|presence| *presence == Presence::Over).await;
        if self.inner().closed.is_some_and(|(_, held)| held > 0) {
            sleep(DIES).await;
        }
    }

    /// A process has ended, or cannot be seen any more. If it was the last, so has the session.
    fn without(self: &Arc<Self>, process: &Process, is_certain: bool) {
        let mut inner = self.inner();
        let Inner { openers, bound, .. } = &mut *inner;
        let known = [openers, bound].map(|all| all.extract_if(.., |_, known| known.is(process)).count());
        if known == [0, 0] || !inner.pids().is_empty() {
            return;
        }
        if !is_certain {
            inner.death = Death::Presumed;
        }
        if !inner.is_over && (inner.death == Death::Presumed || inner.others_may_act()) {
            // Somebody else goes on with it, or has not been told yet that nobody does.
            if inner.feed.is_none() {
                self.is_gone(inner);
            }
            return;
        }
        // The connections of a process that dies end a moment before it does.
        let just_now = inner.closed.filter(|(at, _)| at.elapsed() < DIES).map(|(_, held)| held);
        let held = if inner.is_over { just_now } else { Some(inner.held.len()) };
        let Some(held) = held else { return };
        self.registry.count_certain(held);
        self.finish_now(inner, End::Closed);
        let pid = process.pid;
        tracing::info!(
            session = self.id,
            pid,
            held,
            "the process of a session has ended: what it held is given back"
        );
    }

    /// Binds one more process. Those that are bound already stay.
    pub(crate) fn bind(self: &Arc<Self>, caller: &Caller, pid: u32) -> Result<Vec<u32>, Refusal> {
        let (ancestors, is_bound) = {
            let inner = self.inner();
            (inner.pids(), inner.openers.contains_key(&pid) || inner.bound.contains_key(&pid))
        };
        if self.death() == Death::Presumed {
            return Err(Refusal::NotSeen);
        }
        if !is_bound {
            if ancestors.len() >= PROCESSES_MAX {
                return Err(Refusal::TooMany { what: "processes of a session", most: PROCESSES_MAX });
            }
            let process =
                Process::descendant(pid, caller, &ancestors).map_err(|why| Refusal::Unbound(pid, why))?;
            self.enter(process).map_err(|_| Refusal::NotSeen)?;
        }
        Ok(self.inner().pids())
    }

    /// Binds processes anew that were bound before.
    pub(super) fn rebind(self: &Arc<Self>, processes: Vec<Process>) {
        for process in processes {
            if let Err(error) = self.enter(process) {
                tracing::warn!(session = self.id, %error, "a process cannot be bound again");
            }
        }
    }

    fn enter(self: &Arc<Self>, process: Process) -> std::io::Result<()> {
        let mut inner = self.inner();
        // Nobody can tell of its end before it is entered.
        let process = self.watch(&inner, &process)?;
        inner.bound.insert(process.pid, process);
        Ok(())
    }

    /// Begins a campaign: which it is.
    pub(crate) async fn campaign(self: &Arc<Self>, name: Name, asked: Asked) -> Result<u64, Refusal> {
        if !self.is_for(&name) {
            return Err(Refusal::OneCampaign(self.id));
        }
        let (begun, answer) = oneshot::channel();
        let Asked { candidacy, of_any_kind } = asked;
        let no = self.begin(name, Start { candidacy, of_any_kind, held: None, begun: Some(begun) })?;
        match answer.await {
            Ok(begun) => begun.map_err(Refusal::Member)?,
            // It ended before it began.
            Err(_) => return Err(Refusal::NoSession(self.id.to_string())),
        }
        Ok(no)
    }

    /// Goes on with what it held through an earlier process of the agent, or waits for that if it is lost.
    pub(super) fn resume(self: &Arc<Self>, name: Name, held: Adoption) {
        let start = Start {
            candidacy: Candidacy::default(),
            of_any_kind: true,
            held: Some(Box::new(held)),
            begun: None,
        };
        // There may be as many as there may be.
        let _ = self.begin(name, start);
    }

    /// Campaigns for what it has lost while it had no stream.
    pub(super) fn wait_again(self: &Arc<Self>, name: Name) {
        let start = Start { candidacy: Candidacy::default(), of_any_kind: true, held: None, begun: None };
        let _ = self.begin(name, start);
    }

    fn begin(self: &Arc<Self>, name: Name, start: Start) -> Result<u64, Refusal> {
        let room = self.registry.take_room()?;
        let mut inner = self.inner();
        if inner.is_over {
            return Err(Refusal::NoSession(self.id.to_string()));
        }
        if inner.campaigns.contains_key(&name) {
            return Err(Refusal::declined(Declined::Campaigns));
        }
        inner.last += 1;
        let candidate = Candidate::new(name.clone(), inner.last);
        inner.campaigns.insert(name, Arc::clone(&candidate));
        let (no, campaigns) = (inner.last, inner.campaigns.len());
        drop(inner);
        self.campaigning.send_replace(campaigns);
        Runner::begin(room, Arc::clone(self), candidate, start);
        Ok(no)
    }

    /// The campaign for that name.
    pub(crate) fn candidate(&self, name: &Name) -> Option<Arc<Candidate>> {
        self.inner().campaigns.get(name).cloned()
    }

    pub(super) fn candidates(&self) -> Vec<Arc<Candidate>> {
        self.inner().campaigns.values().cloned().collect()
    }

    /// What it holds with which tokens.
    pub(super) fn holds(&self, name: &Name, token: u64) -> bool {
        self.inner().held.get(name).is_some_and(|(held, _)| *held == token)
    }

    /// Tells whoever reads.
    pub(super) fn tell(self: &Arc<Self>, event: &Event) {
        let inner = self.inner();
        let (feed, campaigns) = (inner.feed.clone(), inner.campaigns.len());
        drop(inner);
        if let Some(feed) = feed
            && feed.tell_one_of(event, campaigns).is_err()
        {
            self.left(&feed, Left::SentAway);
        }
    }

    /// A campaign holds its name, and may act until then.
    pub(super) fn elected(
        self: &Arc<Self>,
        candidate: &Arc<Candidate>,
        kind: GrantKind,
        token: u64,
        until: Duration,
    ) {
        candidate.holds(Some(token));
        let mut inner = self.inner();
        inner.held.insert(candidate.name.clone(), (token, kind));
        if kind == GrantKind::Lease {
            inner.told = inner.told.max(until);
        }
        let valid_until = inner.valid_until(kind, until);
        drop(inner);
        self.registry.hold(&candidate.name, self, candidate);
        let (name, kind) = (candidate.name.to_string(), kind.name().to_owned());
        self.tell(&Event::Elected { name, kind, token, valid_until, campaign: candidate.no });
    }

    pub(super) fn unhold(&self, candidate: &Candidate) {
        candidate.holds(None);
        self.inner().held.remove(&candidate.name);
        self.registry.unhold(&candidate.name, self.id);
    }

    /// What is held of kind `lease` may be acted upon until then.
    pub(super) fn extend(self: &Arc<Self>, until: Duration) {
        let mut inner = self.inner();
        let mut leases = inner.held.iter().filter(|(_, (_, kind))| *kind == GrantKind::Lease);
        let Some((name, (token, _))) = leases.next().filter(|_| inner.feed.is_some()) else { return };
        let (name, token) = match self.scope {
            Scope::One(_) => (Some(name.to_string()), Some(*token)),
            Scope::Many => (None, None),
        };
        inner.told = inner.told.max(until);
        let valid_until = inner.valid_until(GrantKind::Lease, until);
        drop(inner);
        self.tell(&Event::Valid { name, token, valid_until });
    }

    /// Somebody asks until when it may act: what may be said. A session that has no stream is told no more than it was.
    pub(super) fn tell_until(&self, until: Duration) -> Option<Duration> {
        let mut inner = self.inner();
        if until == Duration::MAX {
            return Some(until);
        }
        if inner.feed.is_some() {
            inner.is_told(until);
            return Some(until);
        }
        let until = until.min(inner.told);
        (elections::uptime() < until).then_some(until)
    }

    /// It was told that by an earlier process of the agent, says whoever comes back. Another may have read there, who was told more.
    pub(super) fn was_told(&self, until: Duration) {
        let mut inner = self.inner();
        inner.told = inner.told.max(until);
        inner.earlier = until.max(elections::uptime() + self.registry.terms.ttl);
    }

    /// A stream has ended.
    pub(crate) fn left(self: &Arc<Self>, feed: &Arc<Feed>, how: Left) {
        feed.is_left();
        let mut inner = self.inner();
        if !inner.feed.as_ref().is_some_and(|present| Arc::ptr_eq(present, feed)) {
            return;
        }
        inner.feed = None;
        inner.closed = Some((Instant::now(), inner.held.len()));
        let (death, others, may_act) = (inner.death, !inner.bound.is_empty(), inner.others_may_act());
        match (how, death) {
            (Left::Closed, Death::Certain) if others => {
                self.note(Presence::Unheard);
                drop(inner);
                self.stir();
            }
            (Left::Closed, Death::Certain) if !may_act => self.finish_now(inner, End::Closed),
            (Left::SentAway | Left::Closed, _) => self.is_gone(inner),
        }
    }

    /// Nobody can be told anything. Ends the session when its time to come back is over, unless it does.
    fn is_gone(self: &Arc<Self>, inner: MutexGuard<'_, Inner>) {
        self.note(Presence::Gone);
        let (session, streams, told) = (Arc::clone(self), inner.streams, inner.told);
        drop(inner);
        self.stir();
        let at = until(told).max(tokio::time::Instant::now() + self.keep);
        tokio::spawn(async move {
            let mut presence = session.presence();
            tokio::select! {
                () = sleep_until(at) => {}
                _ = presence.wait_for(|presence| *presence != Presence::Gone) => return,
            }
            session.finish_unless_back(streams);
        });
    }

    fn finish_unless_back(&self, streams: u64) {
        let inner = self.inner();
        if inner.feed.is_none() && inner.streams == streams {
            self.finish_now(inner, End::Closed);
        }
    }

    /// Ends the session: everything is given back from now on.
    pub(super) fn finish(&self, why: End) {
        self.finish_now(self.inner(), why);
    }

    /// The same, before anybody can come back.
    fn finish_now(&self, mut inner: MutexGuard<'_, Inner>, why: End) {
        if std::mem::replace(&mut inner.is_over, true) {
            return;
        }
        let feed = inner.feed.take();
        let held = std::mem::take(&mut inner.held);
        drop(inner);
        self.registry.forget(self.id, held.keys());
        if let Some(feed) = feed {
            if why == End::AgentEnds {
                for (name, (token, _)) in held {
                    let (name, why) = (name.to_string(), "agent-ends".to_owned());
                    let _ = feed.tell(&Event::Lost { name, token, why });
                }
            }
            feed.end(why);
        }
        // Nothing is noted after that.
        self.note(Presence::Over);
        self.stir();
    }

    /// Ends the session, and returns when everything is given back.
    pub(crate) async fn close(&self) -> Result<(), Refused> {
        self.finish(End::Closed);
        self.released().await;
        self.inner().unreleased.clone().map_or(Ok(()), Err)
    }

    /// Waits until no campaign is left.
    pub(super) async fn released(&self) {
        let mut campaigning = self.campaigning.subscribe();
        // It is there for as long as this is.
        let _ = campaigning.wait_for(|campaigns| *campaigns == 0).await;
    }

    /// A campaign is over.
    pub(super) fn over(&self, candidate: &Arc<Candidate>, outcome: Result<(), Refused>) {
        self.unhold(candidate);
        let mut inner = self.inner();
        if inner.campaigns.get(&candidate.name).is_some_and(|known| Arc::ptr_eq(known, candidate)) {
            inner.campaigns.remove(&candidate.name);
        }
        if let Err(refused) = outcome {
            inner.unreleased = Some(refused);
        }
        let campaigns = inner.campaigns.len();
        drop(inner);
        self.campaigning.send_replace(campaigns);
        if self.scope != Scope::Many {
            self.finish(End::Closed);
        }
    }
}
