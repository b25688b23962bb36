//! Who leads, as this node shows it, and why that changed.

use alloc::boxed::Box;

use super::{Action, Exclusive, SEEN, Seen};
use crate::cause::Cause;
use crate::exclusive::campaigns::OWN;
use crate::exclusive::grant::{Grant, Name, Token};
use crate::exclusive::membership::Membership;
use crate::ident::NodeId;
use crate::leadership::Announcement;
use crate::time::Time;

impl Exclusive {
    pub(super) fn show(&mut self, now: Time) {
        let valid = self.valid_until().filter(|until| now < *until);
        let doubtful = valid.is_some_and(|until| until != Time::NEVER && until - self.margin() <= now);
        let leads = self.leads();
        let for_session = self.holding().is_some_and(|(session, ..)| session != OWN);
        let leader = match (valid, self.holding()) {
            // Whoever waited renews less often, and does so now. Nobody begins what would have to end at once.
            (Some(_), Some((.., token))) if leads || !doubtful || for_session => Some((self.me.node, token)),
            _ => self.led_by_another(now),
        };
        let mine = leader.is_some_and(|(leader, _)| leader == self.me.node);
        if !mine {
            self.gives_way = None;
        }
        let before = core::mem::replace(&mut self.shown, leader);
        if before != leader {
            let token = leader.or(before).map_or(Token::default(), |(_, token)| token);
            let leader = leader.map(|(node, _)| node);
            if leader.is_none()
                && before.is_some_and(|(node, _)| node == self.me.node)
                && self.aside.is_none()
            {
                self.cause = self.lost_because();
            }
            let announced = Announcement { leader, epoch: token.0, cause: self.cause };
            self.actions.push(Action::Announce { announced, for_session: mine && for_session });
        }
        let doubtful = doubtful && leads;
        if core::mem::replace(&mut self.doubtful, doubtful) != doubtful {
            self.actions.push(Action::Doubt(doubtful));
        }
    }

    pub(super) fn show_members(&mut self) {
        let (joining, decided) = (self.coordinator.joining(), self.decided);
        let known = &self.membership;
        if known.configuration.as_ref() != self.in_force()
            || (&known.joining, known.decided) != (&joining, decided)
        {
            self.membership = Membership { configuration: self.in_force().cloned(), decided, joining };
            self.actions.push(Action::Members(Box::new(self.membership.clone())));
        }
    }

    fn lost_because(&self) -> Cause {
        match self.cause {
            handed @ (Cause::HandedOver(..) | Cause::Resigned(_)) if handed.about() == Some(self.me.node) => {
                handed
            }
            _ => Cause::Silent(self.me.node),
        }
    }

    /// As far as it was told, and not too long ago. A coordinator that is cut off goes on telling what it knows: whoever has no
    /// majority does not know whether that still holds.
    fn led_by_another(&self, now: Time) -> Option<(NodeId, Token)> {
        let Seen { grant, at, .. } = self.seen.as_ref()?;
        let holder = grant.holder.filter(|holder| holder.lease.life.node != self.me.node)?;
        let fresh = now < *at + self.config.terms.ttl * SEEN;
        let (reached, needed) = self.quorum();
        (fresh && reached >= needed).then_some((holder.lease.life.node, grant.token))
    }

    /// Why it changed, as far as this node can tell.
    pub(super) fn because(&mut self, grant: &Grant) {
        let before =
            self.seen.as_ref().and_then(|seen| seen.grant.holder).map(|holder| holder.lease.life.node);
        let now = grant.holder.map(|holder| holder.lease.life.node);
        if let Some(before) = before.filter(|before| Some(*before) != now && *before != self.me.node) {
            self.cause = match self.reached.contains(&before) {
                true => Cause::Resigned(before),
                false => Cause::Gone(before),
            };
        }
    }

    /// A session waits for what this node holds for itself.
    pub(super) fn wanted(&mut self, token: Token, by: NodeId) {
        let held = self.campaigns.holds(&Name::leader(), OWN).map(|(.., token)| token);
        if held == Some(token) && self.leads() {
            self.gives_way = Some(by);
            self.actions.push(Action::GiveWay(by));
        }
    }
}
