//! A campaign of a session: a task that tells the session what becomes of it, and does what is asked.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether::elections::{Adoption, Campaign, Candidacy, GrantKind, Lease, Lost, Name, State};
use bellwether::{NodeId, Refused};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::session::{Presence, Session};
use super::{Registry, until};
use crate::schema::elections::Event;

/// How long to wait before something is tried again that could not be done.
const RETRY: Duration = Duration::from_millis(250);

/// What others know of a campaign.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(super) name: Name,
    /// Counts the campaigns of the session.
    pub(super) no: u64,
    /// What is asked of it; `None` when it is over.
    inbox: Mutex<Option<VecDeque<Ask>>>,
    asked: Notify,
    /// With which token it holds the name; 0 if it does not.
    token: AtomicU64,
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
        let inbox = Mutex::new(Some(VecDeque::new()));
        Arc::new(Self { name, no, inbox, asked: Notify::new(), token: AtomicU64::new(0) })
    }

    fn inbox(&self) -> MutexGuard<'_, Option<VecDeque<Ask>>> {
        // It is whole between any two lines that change it.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
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
        if let Some(inbox) = self.inbox().as_mut() {
            inbox.push_back(ask);
        }
        self.asked.notify_one();
    }

    async fn next(&self) -> Ask {
        loop {
            let ask = self.inbox().as_mut().and_then(VecDeque::pop_front);
            match ask {
                Some(ask) => return ask,
                None => self.asked.notified().await,
            }
        }
    }

    /// It is over: nobody is answered any more.
    fn close(&self) {
        *self.inbox() = None;
    }
}

/// How a campaign begins.
pub(super) struct Start {
    pub(super) candidacy: Candidacy,
    /// What the session held through an earlier process of the agent.
    pub(super) held: Option<Adoption>,
    /// Who waits until it has begun, and gives up if it cannot.
    pub(super) begun: Option<Reply>,
}

/// The task of a campaign.
pub(super) struct Runner {
    registry: Arc<Registry>,
    session: Arc<Session>,
    candidate: Arc<Candidate>,
    start: Start,
    presence: watch::Receiver<Presence>,
    lease: watch::Receiver<Lease>,
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
    back: Option<AskedBack>,
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
    /// The session does not want the name any more; whether it is given back.
    Over(Result<(), Refused>),
}

/// The session does not want the name any more, and does not have it.
struct Withdrawn;

impl Runner {
    pub(super) fn new(
        registry: Arc<Registry>,
        session: Arc<Session>,
        candidate: Arc<Candidate>,
        start: Start,
    ) -> Self {
        let (presence, lease) = (session.presence(), registry.member.lease_changes());
        Self { registry, session, candidate, start, presence, lease }
    }

    /// Until the session does not want the name any more.
    pub(super) async fn run(mut self) {
        let outcome = loop {
            let Ok(campaign) = self.begin().await else { break Ok(()) };
            match self.follow(campaign).await {
                Onward::Again => {}
                Onward::Over(outcome) => break outcome,
            }
        };
        self.candidate.close();
        self.session.over(&self.candidate, outcome);
    }

    /// Begins as soon as somebody would be told.
    async fn begin(&mut self) -> Result<Campaign, Withdrawn> {
        loop {
            self.until_heard().await?;
            if let Some(held) = self.start.held {
                self.recover(held).await?;
            }
            let session = Arc::clone(&self.session);
            let begin = session.handle().campaign(self.candidate.name.clone(), self.start.candidacy.clone());
            let begun = self.unless_withdrawn(begin).await?;
            // What was adopted is adopted once.
            self.start.candidacy.adopts = None;
            match (begun, self.start.begun.take()) {
                (Ok(campaign), waits) => {
                    waits.map(|waits| waits.send(Ok(())));
                    return Ok(campaign);
                }
                (Err(refused), Some(waits)) => {
                    let _ = waits.send(Err(refused));
                    return Err(Withdrawn);
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
                Presence::Over => return Err(Withdrawn),
                Presence::Here { .. } if !self.registry.is_leaving() => return Ok(()),
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
            let member = self.registry.member.clone();
            let read = self.unless_withdrawn(async { member.read_election(&name).await }).await?;
            match read {
                Ok(known) => break known,
                Err(_) => self.unless_withdrawn(sleep(RETRY)).await?,
            }
        };
        self.start.held = None;
        let ours = (self.registry.node, self.session.id);
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
                        let _ = reply.send(Ok(()));
                        return Err(Withdrawn);
                    }
                    Ask::GiveBack(_, reply) => drop(reply.send(Ok(()))),
                    // Nobody answers: it is not held.
                    Ask::Check(..) | Ask::Proclaim(..) | Ask::Leave => {}
                },
                _ = self.presence.wait_for(|presence| *presence == Presence::Over) => return Err(Withdrawn),
                done = &mut work => return Ok(done),
            }
        }
    }

    /// Until the campaign of the library has ended.
    async fn follow(&mut self, campaign: Campaign) -> Onward {
        let mut now = Standing { campaign, held: None, told: None, awaits_lease: false, back: None };
        loop {
            if self.look(&mut now) {
                return self.end(now, None).await;
            }
            let due = self.due(&now);
            let ends = tokio::select! {
                biased;
                ask = self.candidate.next() => self.answer(&mut now, ask),
                _ = now.campaign.changed() => None,
                _ = self.presence.changed() => None,
                _ = self.lease.changed(), if now.awaits_lease => None,
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
                self.waits(now, before, stream);
                self.registry.is_leaving()
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
        let release = self.registry.terms.release;
        now.back =
            Some(AskedBack { back, due: Instant::now() + release, replies: reply.into_iter().collect() });
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
        let is_over = matches!(now.campaign.state(), State::Over | State::Unfit { .. });
        let outcome = match is_over {
            true => Ok(()),
            false => now.campaign.release(back.as_ref().and_then(|back| back.back.next)).await,
        };
        for reply in back.into_iter().flat_map(|back| back.replies) {
            let _ = reply.send(outcome.clone());
        }
        let presence = *self.presence.borrow();
        match withdrawn {
            Some(reply) => {
                let _ = reply.send(outcome.clone());
                Onward::Over(outcome)
            }
            None if is_over || presence == Presence::Over => Onward::Over(outcome),
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
