//! The layer of a node: its voter, its part as a coordinator, its lease, and what it would hold. The node's own leadership of the
//! cluster is the election named `leader`.

mod known;
mod memory;
mod office;
mod orders;
mod parcels;
mod showing;
mod vote;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use super::campaigns::{CampaignAction, Campaigns, OWN};
use super::configuration::{Address, Configuration};
use super::coordinator::{Coordinator, CoordinatorAction};
use super::grant::{Grant, GrantKind, Name, Token};
use super::ident::{Lease, Life, LifeId, Stamp};
use super::membership::{MemberChange, Membership, Unchanged};
use super::message::{Answer, Ask, Asked, ExclusiveMsg, Objection, Parcel, Said, Telling};
use super::order::{Candidacy, Declined, News};
use super::petition::{Outcome, Petition};
use super::tenant::{Tenant, TenantAction};
use super::terms::Terms;
use super::voter::{Change, Voter, VoterAction, VoterKept};
use crate::cause::Cause;
use crate::ident::{Incarnation, NodeId};
use crate::leadership::{Announcement, Bar, Reception};
use crate::time::{Span, Time};
use known::Known;
use memory::Memory;
use orders::Orders;

pub use vote::Vote;

/// What was told of the leader counts for so many ttls, if nothing more is told.
const SEEN: u64 = 2;

/// What an owner chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExclusiveConfig {
    /// Drawn at random at the start of the process.
    pub life: LifeId,
    /// All members.
    pub members: Vec<NodeId>,
    /// Those of them that vote at first, and where each is met. Once a cluster is founded, what its voters keep counts instead.
    pub voters: BTreeMap<NodeId, Address>,
    /// Those that never lead.
    pub witnesses: BTreeSet<NodeId>,
    /// What makes a leadership valid.
    pub kind: GrantKind,
    /// How long leases last.
    pub terms: Terms,
    /// Higher goes first, of those that wait.
    pub priority: u32,
    /// What the disk holds of this node's votes, if it votes.
    pub kept: Option<VoterKept>,
}

/// What was told of the leader.
#[derive(Clone, Debug)]
struct Seen {
    stamp: Stamp,
    grant: Arc<Grant>,
    /// How many others would lead.
    waiting: u32,
    at: Time,
}

/// What the layer asks of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Send(NodeId, Box<ExclusiveMsg>),
    /// Have this on stable storage, after all before it.
    Keep(Change),
    /// The leader changed. If it is this node, it may be for one of its sessions, and then nobody works for the node itself.
    Announce {
        announced: Announcement,
        for_session: bool,
    },
    /// This node leads for itself, and a session waits: it gives way to that member's.
    GiveWay(NodeId),
    /// This node holds the leadership with that token until then.
    Valid(Token, Time),
    /// As a coordinator it has learnt that this is decided.
    Decided(Stamp, Arc<Grant>),
    /// Whether validity is about to end, so that work must.
    Doubt(bool),
    /// A voter knows a later incarnation of this node.
    Outlived(Incarnation),
    /// Who votes changed, or who is to be met.
    Members(Box<Membership>),
    /// Something about named elections.
    News(Box<News>),
    /// What became of an order with that number.
    Answered(u64, Result<(), Declined>),
    /// What became of a change of the voters that was asked for with that number.
    Changed(u64, Result<(), Unchanged>),
}

/// Exclusive leadership, as one node takes part in it.
#[derive(Clone, Debug)]
pub(crate) struct Exclusive {
    me: Life,
    config: ExclusiveConfig,
    /// The newest that voters have shown, or a coordinator has told. Whatever counts, counts by it.
    configuration: Option<(Stamp, Configuration)>,
    /// The number of the latest that a coordinator has told.
    decided: u64,
    petition: Petition,
    /// What the driver knows of the members.
    membership: Membership,
    voter: Option<Voter>,
    coordinator: Coordinator,
    tenant: Tenant,
    campaigns: Campaigns,
    orders: Orders,
    known: Known,
    memory: Memory,
    /// Through whom a session would lead, for which this node gives way.
    gives_way: Option<NodeId>,
    /// Whom the election names.
    nominee: Option<NodeId>,
    /// Who can be spoken with.
    reached: BTreeSet<NodeId>,
    /// How peers receive this node.
    reception: Reception,
    /// What was told last of the leader.
    seen: Option<Seen>,
    /// Until when this node does not stand.
    aside: Option<Time>,
    shown: Option<(NodeId, Token)>,
    /// Why nobody, or this one, leads.
    cause: Cause,
    doubtful: bool,
    /// What it says to itself.
    local: VecDeque<ExclusiveMsg>,
    actions: Vec<Action>,
}

impl Exclusive {
    pub(crate) fn new(me: NodeId, incarnation: Incarnation, config: ExclusiveConfig, now: Time) -> Self {
        let me = Life { node: me, incarnation, id: config.life };
        let (voters, terms) = (config.voters.clone(), config.terms);
        let (listed, kept) = (voters.keys().copied().collect(), config.kept.clone());
        Self {
            me,
            configuration: None,
            decided: 0,
            petition: Petition::default(),
            membership: Membership::default(),
            voter: kept.map(|kept| Voter::new(me.node, listed, kept, terms, now)),
            coordinator: Coordinator::new(me, voters, terms),
            tenant: Tenant::new(me, terms),
            campaigns: Campaigns::new(terms),
            orders: Orders::default(),
            known: Known::default(),
            memory: Memory::default(),
            gives_way: None,
            nominee: None,
            reached: BTreeSet::new(),
            reception: Reception::default(),
            seen: None,
            aside: None,
            shown: None,
            cause: Cause::Started,
            doubtful: false,
            local: VecDeque::new(),
            actions: Vec::new(),
            config,
        }
    }

    pub(crate) fn drain(&mut self) -> Drain<'_, Action> {
        parcels::pack(&mut self.actions);
        self.actions.drain(..)
    }

    /// The node is up.
    pub(crate) fn start(&mut self, now: Time) {
        self.stand(now);
    }

    pub(crate) fn deadline(&self) -> Time {
        let parts = self.coordinator.deadline().min(self.tenant.deadline()).min(self.campaigns.deadline());
        let parts =
            parts.min(self.petition.deadline()).min(self.orders.deadline()).min(self.known.deadline());
        parts.min(self.forgets_at()).min(self.doubts_at()).min(self.aside.unwrap_or(Time::NEVER))
    }

    pub(crate) fn wake(&mut self, now: Time) {
        if self.aside.is_some_and(|until| until <= now) {
            self.stand(now);
        }
        self.tenant.wake(now);
        self.coordinator.wake(now);
        let late = self.petition.expire(now);
        self.answer(late);
        self.go_on(now);
    }

    /// A message of that incarnation of a node has come.
    pub(crate) fn handle(&mut self, now: Time, from: (NodeId, Incarnation), msg: ExclusiveMsg) {
        match msg {
            ExclusiveMsg::Many(Parcel { asks, answers, wishes, tellings }) => {
                asks.into_iter().for_each(|asked| self.take(now, from, ExclusiveMsg::Ask(asked)));
                answers.into_iter().for_each(|said| self.take(now, from, ExclusiveMsg::Answer(said)));
                wishes.into_iter().for_each(|wish| self.take(now, from, ExclusiveMsg::Wish(wish)));
                tellings.into_iter().for_each(|telling| self.take(now, from, ExclusiveMsg::Tell(telling)));
            }
            msg => self.take(now, from, msg),
        }
        self.go_on(now);
    }

    /// So many changes of what the voter keeps are on stable storage.
    pub(crate) fn kept(&mut self, now: Time, commits: u64) {
        if let Some(voter) = &mut self.voter {
            voter.written(commits);
        }
        self.go_on(now);
    }

    /// The election names another.
    pub(crate) fn nominate(&mut self, now: Time, named: Option<NodeId>) {
        self.nominee = named;
        self.coordinator.nominate(now, named == Some(self.me.node));
        self.campaigns.say_again(now);
        self.petition.hurry(now);
        self.hurry_orders(now);
        self.list_anew(now);
        self.go_on(now);
    }

    /// A program asks this member for a change of the voters.
    pub(crate) fn change(&mut self, now: Time, no: u64, change: MemberChange) {
        let (reachable, needed) = self.quorum();
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        let rescues = matches!(change, MemberChange::Rescue { .. });
        if self.petition.is_open() {
            self.answer(Some((no, Err(Unchanged::Unsettled))));
        } else if let Some(node) = self.stranger_in(&change) {
            self.answer(Some((no, Err(Unchanged::SurvivorMissing { node }))));
        } else if reachable < needed && !rescues {
            let (reachable, needed) = (count(reachable), count(needed));
            self.answer(Some((no, Err(Unchanged::NoMajority { reachable, needed }))));
        } else {
            let since = self.in_force().map_or(0, |in_force| in_force.number);
            self.petition.ask(now, no, change, since, &self.config.terms);
        }
        self.go_on(now);
    }

    /// One that is said to have survived, and does not vote. Others would not read a longer list than there are voters.
    fn stranger_in(&self, change: &MemberChange) -> Option<NodeId> {
        let MemberChange::Rescue { survivors } = change else { return None };
        let votes = |node: &&NodeId| self.in_force().is_some_and(|by| by.voters.contains_key(*node));
        survivors.iter().find(|node| !votes(node)).copied()
    }

    /// Who votes, and who is to be met.
    pub(crate) fn membership(&self) -> &Membership {
        &self.membership
    }

    fn answer(&mut self, outcome: Option<Outcome>) {
        self.actions.extend(outcome.map(|(no, outcome)| Action::Changed(no, outcome)));
    }

    /// A peer can be spoken with, or not any more.
    pub(crate) fn reach(&mut self, now: Time, peer: NodeId, reached: bool) {
        if reached {
            self.reached.insert(peer);
        } else {
            self.reached.remove(&peer);
        }
        self.coordinator.reaches(now, peer, reached);
        if reached && self.nominee == Some(peer) {
            self.campaigns.say_again(now);
        }
        self.go_on(now);
    }

    /// The driver has found out more about how peers receive this node.
    pub(crate) fn receive(&mut self, reception: Reception) {
        self.reception = reception;
    }

    /// Why nobody is named: peers answer this node, and refuse it. What it would lead with is granted by a majority, so it need not
    /// be kept from leading.
    pub(crate) fn bar(&self) -> Option<Bar> {
        let refusing = Reception { unheard: 0, ..self.reception };
        Bar::of(refusing, self.reached.len(), 0).filter(|_| self.shown.is_none())
    }

    /// The node begins another incarnation because peers knew a later one.
    pub(crate) fn raise(&mut self, now: Time, incarnation: Incarnation) {
        self.me.incarnation = incarnation;
        self.tenant.reborn(now, self.me);
        self.coordinator.reborn(now, self.me);
        self.go_on(now);
    }

    /// Does not stand until then.
    pub(crate) fn stand_aside(&mut self, now: Time, until: Time) {
        self.aside = Some(until);
        self.give_back(now, None);
    }

    /// Stands for the leadership, unless it is a witness.
    pub(crate) fn stand(&mut self, now: Time) {
        self.aside = None;
        if !self.config.witnesses.contains(&self.me.node) {
            let (kind, priority) = (self.config.kind, self.config.priority);
            let candidacy = Candidacy { kind, priority, value: Arc::default(), adopts: None };
            self.campaigns.campaign(now, Name::leader(), OWN, candidacy);
        }
        self.go_on(now);
    }

    /// Gives the leadership to that member, if it would have it, and stands again after it.
    pub(crate) fn hand_over(&mut self, now: Time, to: NodeId) {
        self.give_back(now, Some(to));
    }

    /// Until when what it holds is valid, if it holds the leadership.
    pub(crate) fn valid_until(&self) -> Option<Time> {
        match self.holding()? {
            (_, GrantKind::Token, ..) => Some(Time::NEVER),
            (_, GrantKind::Lease, lease, _) => {
                self.tenant.valid_until().filter(|_| lease == self.tenant.lease())
            }
        }
    }

    /// For which session this node holds the leadership: of which kind, by which lease, with which token.
    fn holding(&self) -> Option<(u64, GrantKind, Lease, Token)> {
        let session = self.campaigns.holder(&Name::leader())?;
        let (kind, lease, token) = self.campaigns.holds(&Name::leader(), session)?;
        Some((session, kind, lease, token))
    }

    /// How many voters can be spoken with, of how many that are needed; itself included.
    pub(crate) fn quorum(&self) -> (usize, usize) {
        let reaches = |voter: NodeId| voter == self.me.node || self.reached.contains(&voter);
        match self.in_force() {
            Some(configuration) => configuration.quorum(reaches),
            None => {
                let listed = &self.config.voters;
                // Who was told of a leader knows that there was a whole cluster once.
                let needed = if self.seen.is_some() { listed.len() / 2 + 1 } else { listed.len() };
                (listed.keys().filter(|voter| reaches(**voter)).count(), needed)
            }
        }
    }

    /// The voters in force, as far as this node knows: from others, or from its own disk.
    fn in_force(&self) -> Option<&Configuration> {
        let known = self.configuration.as_ref().map(|(_, known)| known);
        known.or_else(|| self.voter.as_ref().and_then(Voter::in_force))
    }

    /// Which voters do not take the first configuration, and why.
    pub(crate) fn objections(&self) -> impl Iterator<Item = (NodeId, Objection)> {
        self.coordinator.objections().iter().map(|(voter, why)| (*voter, *why))
    }

    /// When what was told of another's leadership no longer counts.
    fn forgets_at(&self) -> Time {
        let another = self.shown.filter(|(leader, _)| *leader != self.me.node);
        let seen = self.seen.as_ref().filter(|_| another.is_some());
        seen.map_or(Time::NEVER, |seen| seen.at + self.config.terms.ttl * SEEN)
    }

    /// When work has to end, if nothing is renewed until then.
    fn doubts_at(&self) -> Time {
        let doubts = self.leads() && !self.doubtful;
        let until = self.valid_until().filter(|until| doubts && *until != Time::NEVER);
        until.map_or(Time::NEVER, |until| until - self.margin())
    }

    fn give_back(&mut self, now: Time, next: Option<NodeId>) {
        let lease = self.tenant.lease();
        if self.leads() {
            self.cause = match next {
                Some(next) => Cause::HandedOver(self.me.node, next),
                None => Cause::Resigned(self.me.node),
            };
        }
        self.campaigns.release(now, &Name::leader(), OWN, lease, next);
        self.go_on(now);
    }

    fn take(&mut self, now: Time, (from, incarnation): (NodeId, Incarnation), msg: ExclusiveMsg) {
        match msg {
            ExclusiveMsg::Ask(asked) => {
                if let Some(voter) = &mut self.voter {
                    voter.handle(now, from, asked);
                }
            }
            ExclusiveMsg::Answer(said) => self.heard(now, (from, incarnation), &said),
            // A member that is neither listed nor votes does not lead.
            ExclusiveMsg::Wish(wish) if self.knows(from) => self.coordinator.wish(now, from, wish),
            ExclusiveMsg::Wish(_) => {}
            ExclusiveMsg::Tell(telling) => self.told(now, telling),
            ExclusiveMsg::Recall(recall) => {
                if let Some(voter) = &mut self.voter {
                    voter.recall(recall);
                }
            }
            // Nobody sends one inside of another.
            ExclusiveMsg::Many(_) => {}
        }
    }

    fn heard(&mut self, now: Time, (from, incarnation): (NodeId, Incarnation), said: &Said) {
        if let Answer::Outlived { life, known } = said.answer
            && life == self.me
        {
            return self.actions.push(Action::Outlived(known));
        }
        if !self.is_credible(from, incarnation, said) {
            return;
        }
        said.configuration.iter().for_each(|(stamp, shown)| self.learn(now, *stamp, shown));
        if let Answer::Peeked { name, no, accepted } = &said.answer {
            return self.peeked((from, said.store), (name, *no), accepted.as_ref());
        }
        self.coordinator.heard(now, from, said);
        if let Some((_, configuration)) = &self.configuration {
            self.tenant.heard(now, configuration, (from, said.store), &said.answer);
        }
    }

    /// Whether it is decided or not, whoever counts by it needs a majority of those before it, too: so whoever shows it is believed.
    fn learn(&mut self, now: Time, stamp: Stamp, shown: &Configuration) {
        let known = self.configuration.as_ref().map(|(stamp, known)| (known.generation(), *stamp));
        if shown.is_founding() || known >= Some((shown.generation(), stamp)) {
            return;
        }
        let before = self.in_force().map_or(0, Configuration::generation);
        self.configuration = Some((stamp, shown.clone()));
        // Those who are lost may have buried this node's lease, and granted what it held to another.
        if shown.generation() > before {
            self.tenant.renounce(now);
        }
    }

    /// Only coordinators tell, and what they tell is decided. The latest counts.
    fn told(&mut self, now: Time, telling: Telling) {
        let lease = self.tenant.lease();
        match telling {
            Telling::Held { name, stamp, grant, waiting } => {
                if self.known.is_later(&name, stamp) {
                    return;
                }
                if name == Name::leader() {
                    self.because(&grant);
                    self.seen = Some(Seen { stamp, grant: grant.clone(), waiting, at: now });
                }
                self.campaigns.told(now, lease, &name, &grant);
                self.learn_grant(&name, stamp, grant, Some(waiting));
            }
            Telling::Gone { name, stamp } => self.learn_gone(now, &name, stamp),
            Telling::Queued { name, holder, before } => self.campaigns.queued(lease, &name, holder, before),
            Telling::Unfit { name, holder, kind } => {
                if self.campaigns.unfit(lease, &name, holder) {
                    self.news(News::Unfit { session: holder.session, name, kind });
                }
            }
            Telling::Again { to } if to == self.me => self.campaigns.say_again(now),
            Telling::Wanted { name, token, by } if name == Name::leader() => self.wanted(token, by),
            Telling::Again { .. } | Telling::Wanted { .. } => {}
            Telling::Deleted { to, no, outcome } => self.is_deleted(to, no, outcome),
            Telling::Census { digest } => self.compare(now, digest),
            Telling::Listed { after, up_to, names } => self.listed(now, after.as_ref(), up_to, &names),
            Telling::Members { stamp, configuration } => {
                self.learn(now, stamp, &configuration);
                self.decided = self.decided.max(configuration.number);
                let outcome = self.petition.told(now, &configuration, &self.config.terms);
                self.answer(outcome);
            }
            Telling::Unchanged { to, no, why } if to == self.me => {
                let outcome = self.petition.refused(no, why);
                self.answer(outcome);
            }
            Telling::Unchanged { .. } => {}
        }
    }

    /// Carries out what the parts ask for, until there is nothing left, and shows what became of it.
    fn go_on(&mut self, now: Time) {
        loop {
            self.tenant.want(now, self.campaigns.need_lease());
            self.follow_tenant(now);
            if self.campaigns.deadline() <= now {
                let (lease, valid) = (self.tenant.lease(), self.tenant.is_valid(now));
                self.campaigns.repeat(now, lease, valid, self.tenant.valid_until());
            }
            self.follow_campaigns();
            self.follow_petition(now);
            self.follow_orders(now);
            self.follow_known(now);
            self.follow_coordinator();
            self.follow_voter();
            let Some(msg) = self.local.pop_front() else { break };
            self.take(now, (self.me.node, self.me.incarnation), msg);
        }
        if self.aside.is_none() && !self.is_standing() {
            return self.stand(now); // What was handed over is over: it waits for the next time.
        }
        self.show(now);
        self.show_members();
    }

    fn is_standing(&self) -> bool {
        self.config.witnesses.contains(&self.me.node) || self.campaigns.has(&Name::leader(), OWN)
    }

    fn follow_tenant(&mut self, now: Time) {
        let actions: Vec<TenantAction> = self.tenant.drain().collect();
        for action in actions {
            match action {
                TenantAction::Ask(ask) => {
                    // The coordinator most often votes, too: what it is told goes with the renewal.
                    if let Ask::Renew { .. } = ask {
                        self.campaigns.hurry(now);
                    }
                    self.ask_voters(&ask);
                }
                TenantAction::AskEnough(ask) => {
                    self.campaigns.hurry(now);
                    let by = self.me;
                    for voter in self.enough() {
                        self.send(voter, ExclusiveMsg::Ask(Asked { by, ask: ask.clone() }));
                    }
                }
                TenantAction::Valid(until) => {
                    self.news(News::Valid(Some(until)));
                    if let Some((_, GrantKind::Lease, _, token)) = self.holding() {
                        self.actions.push(Action::Valid(token, until));
                    }
                    self.campaigns.valid(now);
                }
                TenantAction::Lapsed => self.news(News::Valid(None)),
                TenantAction::Died(lease) => self.campaigns.died(now, lease),
            }
        }
    }

    fn follow_campaigns(&mut self) {
        let actions: Vec<CampaignAction> = self.campaigns.drain().collect();
        for action in actions {
            match action {
                CampaignAction::Wish(wish) => {
                    if let Some(nominee) = self.nominee {
                        self.send(nominee, ExclusiveMsg::Wish(wish));
                    }
                }
                CampaignAction::Held(session, name, token) => {
                    if name == Name::leader() {
                        let until = self.valid_until().unwrap_or(Time::ZERO);
                        self.actions.push(Action::Valid(token, until));
                    }
                    self.tell_session(session, |session| News::Holds { session, name, token });
                }
                CampaignAction::Lost(session, name, why) => {
                    self.proclaims_no_more(session, &name);
                    self.tell_session(session, |session| News::Lost { session, name, why });
                }
                CampaignAction::Waits(session, name, before) => {
                    self.tell_session(session, |session| News::Waits { session, name, before });
                }
                CampaignAction::Over(session, name) => self.is_over(session, name),
                CampaignAction::Proclaimed(session, name) => self.is_proclaimed(session, &name),
            }
        }
    }

    /// What the node wants for itself its programs hear of as leadership.
    fn tell_session(&mut self, session: u64, news: impl FnOnce(u64) -> News) {
        if session != OWN {
            self.news(news(session));
        }
    }

    fn follow_coordinator(&mut self) {
        let actions: Vec<CoordinatorAction> = self.coordinator.drain().collect();
        for action in actions {
            match action {
                CoordinatorAction::Ask(voter, asked) => self.send(voter, ExclusiveMsg::Ask(asked)),
                CoordinatorAction::Answer(asker, telling) => self.send(asker, ExclusiveMsg::Tell(telling)),
                CoordinatorAction::Tell(telling) => {
                    if let Telling::Held { name, stamp, grant, .. } = &telling
                        && *name == Name::leader()
                        && self.seen.as_ref().is_none_or(|seen| seen.stamp < *stamp)
                    {
                        self.actions.push(Action::Decided(*stamp, grant.clone()));
                    }
                    for member in self.known() {
                        self.send(member, ExclusiveMsg::Tell(telling.clone()));
                    }
                }
            }
        }
    }

    /// Those that the file lists, and those that vote by now.
    fn known(&self) -> BTreeSet<NodeId> {
        let voters = self.in_force().map(Configuration::asked).unwrap_or_default();
        self.config.members.iter().copied().chain(voters).collect()
    }

    fn knows(&self, member: NodeId) -> bool {
        let votes = |by: &Configuration| by.asked().contains(&member);
        self.config.members.contains(&member) || self.in_force().is_some_and(votes)
    }

    fn follow_petition(&mut self, now: Time) {
        let wish = self.petition.repeat(now, self.me, &self.config.terms);
        if let (Some(wish), Some(nominee)) = (wish, self.nominee) {
            self.send(nominee, ExclusiveMsg::Wish(wish));
        }
    }

    fn follow_voter(&mut self) {
        let Some(voter) = &mut self.voter else { return };
        let actions: Vec<VoterAction> = voter.drain().collect();
        for action in actions {
            match action {
                VoterAction::Keep(change) => self.actions.push(Action::Keep(change)),
                VoterAction::Answer(to, said) => self.send(to, ExclusiveMsg::Answer(*said)),
            }
        }
    }

    /// So many voters that can be spoken with that no more are needed: this node, the nominee, and others, beginning with the next, so
    /// that not all ask the same. While a change is not settled, all.
    fn enough(&self) -> Vec<NodeId> {
        let Some(by) = self.in_force() else { return self.config.voters.keys().copied().collect() };
        let (_, needed) = by.quorum(|_| true);
        let rank = |voter: &NodeId| match *voter {
            me if me == self.me.node => (0, false, me),
            named if Some(named) == self.nominee => (1, false, named),
            other => (2, other < self.me.node, other),
        };
        let reached = |voter: &NodeId| *voter == self.me.node || self.reached.contains(voter);
        let mut voters: Vec<NodeId> = by.asked().into_iter().filter(reached).collect();
        voters.sort_unstable_by_key(rank);
        voters.truncate(if by.is_settled() { needed } else { usize::MAX });
        voters
    }

    fn ask_voters(&mut self, ask: &Ask) {
        let voters: BTreeSet<NodeId> = match &self.configuration {
            Some((_, configuration)) => configuration.asked(),
            None => self.config.voters.keys().copied().collect(),
        };
        let by = self.me;
        voters
            .into_iter()
            .for_each(|voter| self.send(voter, ExclusiveMsg::Ask(Asked { by, ask: ask.clone() })));
    }

    fn send(&mut self, to: NodeId, msg: ExclusiveMsg) {
        if to == self.me.node {
            self.local.push_back(msg);
        } else {
            self.actions.push(Action::Send(to, Box::new(msg)));
        }
    }

    /// Whether this node shows that it leads.
    fn leads(&self) -> bool {
        self.shown.is_some_and(|(leader, _)| leader == self.me.node)
    }

    /// Work is told to end so long before validity does.
    fn margin(&self) -> Span {
        self.config.terms.ttl * 2 / Terms::RENEWALS
    }
}
