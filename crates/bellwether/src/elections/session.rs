//! Somebody that campaigns through a member.

use std::sync::Arc;

use bellwether_proto::exclusive::grant::Token;
use bellwether_proto::exclusive::order::{self, Declined, Order};
use bellwether_proto::tenure;
use tokio::sync::mpsc;

use super::sight::Sight;
use super::{Campaign, Candidacy, Name};
use crate::command::{Asked, Command};
use crate::error::Refused;
use crate::shared::Shared;

/// Somebody that campaigns through a member, with a number of its own.
#[derive(Clone, Debug)]
pub struct Session {
    id: u64,
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
}

impl Session {
    pub(crate) fn new(id: u64, shared: Arc<Shared>, commands: mpsc::Sender<Command>) -> Self {
        Self { id, shared, commands }
    }

    /// Its number. No other session of the process has it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Campaigns for that name from now on. Returns when the member has taken note of it.
    ///
    /// # Errors
    /// If this session campaigns for it already, there are as many names as there may be, or the member has ended.
    pub async fn campaign(&self, name: Name, candidacy: Candidacy) -> Result<Campaign, Refused> {
        let (session, kind) = (self.id, candidacy.kind);
        let slot = self.shared.elections.begin(session, &name).ok_or(CAMPAIGNS)?;
        let mut campaign = Campaign {
            session,
            name: name.clone(),
            sight: Sight { kind, slot, shared: Arc::clone(&self.shared) },
            seen: 0,
            commands: Some(self.commands.clone()),
        };
        let candidacy = order::Candidacy {
            kind,
            priority: candidacy.priority,
            value: candidacy.value,
            adopts: candidacy.adopts.map(|adopts| order::Adoption {
                token: Token(adopts.token),
                until: self.shared.clock.time(adopts.until),
            }),
        };
        let order = Order::Campaign { session, name, candidacy };
        let asked = self.shared.ask(&self.commands, Asked::Order(Box::new(order))).await;
        if let Err(refused) = asked {
            campaign.commands = None;
            self.shared.elections.end(session, &campaign.name);
            return Err(refused);
        }
        Ok(campaign)
    }
}

const CAMPAIGNS: Refused = Refused::Cannot(tenure::Refused::Election(Declined::Campaigns));
