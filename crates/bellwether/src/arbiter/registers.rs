//! The voters of a cluster as an arbiter, through a member of this process.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bellwether_proto::exclusive::order::Declined;
use bellwether_proto::ident::NodeId;
use tokio::sync::watch;

use super::{
    Arbiter, Campaign, Candidacy, Denied, Doing, EngineClock, Observe, Seen, Sight, Terms, Tokens, Uptime,
};
use crate::elections::{self, Lease, Name, Seated, State, Watching};
use crate::error::Refused;
use crate::member::Member;

/// The registers that the voters of a cluster keep, through a member, with [`Config::exclusive`](crate::Config::exclusive).
#[derive(Clone, Debug)]
pub struct Registers(Member);

impl Registers {
    /// Through that member.
    pub fn new(member: Member) -> Self {
        Self(member)
    }

    async fn begin(&self, name: Name, candidacy: Candidacy) -> Result<Box<dyn Campaign>, Denied> {
        let session = self.0.session()?;
        let Candidacy { kind, priority, value } = candidacy;
        let known = || self.0.known_election(&name).map(|known| known.kind);
        let wanted = kind.or_else(known).unwrap_or_default();
        let wanted = elections::Candidacy { kind: wanted, priority, value, adopts: None };
        let begun = session.campaign(name.clone(), wanted.clone()).await.map_err(Denied::from);
        let campaign = match begun {
            // Whoever does not say which kind takes the one that there is.
            Err(denied) => match denied.other_kind().filter(|_| kind.is_none()) {
                Some(kind) => session.campaign(name, elections::Candidacy { kind, ..wanted }).await?,
                None => return Err(denied),
            },
            Ok(campaign) => campaign,
        };
        let (sight, lease) = (campaign.sight().clone(), self.0.lease_changes());
        let seated = Some(sight.sit());
        let sight = Looks { sight, is_given_back: Arc::default() };
        Ok(Box::new(Registered { campaign: Some(campaign), sight, lease, seated }))
    }
}

impl Arbiter for Registers {
    fn terms(&self) -> Terms {
        Terms {
            engine: "bellwether",
            ttl: self.0.lease_ttl(),
            clock: EngineClock::Majority,
            tokens: Tokens::ForEver,
            is_fair: true,
        }
    }

    fn campaign(&self, name: Name, candidacy: Candidacy) -> Doing<'_, Result<Box<dyn Campaign>, Denied>> {
        Box::pin(self.begin(name, candidacy))
    }

    fn known(&self, name: &Name) -> Option<Seen> {
        self.0.known_election(name).map(Seen::from)
    }

    fn read(&self, name: Name) -> Doing<'_, Result<Option<Seen>, Denied>> {
        Box::pin(async move { Ok(self.0.read_election(&name).await?.map(Seen::from)) })
    }

    fn observe(&self, name: &Name) -> Box<dyn Observe> {
        Box::new(self.0.observe_election(name))
    }

    fn asks_back(&self) -> watch::Receiver<Option<Duration>> {
        self.0.asks_names_back()
    }

    fn ended(&self) -> Doing<'_, Denied> {
        Box::pin(async { Refused::Ended(self.0.ended().await).into() })
    }

    fn node(&self) -> Option<NodeId> {
        Some(self.0.status().id)
    }
}

impl Observe for Watching {
    fn next(&mut self) -> Doing<'_, Option<Option<Seen>>> {
        Box::pin(async { Some(Self::next(self).await?.map(Seen::from)) })
    }
}

/// A campaign of a member, which waits for it when it leaves.
#[derive(Debug)]
struct Registered {
    /// `None` when it is given back.
    campaign: Option<elections::Campaign>,
    sight: Looks,
    lease: watch::Receiver<Lease>,
    /// Goes last.
    seated: Option<Seated>,
}

/// A look at it.
#[derive(Clone, Debug)]
struct Looks {
    sight: elections::Sight,
    /// The member takes note a moment later.
    is_given_back: Arc<AtomicBool>,
}

impl Sight for Looks {
    fn state(&self) -> State {
        match self.is_given_back.load(Ordering::Acquire) {
            true => State::Over,
            false => self.sight.state(),
        }
    }

    fn valid_until(&self) -> Option<Duration> {
        let until = self.sight.valid_until();
        until.filter(|_| !self.is_given_back.load(Ordering::Acquire))
    }

    fn uptime(&self) -> Uptime {
        self.sight.uptime()
    }
}

impl Campaign for Registered {
    fn sight(&self) -> Arc<dyn Sight> {
        Arc::new(self.sight.clone())
    }

    fn changed(&mut self) -> Doing<'_, ()> {
        Box::pin(async {
            let Some(campaign) = &mut self.campaign else { return };
            tokio::select! {
                _ = campaign.changed() => {}
                Ok(()) = self.lease.changed() => {}
            }
        })
    }

    fn proclaim(&self, value: Arc<[u8]>) -> Doing<'static, Result<(), Denied>> {
        match &self.campaign {
            Some(campaign) => answered(campaign.proclaim(value)),
            None => Box::pin(async { Err(Denied::declined(Declined::NotHeld)) }),
        }
    }

    fn release(mut self: Box<Self>) -> Doing<'static, Result<(), Denied>> {
        self.sight.is_given_back.store(true, Ordering::Release);
        let (campaign, seated) = (self.campaign.take(), self.seated.take());
        Box::pin(async move {
            let released = match campaign {
                Some(campaign) => campaign.release(None).await,
                None => Ok(()),
            };
            drop(seated);
            Ok(released?)
        })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.sight.is_given_back.store(true, Ordering::Release);
    }
}

fn answered(
    asked: impl Future<Output = Result<(), Refused>> + Send + 'static,
) -> Doing<'static, Result<(), Denied>> {
    Box::pin(async { Ok(asked.await?) })
}
