//! A name that is held in this process: through a member, or with another arbiter.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::{BadName, Name};
use bellwether_proto::exclusive::order::{Declined, Lost};
use bellwether_proto::ident::NodeId;
use tokio::sync::{mpsc, oneshot, watch};

use super::seat::Seat;
use super::standing::{AskedBack, Grant, Over, Phase, Until};
use super::{Candidacy, ClientError, Election, Leadership};
use crate::arbiter::{self, Arbiter, Campaign, Denied, Registers, Sight};
use crate::config::GrantKind;
use crate::elections::State;
use crate::member::Member;
use crate::uptime::Uptime;

impl Election {
    /// An election of that name, to be held with that arbiter.
    ///
    /// # Errors
    /// If no election can have that name.
    pub fn with(arbiter: Arc<dyn Arbiter>, name: &str) -> Result<Self, BadName> {
        Ok(Self::of(arbiter, Name::new(name)?))
    }
}

impl Member {
    /// An election of that name, to be held through this member, with [`Config::exclusive`](crate::Config::exclusive). What a program does
    /// with it is the same through an agent: see [`Client::election`](crate::Client::election).
    ///
    /// # Errors
    /// If no election can have that name.
    pub fn election(&self, name: &str) -> Result<Election, BadName> {
        Election::with(Arc::new(Registers::new(self.clone())), name)
    }
}

/// Waits until that arbiter has granted the name to a campaign of its own.
pub(super) async fn campaign(
    arbiter: &dyn Arbiter,
    name: &Name,
    candidacy: &Candidacy,
) -> Result<Leadership, ClientError> {
    tokio::select! {
        biased;
        // Nothing is granted by one that is about to go.
        () = leaves(arbiter) => Err(arbiter.ended().await.into()),
        held = campaign_for(arbiter, name, candidacy) => held,
    }
}

async fn leaves(arbiter: &dyn Arbiter) {
    if arbiter.asks_back().wait_for(Option::is_some).await.is_err() {
        pending::<()>().await;
    }
}

async fn campaign_for(
    arbiter: &dyn Arbiter,
    name: &Name,
    candidacy: &Candidacy,
) -> Result<Leadership, ClientError> {
    let Candidacy { kind: wanted, priority, value } = candidacy;
    let mut kind = *wanted;
    loop {
        let candidacy = arbiter::Candidacy { kind, priority: *priority, value: value.as_bytes().into() };
        let mut campaign = arbiter.campaign(name.clone(), candidacy).await?;
        kind = match held(&mut *campaign).await? {
            Held::Name(grant) => return Ok(seat(arbiter, name, campaign, grant)),
            Held::OfKind(other) if wanted.is_none() => Some(other),
            Held::OfKind(kind) => return Err(Denied::declined(Declined::OtherKind { kind }).into()),
        };
    }
}

/// What a campaign comes to.
enum Held {
    /// It may act.
    Name(Grant),
    /// The name is of that kind.
    OfKind(GrantKind),
}

async fn held(campaign: &mut dyn Campaign) -> Result<Held, ClientError> {
    let sight = campaign.sight();
    loop {
        match sight.state() {
            State::Held { token } => {
                if let Ok(until) = sight.check(token) {
                    return Ok(Held::Name(Grant::new(token, valid(until), sight.uptime())));
                }
            }
            State::Unfit { kind } => return Ok(Held::OfKind(kind)),
            State::Over => return Err(ClientError::Over(Over::AgentEnds)),
            State::Waiting { .. } => {}
        }
        campaign.changed().await;
    }
}

fn valid(until: Duration) -> Until {
    if until == Duration::MAX { Until::ByStore } else { Until::Uptime(until) }
}

fn seat(arbiter: &dyn Arbiter, name: &Name, campaign: Box<dyn Campaign>, grant: Grant) -> Leadership {
    let phase = Arc::new(watch::Sender::new(Phase::Held(grant)));
    let (asks, asked) = mpsc::channel(1);
    let sight = campaign.sight();
    let embedded = Embedded {
        name: name.clone(),
        node: arbiter.node(),
        sight: Arc::clone(&sight),
        phase: Arc::clone(&phase),
        asks,
    };
    let keeper = Keeper { leaving: arbiter.asks_back(), campaign, sight, phase, asked };
    tokio::spawn(keeper.keep());
    Leadership::new(Seat::Here(embedded))
}

/// A name that is held in this process. When it goes, the name is given back.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) name: Name,
    pub(super) node: Option<NodeId>,
    sight: Arc<dyn Sight>,
    phase: Arc<watch::Sender<Phase>>,
    asks: mpsc::Sender<Ask>,
}

type Reply = oneshot::Sender<Result<(), Denied>>;

/// What is asked of whoever keeps the campaign.
#[derive(Debug)]
enum Ask {
    GiveBack(Reply),
    Proclaim(Arc<[u8]>, Reply),
}

impl Embedded {
    /// How it stands now. No word of a task is needed for validity to end.
    pub(super) fn phase(&self) -> Phase {
        let phase = *self.phase.borrow();
        let Phase::Held(grant) = phase else { return phase };
        let until = self.sight.check(grant.token).map_or(Until::Uptime(Duration::ZERO), valid);
        Phase::Held(grant.told(grant.token, until, self.uptime()))
    }

    /// The clock of its deadlines.
    pub(super) fn uptime(&self) -> Uptime {
        self.sight.uptime()
    }

    pub(super) fn changes(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Gives it back. Goes on to its end if the call is dropped.
    pub(super) async fn give_back(&self) -> Result<(), ClientError> {
        end(&self.phase, Over::GivenBack);
        // Whoever keeps it no more has given it back.
        Ok(self.ask(Ask::GiveBack).await.unwrap_or(Ok(()))?)
    }

    pub(super) async fn proclaim(&self, value: &str) -> Result<(), ClientError> {
        let value = value.as_bytes().into();
        let lost = Denied::declined(Declined::NotHeld);
        Ok(self.ask(|reply| Ask::Proclaim(value, reply)).await.unwrap_or(Err(lost))?)
    }

    async fn ask(&self, ask: impl FnOnce(Reply) -> Ask) -> Option<Result<(), Denied>> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).await.ok()?;
        answer.await.ok()
    }
}

/// Keeps the campaign of a name that is held: a task that says what becomes of it, and gives it back when it is not held any more,
/// nobody holds the guard, or the arbiter leaves and its work takes too long.
struct Keeper {
    campaign: Box<dyn Campaign>,
    sight: Arc<dyn Sight>,
    phase: Arc<watch::Sender<Phase>>,
    asked: mpsc::Receiver<Ask>,
    /// Until when the name may be kept, once the arbiter leaves.
    leaving: watch::Receiver<Option<Duration>>,
}

impl Keeper {
    async fn keep(mut self) {
        let reply = self.until_it_goes().await;
        let answer = self.campaign.release().await;
        reply.map(|reply| reply.send(answer));
    }

    /// Until it is to be given back; who waits for that, if anybody does.
    async fn until_it_goes(&mut self) -> Option<Reply> {
        loop {
            self.look()?;
            let (leaves_at, uptime) = (*self.leaving.borrow(), self.sight.uptime());
            tokio::select! {
                biased;
                ask = self.asked.recv() => match ask {
                    Some(Ask::GiveBack(reply)) => return Some(reply),
                    Some(Ask::Proclaim(value, reply)) => {
                        let proclaims = self.campaign.proclaim(value);
                        tokio::spawn(async move { drop(reply.send(proclaims.await)) });
                    }
                    None => return None,
                },
                () = self.campaign.changed() => {}
                Ok(()) = self.leaving.changed() => {}
                () = reaches(leaves_at, uptime) => {
                    end(&self.phase, Over::AgentEnds);
                    return None;
                }
            }
        }
    }

    /// Says how it stands; `None` if it is held no more.
    fn look(&mut self) -> Option<()> {
        let Phase::Held(grant) = *self.phase.borrow() else { return Some(()) };
        let state = self.sight.state();
        if state != (State::Held { token: grant.token }) {
            end(&self.phase, why_lost(state));
            return None;
        }
        // If that is in doubt now, what was told before counts.
        let (until, uptime) = (self.sight.check(grant.token).map_or(grant.until, valid), self.sight.uptime());
        let leaves_at = *self.leaving.borrow_and_update();
        let asked_back = leaves_at.map(|at| (AskedBack::AgentLeaves, Some(at)));
        let now = Phase::Held(Grant { asked_back, ..grant.told(grant.token, until, uptime) });
        self.phase.send_if_modified(|phase| match phase {
            Phase::Held(_) if *phase != now => {
                *phase = now;
                true
            }
            _ => false,
        });
        Some(())
    }
}

/// From here on nobody may act.
fn end(phase: &watch::Sender<Phase>, why: Over) {
    phase.send_if_modified(|phase| match *phase {
        Phase::Held(Grant { token, .. }) => {
            *phase = Phase::Over { token, why };
            true
        }
        Phase::Waiting { .. } | Phase::Over { .. } => false,
    });
}

fn why_lost(state: State) -> Over {
    match state {
        State::Waiting { lost: Some(Lost::Replaced), .. } => Over::Replaced,
        State::Over => Over::AgentEnds,
        _ => Over::Lease,
    }
}

async fn reaches(at: Option<Duration>, uptime: Uptime) {
    match at {
        Some(at) => uptime.reaches(at).await,
        None => pending().await,
    }
}
