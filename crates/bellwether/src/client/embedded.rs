//! A name that is held through a member in this process.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::{BadName, Name};
use bellwether_proto::exclusive::order::{Declined, Lost};
use bellwether_proto::tenure;
use tokio::sync::{mpsc, oneshot, watch};

use super::seat::Seat;
use super::standing::{AskedBack, Grant, Over, Phase, Until};
use super::{Candidacy, ClientError, Election, Leadership};
use crate::config::GrantKind;
use crate::elections::{self, Campaign, Lease, Seated, Session, Sight, State};
use crate::error::Refused;
use crate::member::Member;
use crate::uptime::Uptime;

impl Member {
    /// An election of that name, to be held through this member, with [`Config::exclusive`](crate::Config::exclusive). What a program does
    /// with it is the same through an agent: see [`Client::election`](crate::Client::election).
    ///
    /// # Errors
    /// If no election can have that name.
    pub fn election(&self, name: &str) -> Result<Election, BadName> {
        Ok(Election::of_member(self.clone(), Name::new(name)?))
    }
}

/// Waits until that member holds the name for a session of its own.
pub(super) async fn campaign(
    member: &Member,
    name: &Name,
    candidacy: &Candidacy,
) -> Result<Leadership, ClientError> {
    let session = member.session()?;
    tokio::select! {
        biased;
        // Nothing is granted to whoever is about to go.
        () = leaves(member) => Err(Refused::Ended(member.ended().await).into()),
        held = campaign_for(member, &session, name, candidacy) => held,
    }
}

async fn leaves(member: &Member) {
    if member.asks_names_back().wait_for(Option::is_some).await.is_err() {
        pending::<()>().await;
    }
}

async fn campaign_for(
    member: &Member,
    session: &Session,
    name: &Name,
    candidacy: &Candidacy,
) -> Result<Leadership, ClientError> {
    let known = || member.known_election(name).map(|known| known.kind);
    let mut kind = candidacy.kind.or_else(known).unwrap_or_default();
    loop {
        kind = match held(member, session, name, candidacy, kind).await? {
            Held::Name(campaign, grant) => return Ok(seat(member, campaign, grant)),
            Held::OfKind(other) if candidacy.kind.is_none() => other,
            Held::OfKind(kind) => {
                let declined = tenure::Refused::Election(Declined::OtherKind { kind });
                return Err(Refused::Cannot(declined).into());
            }
        };
    }
}

/// What a campaign comes to.
enum Held {
    /// It may act.
    Name(Campaign, Grant),
    /// The name is of that kind.
    OfKind(GrantKind),
}

async fn held(
    member: &Member,
    session: &Session,
    name: &Name,
    candidacy: &Candidacy,
    kind: GrantKind,
) -> Result<Held, ClientError> {
    let mut lease = member.lease_changes();
    let (priority, value) = (candidacy.priority, candidacy.value.as_bytes().into());
    let wanted = elections::Candidacy { kind, priority, value, adopts: None };
    let mut campaign = match session.campaign(name.clone(), wanted).await {
        Ok(campaign) => campaign,
        Err(Refused::Cannot(tenure::Refused::Election(Declined::OtherKind { kind }))) => {
            return Ok(Held::OfKind(kind));
        }
        Err(refused) => return Err(refused.into()),
    };
    loop {
        match campaign.state() {
            State::Held { token } => {
                if let Ok(until) = campaign.sight().check(token) {
                    let grant = Grant::new(token, valid(until), campaign.sight().uptime());
                    return Ok(Held::Name(campaign, grant));
                }
            }
            State::Unfit { kind } => return Ok(Held::OfKind(kind)),
            State::Over => return Err(ClientError::Over(Over::AgentEnds)),
            State::Waiting { .. } => {}
        }
        tokio::select! {
            _ = campaign.changed() => {}
            Ok(()) = lease.changed() => {}
        }
    }
}

fn valid(until: Duration) -> Until {
    if until == Duration::MAX { Until::ByStore } else { Until::Uptime(until) }
}

fn seat(member: &Member, campaign: Campaign, grant: Grant) -> Leadership {
    let phase = Arc::new(watch::Sender::new(Phase::Held(grant)));
    let (asks, asked) = mpsc::channel(1);
    let (name, sight) = (campaign.name().clone(), campaign.sight().clone());
    let embedded = Embedded { name, node: member.status().id, sight, phase: Arc::clone(&phase), asks };
    let keeper = Keeper {
        seated: embedded.sight.sit(),
        leaving: member.asks_names_back(),
        lease: member.lease_changes(),
        campaign,
        phase,
        asked,
    };
    tokio::spawn(keeper.keep());
    Leadership::new(Seat::Member(embedded))
}

/// A name that is held through a member. When it goes, the name is given back.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) name: Name,
    pub(super) node: bellwether_proto::ident::NodeId,
    sight: Sight,
    phase: Arc<watch::Sender<Phase>>,
    asks: mpsc::Sender<Ask>,
}

type Reply = oneshot::Sender<Result<(), Refused>>;

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
        let lost = Refused::Cannot(tenure::Refused::Election(Declined::NotHeld));
        Ok(self.ask(|reply| Ask::Proclaim(value, reply)).await.unwrap_or(Err(lost))?)
    }

    async fn ask(&self, ask: impl FnOnce(Reply) -> Ask) -> Option<Result<(), Refused>> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).await.ok()?;
        answer.await.ok()
    }
}

/// Keeps the campaign of a name that is held: a task that says what becomes of it, and gives it back when it is not held any more,
/// nobody holds the guard, or the member leaves and its work takes too long.
struct Keeper {
    campaign: Campaign,
    phase: Arc<watch::Sender<Phase>>,
    asked: mpsc::Receiver<Ask>,
    lease: watch::Receiver<Lease>,
    /// Until when the name may be kept, once the member leaves.
    leaving: watch::Receiver<Option<Duration>>,
    /// The member waits for it when it leaves.
    seated: Seated,
}

impl Keeper {
    async fn keep(mut self) {
        let reply = self.until_it_goes().await;
        let Self { campaign, seated, .. } = self;
        let answer = campaign.release(None).await;
        drop(seated);
        reply.map(|reply| reply.send(answer));
    }

    /// Until it is to be given back; who waits for that, if anybody does.
    async fn until_it_goes(&mut self) -> Option<Reply> {
        loop {
            self.look()?;
            let (leaves_at, uptime) = (*self.leaving.borrow(), self.campaign.sight().uptime());
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
                _ = self.campaign.changed() => {}
                Ok(()) = self.lease.changed() => {}
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
        let state = self.campaign.state();
        if state != (State::Held { token: grant.token }) {
            end(&self.phase, why_lost(state));
            return None;
        }
        // If that is in doubt now, what was told before counts.
        let sight = self.campaign.sight();
        let (until, uptime) = (sight.check(grant.token).map_or(grant.until, valid), sight.uptime());
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
