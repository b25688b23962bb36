//! A campaign of a session: a task that tells the session what becomes of it, and does what is asked. There may be a hundred thousand,
//! so while there is nothing to do there is no task. Whatever happens begins one that goes on.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, pending, poll_fn, ready};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bellwether::elections::{Adoption, Campaign, Candidacy, Declined, GrantKind, Lost, Name, State};
use bellwether::{NodeId, Refused};
use bellwether_proto::tenure;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::session::{Presence, Session};
use super::{Room, until};
use crate::schema::elections::Event;

/// How long to wait before something is tried again that could not be done.
const RETRY: Duration = Duration::from_millis(250);

/// What others know of a campaign.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(super) name: Name,
    /// Counts the campaigns of the session.
    pub(super) no: u64,
    /// With which token it holds the name; 0 if it does not.
    token: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// What is asked of it.
    asks: VecDeque<Ask>,
    task: Task,
}

/// Who does what is asked.
#[derive(Debug)]
enum Task {
    /// A task. If it waits to be asked, so it is told.
    Runs(Option<Waker>),
    /// Nobody, until something happens.
    Rests(Box<Resting>),
    /// It is over.
    Over,
}

/// Who waits until something is done.
type Reply = oneshot::Sender<Result<(), Refused>>;

/// What may be asked of a campaign.
#[derive(Debug)]
enum Ask {
    /// Give the name back, or end the wait for it. The campaign is over then.
    Withdraw(Reply),
    /// Have whoever holds the name give it back, and wait for it again.
    GiveBack(Back, Reply),
    /// Until when may one act with that token?
    Check(u64, oneshot::Sender<Option<Duration>>),
    /// Proclaim that, if the token is the holder's.
    Proclaim(u64, Arc<[u8]>, Reply),
    /// The agent leaves.
    Leave,
}

/// That a name is given back, and to whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Back {
    pub(super) why: Why,
    /// Whose candidate is next.
    pub(super) next: Option<NodeId>,
}

/// Why it is asked back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Resign,
    Transfer,
    AgentLeaves,
}

impl Why {
    fn asked(self) -> &'static str {
        match self {
            Self::Resign => "resign",
            Self::Transfer => "transfer",
            Self::AgentLeaves => "agent-leaves",
        }
    }

    fn lost(self) -> &'static str {
        match self {
            Self::Resign => "resigned",
            Self::Transfer => "transferred",
            Self::AgentLeaves => "agent-ends",
        }
    }
}

impl Back {
    pub(crate) fn resign() -> Self {
        Self { why: Why::Resign, next: None }
    }

    pub(crate) fn transfer(to: NodeId) -> Self {
        Self { why: Why::Transfer, next: Some(to) }
    }
}

impl Candidate {
    pub(super) fn new(name: Name, no: u64) -> Arc<Self> {
        let inner = Inner { asks: VecDeque::new(), task: Task::Runs(None) };
        Arc::new(Self { name, no, token: AtomicU64::new(0), inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // It is whole between any two lines that change it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With which token it holds the name.
    pub(crate) fn token(&self) -> Option<u64> {
        Some(self.token.load(Ordering::Relaxed)).filter(|token| *token > 0)
    }

    pub(super) fn holds(&self, token: Option<u64>) {
        self.token.store(token.unwrap_or(0), Ordering::Relaxed);
    }

    /// Gives the name back, or ends the wait for it.
    pub(crate) async fn withdraw(&self) -> Result<(), Refused> {
        self.ask(Ask::Withdraw).await.unwrap_or(Ok(()))
    }

    /// Has the holder give the name back. Returns when it is.
    pub(crate) async fn give_back(&self, back: Back) -> Result<(), Refused> {
        self.ask(|reply| Ask::GiveBack(back, reply)).await.unwrap_or(Ok(()))
    }

    /// Until when one may act with that token; `None` if one may not.
    pub(crate) async fn check(&self, token: u64) -> Option<Duration> {
        self.ask(|reply| Ask::Check(token, reply)).await.flatten()
    }

    /// Proclaims that, if that is the token; `None` if it is not.
    pub(crate) async fn proclaim(&self, token: u64, value: Arc<[u8]>) -> Option<Result<(), Refused>> {
        self.ask(|reply| Ask::Proclaim(token, value, reply)).await
    }

    pub(super) fn leave(&self) {
        self.put(Ask::Leave);
    }

    /// `None` if nobody answers: it is over.
    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.put(ask(reply));
        answer.await.ok()
    }

    fn put(&self, ask: Ask) {
        let mut inner = self.inner();
        if !matches!(inner.task, Task::Over) {
            inner.asks.push_back(ask);
        }
        drop(inner);
        self.stir();
    }

    async fn next(&self) -> Ask {
        poll_fn(|cx| {
            let mut inner = self.inner();
            if let Some(ask) = inner.asks.pop_front() {
                return Poll::Ready(ask);
            }
            if let Task::Runs(waker) = &mut inner.task {
                *waker = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Something has happened: there is a task from now on, if there is none.
    pub(super) fn stir(&self) {
        let mut inner = self.inner();
        match &mut inner.task {
            Task::Runs(waker) => {
                let waker = waker.take();
                drop(inner);
                waker.into_iter().for_each(Waker::wake);
            }
            Task::Rests(_) => {
                let rested = inner.wake_up();
                drop(inner);
                rested.into_iter().for_each(Resting::go_on);
            }
            Task::Over => {}
        }
    }

    /// There is nothing to do: nobody does it until something happens. What has happened by now, if anything has, is to be done at
    /// once.
    fn rest(self: &Arc<Self>, resting: Resting) -> Option<Box<Resting>> {
        let waker = Waker::from(Arc::clone(self));
        let mut inner = self.inner();
        inner.task = Task::Rests(Box::new(resting));
        let has_changed = match &mut inner.task {
            Task::Rests(resting) => resting.has_changed(&Context::from_waker(&waker)),
            Task::Runs(_) | Task::Over => false,
        };
        if has_changed || !inner.asks.is_empty() { inner.wake_up() } else { None }
    }

    /// It is over: nobody is answered any more.
    fn close(&self) {
        let mut inner = self.inner();
        (inner.asks, inner.task) = (VecDeque::new(), Task::Over);
    }
}

impl Inner {
    fn wake_up(&mut self) -> Option<Box<Resting>> {
        match std::mem::replace(&mut self.task, Task::Runs(None)) {
            Task::Rests(resting) => Some(resting),
            Task::Runs(_) | Task::Over => None,
        }
    }
}

/// The library says so when a campaign has changed.
impl Wake for Candidate {
    fn wake(self: Arc<Self>) {
        self.stir();
    }
}

/// How a campaign begins.
pub(super) struct Start {
    pub(super) candidacy: Candidacy,
    /// Whether it takes the kind that the name has.
    pub(super) of_any_kind: bool,
    /// What the session held through an earlier process of the agent.
    pub(super) held: Option<Box<Adoption>>,
    /// Who waits until it has begun, and gives up if it cannot.
    pub(super) begun: Option<Reply>,
}

/// The task of a campaign.
pub(super) struct Runner {
    session: Arc<Session>,
    candidate: Arc<Candidate>,
    start: Start,
    presence: watch::Receiver<Presence>,
    room: Room,
}

/// What is left of a task for which there is nothing to do.
struct Resting {
    runner: Runner,
    now: Standing,
}

impl fmt::Debug for Resting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resting").finish_non_exhaustive()
    }
}

impl Resting {
    /// Whether anything has, since that was looked at. If not, whoever asks is told when the campaign does.
    fn has_changed(&mut self, cx: &Context<'_>) -> bool {
        let campaign = self.now.campaign.poll_changed(cx).is_ready();
        campaign || self.runner.presence.has_changed().unwrap_or(true)
    }

    fn go_on(self: Box<Self>) {
        let Self { runner, now } = *self;
        let runtime = runner.room.0.runtime.clone();
        runtime.spawn(runner.run(Some(now)));
    }
}

/// How a campaign stands, and what the session was told of it.
struct Standing {
    campaign: Campaign,
    /// The token with which the name is held, as the session knows.
    held: Option<u64>,
    /// The last stream that was told, and the position that it was told.
    told: Option<(u64, Option<u32>)>,
    /// It is held, and the lease is not known to be valid.
    awaits_lease: bool,
    back: Option<Box<AskedBack>>,
}

impl Standing {
    fn new(campaign: Campaign) -> Self {
        Self { campaign, held: None, told: None, awaits_lease: false, back: None }
    }
}

/// That it was asked back, until when it may be held, and who waits for it.
struct AskedBack {
    back: Back,
    due: Instant,
    replies: Vec<Reply>,
}

/// What follows when a campaign of the library has ended.
enum Onward {
    /// It begins again, when there is somebody to be told.
    Again,
    /// There is nothing to do until something happens.
    Rests(Standing),
    Over(Withdrawn),
}

/// The campaign is over. Whoever waits for that is answered when it is forgotten, so that there may be another at once.
struct Withdrawn {
    reply: Option<(Reply, Result<(), Refused>)>,
    /// Whether what it had is given back.
    outcome: Result<(), Refused>,
}

impl Withdrawn {
    /// It had nothing.
    fn without(reply: Option<(Reply, Result<(), Refused>)>) -> Self {
        Self { reply, outcome: Ok(()) }
    }
}

impl Runner {
    pub(super) fn begin(room: Room, session: Arc<Session>, candidate: Arc<Candidate>, start: Start) {
        let presence = session.presence();
        tokio::spawn(Self { session, candidate, start, presence, room }.run(None));
    }

    /// Until the session does not want the name any more, or there is nothing to do. It goes on where it rested, if it did.
    async fn run(mut self, mut rested: Option<Standing>) {
        let Withdrawn { reply, outcome } = loop {
            let now = match rested.take() {
                Some(now) => now,
                None => match self.campaign().await {
                    Ok(campaign) => Standing::new(campaign),
                    Err(withdrawn) => break withdrawn,
                },
            };
            match self.follow(now).await {
                Onward::Again => {}
                Onward::Rests(now) => {
                    let candidate = Arc::clone(&self.candidate);
                    let Some(happened) = candidate.rest(Resting { runner: self, now }) else { return };
                    let Resting { runner, now } = *happened;
                    (self, rested) = (runner, Some(now));
                }
                Onward::Over(withdrawn) => break withdrawn,
            }
        };
        self.candidate.close();
        self.session.over(&self.candidate, outcome);
        if let Some((reply, answer)) = reply {
            let _ = reply.send(answer);
        }
    }

    /// Begins as soon as somebody would be told.
    async fn campaign(&mut self) -> Result<Campaign, Withdrawn> {
        loop {
            self.until_heard().await?;
            if let Some(held) = self.start.held.as_deref() {
                self.recover(*held).await?;
            }
            let session = Arc::clone(&self.session);
            let begin = session.handle().campaign(self.candidate.name.clone(), self.start.candidacy.clone());
            let begun = self.unless_withdrawn(begin).await?;
            match (begun, self.start.begun.take()) {
                (Ok(campaign), waits) => {
                    // What was adopted is adopted once.
                    self.start.candidacy.adopts = None;
                    waits.map(|waits| waits.send(Ok(())));
                    return Ok(campaign);
                }
                (Err(Refused::Cannot(tenure::Refused::Election(Declined::OtherKind { kind }))), waits)
                    if self.start.of_any_kind =>
                {
                    (self.start.candidacy.kind, self.start.begun) = (kind, waits);
                }
                (Err(refused), Some(waits)) => {
                    return Err(Withdrawn::without(Some((waits, Err(refused)))));
                }
                (Err(refused), None) => {
                    tracing::debug!(name = %self.candidate.name, %refused, "a campaign cannot begin yet");
                    self.unless_withdrawn(sleep(RETRY)).await?;
                }
            }
        }
    }

    /// Waits until the session has a stream, unless the agent leaves.
    async fn until_heard(&mut self) -> Result<(), Withdrawn> {
        loop {
            let presence = *self.presence.borrow_and_update();
            match presence {
                Presence::Over => return Err(Withdrawn::without(None)),
                Presence::Here { .. } if !self.room.0.is_leaving() => return Ok(()),
                Presence::Here { .. } | Presence::Unheard | Presence::Gone => {}
            }
            let mut presence = self.presence.clone();
            let changed = async move {
                // The session is there for as long as this is.
                let _ = presence.changed().await;
            };
            self.unless_withdrawn(changed).await?;
        }
    }

    /// Finds out whether what an earlier process of the agent held for the session can be taken over.
    async fn recover(&mut self, held: Adoption) -> Result<(), Withdrawn> {
        let name = self.candidate.name.clone();
        let known = loop {
            let member = self.room.0.member.clone();
            let read = self.unless_withdrawn(async { member.read_election(&name).await }).await?;
            match read {
                Ok(known) => break known,
                Err(_) => self.unless_withdrawn(sleep(RETRY)).await?,
            }
        };
        self.start.held = None;
        let ours = (self.room.0.node, self.session.id);
        let is_ours = |holder: bellwether::elections::Holder| (holder.node, holder.session) == ours;
        let is_held = known
            .as_ref()
            .is_some_and(|known| known.token == held.token && known.holder.is_some_and(is_ours));
        if let Some(known) = known {
            self.start.candidacy.kind = known.kind;
            if is_held {
                self.start.candidacy.value = known.value;
            }
        }
        if is_held {
            self.start.candidacy.adopts = Some(held);
        } else {
            self.tell_lost(held.token, LEASE);
        }
        Ok(())
    }

    /// Does that, unless the session withdraws or ends before. It holds nothing meanwhile.
    async fn unless_withdrawn<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Withdrawn> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                ask = self.candidate.next() => match ask {
                    Ask::Withdraw(reply) => {
                        return Err(Withdrawn::without(Some((reply, Ok(())))));
                    }
                    Ask::GiveBack(_, reply) => drop(reply.send(Ok(()))),
                    // Nobody answers: it is not held.
                    Ask::Check(..) | Ask::Proclaim(..) | Ask::Leave => {}
                },
                _ = self.presence.wait_for(|presence| *presence == Presence::Over) => {
                    return Err(Withdrawn::without(None));
                }
                done = &mut work => return Ok(done),
            }
        }
    }

    /// Until the campaign of the library has ended, or nothing is to be expected.
    async fn follow(&mut self, mut now: Standing) -> Onward {
        let mut lease = self.room.0.member.lease_changes();
        loop {
            if self.look(&mut now) {
                return self.end(now, None).await;
            }
            let due = self.due(&now);
            let rests = due.is_none() && !now.awaits_lease;
            let ends = tokio::select! {
                biased;
                ask = self.candidate.next() => self.answer(&mut now, ask),
                () = ready(()), if rests => return Onward::Rests(now),
                _ = now.campaign.changed() => None,
                _ = self.presence.changed() => None,
                _ = lease.changed(), if now.awaits_lease => None,
                () = at(due) => Some(None),
            };
            if let Some(reply) = ends {
                return self.end(now, reply).await;
            }
        }
    }

    /// Sees how the campaign and its session stand, and tells what has changed. Whether this campaign is to end.
    fn look(&mut self, now: &mut Standing) -> bool {
        let (state, presence) = (now.campaign.state(), *self.presence.borrow_and_update());
        if let Some(token) = now.held.filter(|token| state != State::Held { token: *token }) {
            self.is_lost(now, token, why_lost(state));
        }
        match (state, presence) {
            (State::Unfit { kind }, _) if self.start.of_any_kind => {
                self.start.candidacy.kind = kind;
                true
            }
            (State::Unfit { kind }, _) => {
                self.is_unfit(kind);
                true
            }
            (State::Over, _) | (_, Presence::Over) => true,
            (State::Held { token }, Presence::Here { stream }) => {
                self.is_held(now, token, stream);
                false
            }
            // What nobody was told of is not held.
            (State::Held { .. }, Presence::Unheard | Presence::Gone) => now.held.is_none(),
            (State::Waiting { before, .. }, Presence::Here { stream }) => {
                now.awaits_lease = false;
                self.waits(now, before, stream);
                self.room.0.is_leaving()
            }
            (State::Waiting { .. }, Presence::Unheard | Presence::Gone) => true,
            // The library may know more one day.
            _ => false,
        }
    }

    fn waits(&self, now: &mut Standing, before: Option<u32>, stream: u64) {
        let position = before.map(|before| before.saturating_add(1));
        if now.told.replace((stream, position)) != Some((stream, position)) {
            let kind = self.start.candidacy.kind.name().to_owned();
            self.session.tell(&Event::Waiting { name: self.candidate.name.to_string(), kind, position });
        }
    }

    fn is_held(&self, now: &mut Standing, token: u64, stream: u64) {
        let was_told = now.held.is_some() && now.told.is_some_and(|(told, _)| told == stream);
        if was_told {
            return;
        }
        let Some(until) = now.campaign.valid_until() else {
            now.awaits_lease = true;
            return;
        };
        (now.awaits_lease, now.held, now.told) = (false, Some(token), Some((stream, None)));
        self.session.elected(&self.candidate, self.start.candidacy.kind, token, until);
    }

    fn is_unfit(&self, kind: GrantKind) {
        let (name, kind) = (self.candidate.name.to_string(), kind.name().to_owned());
        self.session.tell(&Event::Refused { name, kind, why: "other-kind".to_owned() });
    }

    fn is_lost(&self, now: &mut Standing, token: u64, why: &str) {
        self.session.unhold(&self.candidate);
        (now.held, now.told) = (None, None);
        self.tell_lost(token, why);
        let back = now.back.take();
        back.into_iter().flat_map(|back| back.replies).for_each(|reply| drop(reply.send(Ok(()))));
    }

    fn tell_lost(&self, token: u64, why: &str) {
        let (name, why) = (self.candidate.name.to_string(), why.to_owned());
        self.session.tell(&Event::Lost { name, token, why });
    }

    /// When it is given back whatever its session does.
    fn due(&self, now: &Standing) -> Option<Instant> {
        let asked_back = now.back.as_ref().map(|back| back.due);
        let is_gone = *self.presence.borrow() == Presence::Gone && now.held.is_some();
        let by_clock = is_gone && self.start.candidacy.kind == GrantKind::Lease;
        asked_back.into_iter().chain(by_clock.then(|| until(self.session.told()))).min()
    }

    /// What comes of it: if this campaign is to end, who waits for that, if anybody does.
    fn answer(&mut self, now: &mut Standing, ask: Ask) -> Option<Option<Reply>> {
        match ask {
            Ask::Withdraw(reply) => return Some(Some(reply)),
            Ask::GiveBack(back, reply) => self.ask_back(now, back, Some(reply)),
            Ask::Leave => self.ask_back(now, Back { why: Why::AgentLeaves, next: None }, None),
            Ask::Check(token, reply) => drop(reply.send(self.check(now, token))),
            Ask::Proclaim(token, value, reply) if now.held == Some(token) => {
                self.start.candidacy.value = Arc::clone(&value);
                let proclaim = now.campaign.proclaim(value);
                tokio::spawn(async move { drop(reply.send(proclaim.await)) });
            }
            // Nobody answers: it is not the holder's.
            Ask::Proclaim(..) => {}
        }
        None
    }

    fn ask_back(&self, now: &mut Standing, back: Back, reply: Option<Reply>) {
        let Some(token) = now.held else {
            reply.map(|reply| reply.send(Ok(())));
            return;
        };
        if let Some(asked) = &mut now.back {
            asked.replies.extend(reply);
            return;
        }
        let (release, replies) = (self.room.0.terms.release, reply.into_iter().collect());
        now.back = Some(Box::new(AskedBack { back, due: Instant::now() + release, replies }));
        self.session.tell(&Event::AskedBack {
            name: self.candidate.name.to_string(),
            token,
            why: back.why.asked().to_owned(),
            release_ms: u64::try_from(release.as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// Until when one may act with that token. A session that has gone is told no more than it was.
    fn check(&self, now: &Standing, token: u64) -> Option<Duration> {
        let until = now.campaign.valid_until().filter(|_| now.held == Some(token))?;
        now.campaign.check(token).ok()?;
        self.session.tell_until(until)
    }

    /// Ends this campaign: gives back what it has, and says what follows.
    async fn end(&self, mut now: Standing, withdrawn: Option<Reply>) -> Onward {
        let back = now.back.take();
        let presence = *self.presence.borrow();
        if let Some(token) = now.held.take() {
            self.session.unhold(&self.candidate);
            if let (None, Some(back), Presence::Here { .. }) = (&withdrawn, &back, presence) {
                self.tell_lost(token, back.back.why.lost());
            }
        }
        let state = now.campaign.state();
        let is_over = match state {
            State::Unfit { .. } => !self.start.of_any_kind,
            state => state == State::Over,
        };
        let outcome = match state {
            State::Over | State::Unfit { .. } => Ok(()),
            _ => now.campaign.release(back.as_ref().and_then(|back| back.back.next)).await,
        };
        for reply in back.into_iter().flat_map(|back| back.replies) {
            let _ = reply.send(outcome.clone());
        }
        let presence = *self.presence.borrow();
        match withdrawn {
            Some(reply) => {
                let reply = Some((reply, outcome.clone()));
                Onward::Over(Withdrawn { reply, outcome })
            }
            None if is_over || presence == Presence::Over => Onward::Over(Withdrawn { reply: None, outcome }),
            None => Onward::Again,
        }
    }
}

const LEASE: &str = "lease";

fn why_lost(state: State) -> &'static str {
    match state {
        State::Waiting { lost: Some(Lost::Replaced), .. } => "replaced",
        State::Over => "agent-ends",
        _ => LEASE,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}
