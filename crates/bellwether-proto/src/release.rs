//! The release of office. First the leader's work ends, then the others are told, then this node waits for the next
//! leader.
//!
//! ```text
//!   Resign, Transfer, Leave, or a member of higher priority
//!            │ Tenure::AskedBack                 refused: not the leader, nobody to follow it, …
//!            ▼
//!   the work ends (Input::Released), or has had its time: it is given up
//!            │ stand aside, or hand over
//!            ▼
//!   the next leader is announced, or has not come in time ──► the command is answered; who leaves has left
//! ```
//!
//! A member that stands aside while others lead stands again when nobody else could lead: it resigned so that another leads, not so
//! that nobody does. It stays aside only if the command said so, because nobody else could lead even then, or with
//! [`Hold::UntilTold`].
//!
//! This layer is above leadership and does not decide who leads. It makes sure that a leader that goes voluntarily does so
//! in this order, and that nobody waits for ever.

#[cfg(test)]
mod tests;

use alloc::vec::{Drain, Vec};

use crate::canonical::Form;
use crate::ident::NodeId;
use crate::leadership::{Announcement, Office, Reluctance};
use crate::tenure::{Command, Hold, Refused, Tenure, Ticket};
use crate::time::{Span, Time};

/// No more commands than this wait for the next leader. One more is answered at once, as if its time were up.
pub const WAITING_MAX: usize = 64;

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the leader's work to end. After that it is given up, and leadership is released anyway.
    pub work: Span,
    /// For the next leader.
    pub successor: Span,
    /// How long a member that resigns stays aside, unless the command says otherwise.
    pub hold: Span,
}

/// What the layer asks of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// What the program may do has changed.
    Tenure(Tenure),
    Answer(Ticket, Result<(), Refused>),
    /// The work has not ended in time.
    GiveUp,
    StandAside(Time),
    Stand,
    HandOver(NodeId),
    /// The node has left.
    Left,
}

#[derive(Clone, Debug)]
pub(crate) struct Release {
    me: NodeId,
    algorithm: &'static str,
    patience: Patience,
    tenure: Tenure,
    /// Work was begun, and is not known to have ended.
    works: bool,
    /// The leader that was announced last, while it lasts.
    leader: Option<NodeId>,
    /// If that is this node: whether one of its sessions leads, for which the node itself is like any other member.
    for_session: bool,
    /// The epoch of the last announcement.
    epoch: u64,
    /// Leadership is being given back: for what, and when the work is given up.
    pending: Option<(Then, Time)>,
    /// Leadership may end soon, without anybody asking for it: no work may begin.
    doubtful: bool,
    /// For what this node went aside the last time.
    aside: Aside,
    waiting: Vec<Waiting>,
    actions: Vec<Action>,
}

/// What a node that resigned waits for, besides the end of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aside {
    /// For a time in which nobody else can lead. If that has begun: when it has lasted for long enough.
    WhileOthersLead(Option<Time>),
    /// For nothing: it was told how long to stay aside, whoever leads.
    Regardless,
}

impl Aside {
    fn deadline(self) -> Time {
        match self {
            Self::WhileOthersLead(Some(at)) => at,
            Self::WhileOthersLead(None) | Self::Regardless => Time::NEVER,
        }
    }
}

/// What to do once leadership has been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    StandAside(Hold, Ticket),
    /// Without a ticket nobody asked for it: a member with a higher priority is there.
    HandOver(NodeId, Option<Ticket>),
    Leave,
}

impl Then {
    fn ticket(self) -> Option<Ticket> {
        match self {
            Self::StandAside(_, ticket) => Some(ticket),
            Self::HandOver(_, ticket) => ticket,
            Self::Leave => None,
        }
    }
}

/// A wait for the next leader, and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    what: Awaited,
    until: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Any next leader.
    Anybody(Ticket),
    /// That member, with an epoch above this: it may have led before.
    Successor(NodeId, u64, Option<Ticket>),
    /// Any next leader; then this node goes.
    BeforeLeaving,
}

impl Release {
    pub(crate) fn new(me: NodeId, algorithm: &'static str, patience: Patience) -> Self {
        Self {
            me,
            algorithm,
            patience,
            tenure: Tenure::None,
            works: false,
            leader: None,
            for_session: false,
            epoch: 0,
            pending: None,
            doubtful: false,
            aside: Aside::Regardless,
            waiting: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in order.
    pub(crate) fn drain(&mut self) -> Drain<'_, Action> {
        self.actions.drain(..)
    }

    pub(crate) fn deadline(&self) -> Time {
        let pending = self.pending.map_or(Time::NEVER, |(_, until)| until).min(self.aside.deadline());
        self.waiting.iter().map(|waiting| waiting.until).min().unwrap_or(Time::NEVER).min(pending)
    }

    /// The program asks for something.
    pub(crate) fn command(&mut self, now: Time, ticket: Ticket, command: Command, office: &dyn Office) {
        match command {
            Command::Leave => self.leave(now),
            // Nothing goes before leaving.
            _ if self.is_leaving() => self.refuse(ticket, Refused::Leaving),
            Command::Resign { hold } => self.resign(now, ticket, hold, office),
            Command::Stand if office.is_aside() => {
                self.actions.extend([Action::Stand, Action::Answer(ticket, Ok(()))]);
            }
            Command::Stand => self.refuse(ticket, Refused::NotAside { me: self.me }),
            Command::Transfer { to } => match office.may_hand_over(now, to) {
                Ok(()) => self.release(now, Then::HandOver(to, Some(ticket))),
                Err(why) => self.refuse(ticket, self.reluctant(to, why)),
            },
        }
    }

    /// The work that was done as the leader has ended.
    pub(crate) fn released(&mut self) {
        if !matches!(self.tenure, Tenure::Held { .. }) {
            self.works = false;
        }
    }

    /// A member of higher priority is there: give way, unless that is being done.
    pub(crate) fn yield_to(&mut self, now: Time, to: NodeId) {
        if self.pending.is_none() && !self.waits_for_successor() {
            self.begin(now, Then::HandOver(to, None));
        }
    }

    /// Leadership will end soon if nothing is renewed, or will not after all. Work ends in time, and begins again.
    pub(crate) fn doubt(&mut self, doubtful: bool) {
        self.doubtful = doubtful;
        match self.tenure {
            Tenure::Held { epoch } if doubtful => self.hold(Tenure::AskedBack { epoch }),
            Tenure::AskedBack { .. } if self.pending.is_none() && !self.waits_for_successor() => self.keep(),
            _ => {}
        }
    }

    /// The next announcement is of a session of this node, or not.
    pub(crate) fn lead_for_session(&mut self, for_session: bool) {
        self.for_session = for_session;
    }

    /// Whether the node leads for itself.
    fn leads(&self) -> bool {
        self.leader == Some(self.me) && !self.for_session
    }

    /// Another leader was announced, or that there is none. What the program may do changes with it, if it does: whoever works as
    /// the leader must not wait for what else follows from the announcement, such as a write.
    #[must_use]
    pub(crate) fn announced(&mut self, announced: Announcement) -> Option<Tenure> {
        (self.leader, self.epoch) = (announced.leader, announced.epoch);
        let epoch = announced.epoch;
        let tenure = match announced.leader {
            _ if !self.leads() => Tenure::None,
            // It is being given back: nobody is to begin anything.
            Some(_) if (self.pending.is_some() || self.doubtful) => Tenure::AskedBack { epoch },
            Some(_) => Tenure::Held { epoch },
            None => Tenure::None,
        };
        self.becomes(tenure).then_some(tenure)
    }

    /// Checks whether leadership can be released by now, and whether the awaited next leader has come.
    pub(crate) fn go_on(&mut self, now: Time, office: &dyn Office) {
        let is_given_back = self.pending.is_some();
        if let Some((then, _)) = self.pending.take_if(|(_, until)| !self.works || *until <= now) {
            if self.works {
                self.actions.push(Action::GiveUp);
            }
            self.carry_out(now, then, office);
        }
        let hand_over_ends = !self.waiting.is_empty() && self.answer(now, office);
        // If nothing came of it at all, this node leads as before, unless it gives leadership back for another reason.
        if hand_over_ends && !is_given_back {
            self.keep();
        }
        self.stand_if_nobody_else_can(now, office);
    }

    /// Not at once: a connection may be back in a moment, and whoever was told that this node is aside is to hear that before it
    /// stands.
    fn stand_if_nobody_else_can(&mut self, now: Time, office: &dyn Office) {
        let Aside::WhileOthersLead(alone) = &mut self.aside else { return };
        if !office.is_aside() || office.has_successor() {
            *alone = None;
        } else if *alone.get_or_insert(now + office.settling_time()) <= now {
            self.aside = Aside::Regardless;
            self.actions.push(Action::Stand);
        }
    }

    fn resign(&mut self, now: Time, ticket: Ticket, hold: Hold, office: &dyn Office) {
        let leads = self.leads();
        if leads && hold == Hold::Default && !office.has_successor() {
            self.refuse(ticket, Refused::NoSuccessor);
        } else if leads || office.is_aside() && self.pending.is_some() {
            self.release(now, Then::StandAside(hold, ticket));
        } else if office.is_aside() {
            // It may be told to for another while, and has nothing to end first.
            self.carry_out(now, Then::StandAside(hold, ticket), office);
        } else {
            self.refuse(ticket, Refused::NotLeader { me: self.me, leader: self.leader });
        }
    }

    /// Nothing goes before leaving.
    fn leave(&mut self, now: Time) {
        if self.is_leaving() {
            return; // The work has no more time to end because one asks again, and nobody less to follow.
        }
        self.aside = Aside::Regardless;
        let before = self.pending.take();
        if let Some(ticket) = before.and_then(|(then, _)| then.ticket()) {
            self.refuse(ticket, Refused::Leaving);
        }
        self.begin(now, Then::Leave);
    }

    /// One at a time: a second command is refused.
    fn release(&mut self, now: Time, then: Then) {
        match (self.pending, then.ticket()) {
            (None, _) => self.begin(now, then),
            (Some(_), Some(ticket)) => self.refuse(ticket, Refused::GivenBack),
            (Some(_), None) => {}
        }
    }

    fn begin(&mut self, now: Time, then: Then) {
        if let Tenure::Held { epoch } = self.tenure {
            self.hold(Tenure::AskedBack { epoch });
        }
        self.pending = Some((then, now + self.patience.work));
    }

    fn carry_out(&mut self, now: Time, then: Then, office: &dyn Office) {
        match then {
            Then::StandAside(hold, ticket) => {
                self.wait(Awaited::Anybody(ticket), now + self.patience.successor);
                self.aside = match hold {
                    Hold::Default => Aside::WhileOthersLead(None),
                    Hold::For(_) if office.has_successor() => Aside::WhileOthersLead(None),
                    Hold::For(_) | Hold::UntilTold => Aside::Regardless,
                };
                self.actions.push(Action::StandAside(match hold {
                    Hold::Default => now + self.patience.hold,
                    Hold::For(span) => now + span,
                    Hold::UntilTold => Time::NEVER,
                }));
            }
            Then::HandOver(to, ticket) => {
                // Much can have happened while the leader's work came to its end. Only a program's choice stands.
                let to = if ticket.is_none() { office.preferred(now).unwrap_or(to) } else { to };
                match office.may_hand_over(now, to) {
                    Ok(()) => {
                        let successor = Awaited::Successor(to, office.largest_epoch(), ticket);
                        self.wait(successor, now + self.patience.successor);
                        self.actions.push(Action::HandOver(to));
                    }
                    Err(why) => {
                        self.keep();
                        ticket.into_iter().for_each(|ticket| self.refuse(ticket, self.reluctant(to, why)));
                    }
                }
            }
            Then::Leave => {
                // Only a leader has anything to hand over.
                let leads = self.leads();
                let until = if leads { now + self.patience.successor } else { now };
                self.wait(Awaited::BeforeLeaving, until);
                self.actions.push(Action::StandAside(Time::NEVER));
            }
        }
    }

    fn wait(&mut self, what: Awaited, until: Time) {
        let until = if self.waiting.len() < WAITING_MAX { until } else { Time::ZERO };
        self.waiting.push(Waiting { what, until });
    }

    /// Ends the waits whose leader has come, or whose time is over. Whether one for a hand-over is among them.
    fn answer(&mut self, now: Time, office: &dyn Office) -> bool {
        let next = self.leader.filter(|_| !self.leads()).map(|leader| (leader, self.epoch));
        // Whoever is alone waits for nobody, but it has ceased to lead before it says so.
        let alone = office.is_alone() && !self.leads();
        let over = |waiting: &mut Waiting| waiting.until <= now || waiting.what.has_come(next, alone);
        let over: Vec<_> = self.waiting.extract_if(.., over).collect();
        for Waiting { what, .. } in &over {
            match *what {
                Awaited::Anybody(ticket) => self.actions.push(Action::Answer(ticket, Ok(()))),
                Awaited::Successor(to, _, ticket) => {
                    let came = what.has_come(next, alone);
                    let taken = if came { Ok(()) } else { Err(Refused::NotTaken { to }) };
                    self.actions.extend(ticket.map(|ticket| Action::Answer(ticket, taken)));
                }
                Awaited::BeforeLeaving => self.actions.push(Action::Left),
            }
        }
        over.iter().any(|waiting| matches!(waiting.what, Awaited::Successor(..)))
    }

    /// Whether the node was asked to leave: it ends what it has to, or waits for the next leader.
    fn is_leaving(&self) -> bool {
        let waits = || self.waiting.iter().any(|waiting| waiting.what == Awaited::BeforeLeaving);
        matches!(self.pending, Some((Then::Leave, _))) || waits()
    }

    fn waits_for_successor(&self) -> bool {
        self.waiting.iter().any(|waiting| matches!(waiting.what, Awaited::Successor(..)))
    }

    /// Leadership stays here after all.
    fn keep(&mut self) {
        if let Tenure::AskedBack { epoch } = self.tenure
            && !self.doubtful
        {
            self.hold(Tenure::Held { epoch });
        }
    }

    fn hold(&mut self, tenure: Tenure) {
        if self.becomes(tenure) {
            self.actions.push(Action::Tenure(tenure));
        }
    }

    /// Whether that is another tenure than before.
    fn becomes(&mut self, tenure: Tenure) -> bool {
        self.works |= matches!(tenure, Tenure::Held { .. });
        core::mem::replace(&mut self.tenure, tenure) != tenure
    }

    fn refuse(&mut self, ticket: Ticket, why: Refused) {
        self.actions.push(Action::Answer(ticket, Err(why)));
    }

    fn reluctant(&self, to: NodeId, why: Reluctance) -> Refused {
        match why {
            Reluctance::NotLeading => Refused::NotLeader { me: self.me, leader: self.leader },
            Reluctance::Algorithm => Refused::FixedPriorities { algorithm: self.algorithm },
            Reluctance::LeadsAlready
            | Reluctance::NotConnected
            | Reluctance::StandsAside
            | Reluctance::Silent => Refused::HandOver { to, why },
        }
    }

    /// What must be true of every state.
    pub(crate) fn breach(&self) -> Option<&'static str> {
        let leads = self.leads();
        if leads == (self.tenure == Tenure::None) {
            return Some("the announced leader has a tenure, and nobody else has");
        }
        if self.pending.is_some() && matches!(self.tenure, Tenure::Held { .. }) {
            return Some("leadership that is being released has been asked back");
        }
        if matches!(self.tenure, Tenure::AskedBack { .. })
            && self.pending.is_none()
            && self.waiting.is_empty()
            && !self.doubtful
        {
            return Some("what was asked back is given back, or kept");
        }
        if self.is_leaving() && matches!(self.tenure, Tenure::Held { .. }) {
            return Some("whoever leaves begins no work");
        }
        (self.waiting.len() > WAITING_MAX + 1).then_some("too many commands wait")
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        match self.tenure {
            Tenure::None => form.number(0),
            Tenure::Held { epoch } => {
                form.number(1);
                form.epoch(epoch);
            }
            Tenure::AskedBack { epoch } => {
                form.number(2);
                form.epoch(epoch);
            }
        }
        form.number(u64::from(self.works));
        form.option(self.leader, Form::node);
        form.option(self.pending, |form, (then, until)| {
            then.canonical(form);
            form.deadline(now, until);
        });
        form.number(u64::from(self.doubtful));
        form.number(u64::from(self.aside != Aside::Regardless));
        form.deadline(now, self.aside.deadline());
        form.number(self.waiting.len() as u64);
        for Waiting { what, until } in &self.waiting {
            what.canonical(form);
            form.deadline(now, *until);
        }
        if self.waits_for_successor() {
            form.epoch(self.epoch);
        }
    }
}

impl Then {
    fn canonical(self, form: &mut Form) {
        match self {
            Self::StandAside(hold, _) => {
                form.number(0);
                form.number(match hold {
                    Hold::Default => 0,
                    Hold::UntilTold => 1,
                    Hold::For(span) => 2 + span.as_micros(),
                });
            }
            Self::HandOver(to, ticket) => {
                form.number(1 + u64::from(ticket.is_some()));
                form.node(to);
            }
            Self::Leave => form.number(3),
        }
    }
}

impl Awaited {
    /// The next leader, with its epoch.
    fn has_come(self, next: Option<(NodeId, u64)>, alone: bool) -> bool {
        match self {
            Self::Anybody(_) | Self::BeforeLeaving => next.is_some() || alone,
            Self::Successor(to, above, _) => next.is_some_and(|(next, epoch)| next == to && epoch > above),
        }
    }

    fn canonical(self, form: &mut Form) {
        match self {
            Self::Anybody(_) => form.number(0),
            Self::Successor(to, above, ticket) => {
                form.number(1 + u64::from(ticket.is_some()));
                form.node(to);
                form.epoch(above);
            }
            Self::BeforeLeaving => form.number(3),
        }
    }
}
