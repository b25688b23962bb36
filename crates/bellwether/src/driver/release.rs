//! Giving leadership back: first what acts as the leader stops, then the others are told, then the next leader is waited for.

use std::time::Duration;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Input;
use bellwether_proto::leadership::Reluctance;
use bellwether_proto::time::Time;
use tokio::sync::oneshot;

use super::Driver;
use crate::clock::span;
use crate::member::{Command, Ended, Hold, Refused};
use crate::status::Leader;

/// What comes of a request.
pub(crate) type Reply = oneshot::Sender<Result<(), Refused>>;

/// Leadership that is being given back, and who waits for the next.
#[derive(Default)]
pub(crate) struct Releases {
    /// What is to be done once whoever acts as the leader has stopped, which it must by then.
    pending: Option<(Then, Time)>,
    waiting: Vec<Waiting>,
}

/// What to do with leadership that has been given back.
enum Then {
    StandAside(Hold, Option<Reply>),
    HandOver(NodeId, Option<Reply>),
    Leave,
}

struct Waiting {
    for_whom: ForWhom,
    until: Time,
    reply: Reply,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ForWhom {
    /// Whoever comes next.
    Anybody,
    Him(NodeId),
    /// Anybody; then this member is done.
    BeforeLeaving,
}

impl Releases {
    pub(crate) fn deadline(&self) -> Time {
        let pending = self.pending.as_ref().map_or(Time::NEVER, |(_, until)| *until);
        self.waiting.iter().map(|waiting| waiting.until).min().unwrap_or(Time::NEVER).min(pending)
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The member has ended: dropping the replies tells those who wait.
    pub(crate) fn give_up(&mut self) {
        *self = Self::default();
    }
}

impl Driver {
    pub(super) async fn on_command(&mut self, command: Command) -> Result<(), Ended> {
        match command {
            Command::Resign { hold, reply } => self.resign(hold, reply),
            Command::Transfer { to, reply } => self.transfer(to, reply),
            Command::Stand { reply } => return self.stand(reply).await,
            Command::Leave => self.leave(),
        }
        Ok(())
    }

    /// Nothing goes before leaving.
    pub(super) fn leave(&mut self) {
        if let Some((Then::StandAside(_, Some(reply)) | Then::HandOver(_, Some(reply)), _)) =
            self.releases.pending.take()
        {
            drop(reply.send(Err(Refused::Cannot("the member is leaving".to_owned()))));
        }
        self.begin_release(Then::Leave);
    }

    fn resign(&mut self, hold: Hold, reply: Reply) {
        match self.leads() {
            Ok(()) if hold == Hold::Default && !self.node.has_successor() => {
                let why = "no other member that could lead is connected: nobody would lead; say for how long";
                drop(reply.send(Err(Refused::Cannot(why.to_owned()))));
            }
            Ok(()) => self.release(Then::StandAside(hold, Some(reply))),
            // Standing aside already, it may be told to for another while.
            Err(_) if self.node.is_aside() => self.release(Then::StandAside(hold, Some(reply))),
            Err(refused) => drop(reply.send(Err(refused))),
        }
    }

    fn transfer(&mut self, to: NodeId, reply: Reply) {
        match self.node.may_hand_over(self.clock.now(), to) {
            Ok(()) => self.release(Then::HandOver(to, Some(reply))),
            Err(why) => drop(reply.send(Err(self.reluctant(to, why)))),
        }
    }

    fn reluctant(&self, to: NodeId, why: Reluctance) -> Refused {
        Refused::Cannot(match why {
            Reluctance::NotLeading => return self.not_leader(),
            Reluctance::LeadsAlready => format!("node {to} leads already"),
            Reluctance::NotLinked => format!("node {to} is not connected"),
            Reluctance::StandsAside => format!("node {to} stands aside"),
            Reluctance::Silent => format!("node {to} is connected, but does not answer"),
            Reluctance::Algorithm => format!(
                "{} has fixed priorities: its leader cannot hand over to a node of its choice; resign instead",
                self.shared.protocol.name()
            ),
        })
    }

    async fn stand(&mut self, reply: Reply) -> Result<(), Ended> {
        if !self.node.is_aside() {
            let id = self.shared.id;
            drop(reply.send(Err(Refused::Cannot(format!("node {id} does not stand aside")))));
            return Ok(());
        }
        self.step(Input::Stand).await?;
        self.shared.known().aside = self.node.is_aside();
        drop(reply.send(Ok(())));
        Ok(())
    }

    /// A member of higher priority is there: give way, unless that is being done.
    pub(super) fn on_yield(&mut self, _now: Time, to: NodeId) {
        if self.releases.pending.is_none() {
            tracing::info!(%to, "a member of higher priority is there: handing over");
            self.release(Then::HandOver(to, None));
        }
    }

    /// One at a time: whoever comes second is told so.
    fn release(&mut self, then: Then) {
        match (&self.releases.pending, then) {
            (None, then) => self.begin_release(then),
            (Some(_), Then::StandAside(_, Some(reply)) | Then::HandOver(_, Some(reply))) => {
                let why = "leadership is being given back already";
                drop(reply.send(Err(Refused::Cannot(why.to_owned()))));
            }
            (Some(_), _) => {}
        }
    }

    fn begin_release(&mut self, then: Then) {
        self.shared.tenures.ask_back();
        self.releases.pending = Some((then, self.clock.now() + span(self.release_timeout)));
    }

    /// Looks whether leadership can be given back by now, and whether those who wait for the next leader have it.
    pub(super) async fn go_on_releasing(&mut self) -> Result<(), Ended> {
        let now = self.clock.now();
        let stopped = self.shared.tenures.is_released();
        if let Some((then, _)) = self.releases.pending.take_if(|(_, until)| stopped || *until <= now) {
            if !stopped {
                tracing::warn!(
                    "what acts as the leader has not stopped in time; leadership is given back all the same"
                );
            }
            self.carry_out(now, then).await?;
        }
        self.answer(now)
    }

    async fn carry_out(&mut self, now: Time, then: Then) -> Result<(), Ended> {
        let leads = self.leads().is_ok();
        let mut wait = |for_whom, reply: Option<Reply>, patience: Duration| {
            let until = now + span(patience);
            self.releases.waiting.extend(reply.map(|reply| Waiting { for_whom, until, reply }));
        };
        match then {
            Then::StandAside(hold, reply) => {
                wait(ForWhom::Anybody, reply, self.patience);
                let until = match hold {
                    Hold::Default => now + span(self.resign_hold),
                    Hold::For(time) => now + span(time),
                    Hold::UntilTold => Time::NEVER,
                };
                self.step(Input::StandAside { until }).await
            }
            // Much can have happened while the leader's work came to its end.
            Then::HandOver(to, reply) => match self.node.may_hand_over(now, to) {
                Ok(()) => {
                    wait(ForWhom::Him(to), reply, self.patience);
                    self.step(Input::HandOver { to }).await
                }
                Err(why) => {
                    self.shared.tenures.leave_it();
                    let refused = self.reluctant(to, why);
                    drop(reply.map(|reply| reply.send(Err(refused))));
                    Ok(())
                }
            },
            Then::Leave => {
                let (reply, _) = oneshot::channel();
                // Only a leader has anything to hand over.
                let patience = if leads { self.patience } else { Duration::ZERO };
                wait(ForWhom::BeforeLeaving, Some(reply), patience);
                self.step(Input::StandAside { until: Time::NEVER }).await
            }
        }
    }

    fn answer(&mut self, now: Time) -> Result<(), Ended> {
        let leader = self.shared.known().leader.map(|leader: Leader| leader.id);
        let next = leader.filter(|leader| *leader != self.shared.id);
        let alone = self.linked.is_empty();
        let mut waiting = std::mem::take(&mut self.releases.waiting);
        for it in waiting.extract_if(.., |it| it.is_over(now, next, alone)) {
            let outcome = match it.for_whom {
                ForWhom::BeforeLeaving => return Err(Ended::Left),
                ForWhom::Him(to) if next != Some(to) => {
                    Err(Refused::Cannot(format!("node {to} did not take over in time")))
                }
                ForWhom::Him(_) | ForWhom::Anybody => Ok(()),
            };
            drop(it.reply.send(outcome));
        }
        self.releases.waiting = waiting;
        Ok(())
    }

    fn leads(&self) -> Result<(), Refused> {
        let leader = self.shared.known().leader;
        if leader.is_some_and(|leader| leader.id == self.shared.id) { Ok(()) } else { Err(self.not_leader()) }
    }

    fn not_leader(&self) -> Refused {
        let leader = self.shared.known().leader.map(|leader| leader.id);
        Refused::NotLeader { me: self.shared.id, leader }
    }
}

impl Waiting {
    fn is_over(&self, now: Time, next: Option<NodeId>, alone: bool) -> bool {
        let come = match self.for_whom {
            ForWhom::Anybody | ForWhom::BeforeLeaving => next.is_some() || alone,
            ForWhom::Him(to) => next == Some(to),
        };
        come || self.until <= now
    }
}
