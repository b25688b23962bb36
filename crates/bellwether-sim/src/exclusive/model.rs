//! The machines, and what is between them.

use std::sync::Arc;

use bellwether_proto::exclusive::configuration::{Address, Votes};
use bellwether_proto::exclusive::grant::{Accepted, Content, Name};
use bellwether_proto::exclusive::ident::StoreId;
use bellwether_proto::exclusive::membership::MemberChange;
use bellwether_proto::exclusive::message::{ExclusiveMsg, Wish};
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Time;

use super::agents::AgentProcess;
use super::coordinators::{CoordinatorProcess, life_of};
use super::holders::{self, Holding};
use super::ledger::Ledger;
use super::meddle::Meddle;
use super::net::{Envelope, Net};
use super::post::{Post, Seen};
use super::promise::Breach;
use super::setting::{Budget, Copies, Role, Setting};
use super::shared::{Bytes, Shared};
use super::sights::Sights;
use super::step::Step;
use super::voters::{VoterProcess, first_configuration};

/// Whoever asks for changes of the voters. It is no part of the model.
const ASKER: usize = 9;

/// A state.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) setting: Arc<Setting>,
    /// Microseconds since it began.
    pub(super) elapsed: u64,
    pub(super) voters: Vec<Shared<VoterProcess>>,
    pub(super) coordinators: Vec<Shared<CoordinatorProcess>>,
    pub(super) agents: Vec<Shared<AgentProcess>>,
    pub(super) net: Net,
    pub(super) ledger: Shared<Ledger>,
    pub(super) left: Budget,
}

/// What steps need, and no state keeps.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) bytes: Bytes,
    post: Post,
    holdings: Vec<Holding>,
    pub(super) sights: Sights,
}

impl Model {
    /// The first state.
    pub(super) fn new(setting: Arc<Setting>, meddle: &dyn Meddle, scratch: &mut Scratch) -> Self {
        let ledger =
            if setting.founded { Ledger::founded(first_configuration(&setting)) } else { Ledger::default() };
        let mut model = Self {
            elapsed: 0,
            voters: Vec::new(),
            coordinators: Vec::new(),
            agents: Vec::new(),
            net: Net::default(),
            ledger: Shared::new(ledger),
            left: setting.budget,
            setting: Arc::clone(&setting),
        };
        let voter = |index| VoterProcess::new(&setting, index, model.now(Role::Voter(index)));
        let voters: Vec<_> = (0..setting.stores()).map(voter).map(Shared::new).collect();
        let post = &mut scratch.post;
        let mut coordinator =
            |index| CoordinatorProcess::new(&setting, index, model.now(Role::Coordinator(index)), post);
        let coordinators: Vec<_> = (0..setting.coordinators).map(&mut coordinator).map(Shared::new).collect();
        let mut agents: Vec<_> =
            (0..setting.agents).map(|index| AgentProcess::new(&setting, index)).collect();
        if setting.eager {
            for (index, agent) in agents.iter_mut().enumerate() {
                let now = model.now(Role::Agent(index));
                (0..setting.names.len()).for_each(|name| agent.campaigns(&setting, now, name, post));
            }
        }
        (model.voters, model.coordinators) = (voters, coordinators);
        model.agents = agents.into_iter().map(Shared::new).collect();
        for (from, ask) in &setting.asked {
            let by = life_of(*from, 1, Incarnation(1));
            (0..setting.voters).for_each(|voter| scratch.post.ask(by, Setting::voter(voter), ask.clone()));
        }
        let sent = model.carry_out(meddle, scratch);
        debug_assert!(sent.is_ok(), "nothing is judged before the first step");
        model.has_been(meddle, scratch);
        model
    }

    /// What happened before the first step. Messages arrived once then, and none is left.
    fn has_been(&mut self, meddle: &dyn Meddle, scratch: &mut Scratch) {
        let setting = Arc::clone(&self.setting);
        if setting.before.is_empty() {
            return;
        }
        let budget = Budget { deletions: u32::MAX, lists: u32::MAX, ..Budget::UNBOUNDED };
        self.setting = Arc::new(Setting { copies: Copies::Few, budget, ..(*setting).clone() });
        self.left = budget;
        for lull in &setting.before {
            let passed = self.rests(lull, &mut |model: &mut Self, step| model.take(step, meddle, scratch));
            debug_assert!(passed.is_ok(), "a search begins where nothing is broken");
        }
        (self.left, self.setting, self.net) = (setting.budget, setting, Net::default());
    }

    /// What a voter keeps, in memory.
    pub fn kept(&self, voter: usize) -> &VoterKept {
        self.voters[voter].kept()
    }

    /// The id of a voter's store.
    pub fn store(&self, voter: usize) -> StoreId {
        self.voters[voter].store()
    }

    /// Meddles with a voter's disk. Whatever was to be written is, and the voter restarts with what it finds then, as if it had
    /// done so long ago: no timer runs.
    pub fn rewrite(&mut self, voter: usize, change: impl FnOnce(&mut VoterKept)) {
        let setting = Arc::clone(&self.setting);
        let process = self.voters[voter].change();
        let mut post = Post::default();
        process.writes(usize::MAX, &mut post);
        change(process.disk_mut());
        process.restarts(&setting, Time::ZERO);
        // What it would have said is lost. What it broke so far is told when more is broken.
        post.seen.drain(..).for_each(|seen| drop(self.judge_seen(seen, &mut Sights::default())));
    }

    /// The number of the last renewal that an agent sent.
    pub fn last_renewal(&self, agent: NodeId) -> u64 {
        match Role::of(agent) {
            Role::Agent(index) => self.agents[index].last_renewal(),
            Role::Voter(_) | Role::Coordinator(_) => 0,
        }
    }

    /// What a process takes the time to be.
    pub(super) fn now(&self, role: Role) -> Time {
        let process = match role {
            Role::Voter(index) => index,
            Role::Coordinator(index) => self.setting.stores() + index,
            Role::Agent(index) => self.setting.stores() + self.setting.coordinators + index,
        };
        self.setting.clocks.shows(process, self.elapsed)
    }

    /// The same for states that behave alike.
    pub(super) fn fingerprint(&mut self, scratch: &mut Bytes) -> u64 {
        let mut parts = [0; 16];
        let mut at = 0;
        let mut part = |print| {
            parts[at] = print;
            at += 1;
        };
        part(self.elapsed);
        part(self.net.fingerprint());
        self.voters.iter_mut().for_each(|voter| part(voter.fingerprint(scratch)));
        self.coordinators.iter_mut().for_each(|coordinator| part(coordinator.fingerprint(scratch)));
        self.agents.iter_mut().for_each(|agent| part(agent.fingerprint(scratch)));
        part(self.ledger.fingerprint(scratch));
        scratch.fingerprint(&(parts, self.left))
    }

    /// Takes a step. What it breaks, if anything.
    pub(super) fn take(
        &mut self,
        step: Step,
        meddle: &dyn Meddle,
        scratch: &mut Scratch,
    ) -> Result<(), Breach> {
        let setting = Arc::clone(&self.setting);
        let (setting, post) = (&*setting, &mut scratch.post);
        let acts = (setting.copies == Copies::Any).then(|| self.acting(step)).flatten();
        match step {
            Step::Deliver(at) => {
                let envelope = match setting.copies {
                    Copies::Few => self.net.take(at),
                    Copies::Any => self.net.get(at).clone(),
                };
                self.deliver(setting, envelope, meddle, post);
            }
            Step::Duplicate(at) => {
                self.left.duplicates -= 1;
                let envelope = self.net.get(at).clone();
                self.deliver(setting, envelope, meddle, post);
            }
            Step::Lose(at) => drop(self.net.take(at)),
            Step::Tick => self.tick(setting),
            Step::WakeCoordinator(index) => {
                let now = self.now(Role::Coordinator(index));
                self.coordinators[index].change().wakes(setting, now, post);
            }
            Step::WakeAgent(index) => {
                let now = self.now(Role::Agent(index));
                self.agents[index].change().wakes(setting, now, post);
            }
            Step::Write(index) => self.voters[index].change().writes(1, post),
            Step::WriteAll(index) => self.voters[index].change().writes(usize::MAX, post),
            Step::RestartVoter(_)
            | Step::Amnesia(_)
            | Step::RestartCoordinator(_)
            | Step::ForgetCoordinator(_)
            | Step::RestartAgent(_)
            | Step::ForgetAgent(_) => {
                scratch.sights.restarts += 1;
                self.restart(setting, step, meddle, post);
            }
            Step::Campaign(..) | Step::Release(..) | Step::Transfer(..) => self.command(setting, step, post),
            Step::Delete(agent, name) => {
                self.left.deletions -= 1;
                self.agents[agent].deletes(setting, name, self.left.deletions.into(), post);
            }
            Step::List(agent) => {
                self.left.lists -= 1;
                self.agents[agent].lists(setting, post);
            }
            Step::Part(coordinator, agent) => {
                self.left.partings -= 1;
                self.reach(setting, coordinator, agent, false, post);
            }
            Step::Meet(coordinator, agent) => self.reach(setting, coordinator, agent, true, post),
            Step::Change(coordinator, voter) => self.change_members(setting, coordinator, voter, post),
        }
        acts.into_iter().for_each(|node| self.prune(node));
        self.carry_out(meddle, scratch)
    }

    /// Who may stop heeding something.
    fn acting(&self, step: Step) -> Option<NodeId> {
        match step {
            Step::Deliver(at) | Step::Duplicate(at) => Some(self.net.get(at).to),
            Step::WakeCoordinator(index)
            | Step::RestartCoordinator(index)
            | Step::ForgetCoordinator(index)
            | Step::Part(index, _)
            | Step::Meet(index, _)
            | Step::Change(index, _) => Some(Setting::coordinator(index)),
            Step::WakeAgent(index)
            | Step::RestartAgent(index)
            | Step::ForgetAgent(index)
            | Step::Campaign(index, _)
            | Step::Release(index, _)
            | Step::Transfer(index, _)
            | Step::Delete(index, _)
            | Step::List(index) => Some(Setting::agent(index)),
            Step::Lose(_)
            | Step::Tick
            | Step::Write(_)
            | Step::WriteAll(_)
            | Step::RestartVoter(_)
            | Step::Amnesia(_) => None,
        }
    }

    fn tick(&mut self, setting: &Setting) {
        self.left.ticks -= 1;
        self.elapsed += setting.tick.as_micros();
        for index in 0..self.agents.len() {
            let now = self.now(Role::Agent(index));
            if self.agents[index].remembers() {
                self.agents[index].change().forgets(now);
            }
        }
    }

    pub(super) fn deliver(
        &mut self,
        setting: &Setting,
        envelope: Envelope,
        meddle: &dyn Meddle,
        post: &mut Post,
    ) {
        if let Some(instead) = meddle.answers(self, &envelope) {
            return post.envelopes.extend(instead);
        }
        let role = Role::of(envelope.to);
        let now = meddle.hears_at(&envelope, self.now(role));
        let Envelope { from, msg, .. } = envelope;
        match (role, msg) {
            (Role::Voter(index), ExclusiveMsg::Ask(asked)) => {
                let voter = self.voters[index].change();
                voter.hears(setting, now, from, asked, meddle.is_early(), post);
            }
            (Role::Coordinator(index), ExclusiveMsg::Answer(said)) => {
                self.coordinators[index].change().hears(setting, now, from, &said, post);
            }
            (Role::Coordinator(index), ExclusiveMsg::Wish(wish)) => {
                self.coordinators[index].change().is_wished(setting, now, from, wish, post);
            }
            (Role::Agent(index), ExclusiveMsg::Answer(said)) => {
                self.agents[index].change().hears(setting, now, from, &said, post);
            }
            (Role::Agent(index), ExclusiveMsg::Tell(telling)) => {
                self.agents[index].change().is_told(setting, now, &telling, post);
            }
            (role, msg) => debug_assert!(false, "{role:?} does not hear {msg:?}"),
        }
    }

    fn restart(&mut self, setting: &Setting, step: Step, meddle: &dyn Meddle, post: &mut Post) {
        match step {
            Step::RestartVoter(index) => {
                self.left.voter_restarts -= 1;
                let now = meddle.restarts_at(self.now(Role::Voter(index)));
                let voter = self.voters[index].change();
                meddle.finds(voter.disk_mut());
                voter.restarts(setting, now);
            }
            Step::Amnesia(index) => {
                // Whoever does not vote has nothing to forget.
                self.left.amnesias -= u32::from(self.votes(index) && self.left.amnesias > 0);
                let now = self.now(Role::Voter(index));
                let voter = self.voters[index].change();
                let store = meddle.store_after(voter.store(), voter.next_store());
                voter.forgets_all(setting, store, now);
            }
            Step::RestartCoordinator(index) | Step::ForgetCoordinator(index) => {
                let forgets = matches!(step, Step::ForgetCoordinator(_));
                self.spend_restart(forgets, |left| &mut left.coordinator_restarts);
                let now = self.now(Role::Coordinator(index));
                self.coordinators[index].change().restarts(setting, now, forgets, post);
            }
            Step::RestartAgent(index) | Step::ForgetAgent(index) => {
                let forgets = matches!(step, Step::ForgetAgent(_));
                self.spend_restart(forgets, |left| &mut left.agent_restarts);
                let now = self.now(Role::Agent(index));
                self.agents[index].change().restarts(setting, now, forgets);
                if setting.eager {
                    let agent = self.agents[index].change();
                    (0..setting.names.len()).for_each(|name| agent.campaigns(setting, now, name, post));
                }
            }
            other => debug_assert!(false, "{other:?} is no restart"),
        }
    }

    fn spend_restart(&mut self, forgets: bool, of: impl Fn(&mut Budget) -> &mut u32) {
        *of(&mut self.left) -= 1;
        if forgets {
            self.left.forgetful -= 1;
        }
    }

    fn command(&mut self, setting: &Setting, step: Step, post: &mut Post) {
        self.left.commands -= 1;
        match step {
            Step::Campaign(agent, name) => {
                let now = self.now(Role::Agent(agent));
                self.agents[agent].change().campaigns(setting, now, name, post);
            }
            Step::Release(agent, name) => {
                let now = self.now(Role::Agent(agent));
                self.agents[agent].change().releases(setting, now, name, None, post);
            }
            Step::Transfer(agent, name) => {
                let now = self.now(Role::Agent(agent));
                let next = Setting::agent((agent + 1) % setting.agents);
                self.agents[agent].change().releases(setting, now, name, Some(next), post);
            }
            other => debug_assert!(false, "{other:?} is no command"),
        }
    }

    /// Whether that voter is in force, or is listed while the cluster is being founded.
    pub(super) fn votes(&self, voter: usize) -> bool {
        let listed = || voter < self.setting.voters;
        self.ledger.in_force().map_or_else(listed, |by| by.asked().contains(&Setting::voter(voter)))
    }

    /// Whether enough stores are there for every configuration that any of them holds.
    pub(super) fn has_quorums(&self) -> bool {
        let mut there = Votes::default();
        self.voters
            .iter()
            .enumerate()
            .for_each(|(index, voter)| there.add(Setting::voter(index), voter.store()));
        let configurations =
            self.voters.iter().filter_map(|voter| match voter.kept().accepted.get(&Name::configuration()) {
                Some(Accepted { content: Content::Configuration(shown), .. }) => Some(shown),
                _ => None,
            });
        configurations.filter(|shown| !shown.is_founding()).all(|shown| shown.is_enough(&there))
    }

    /// Somebody asks for it who is no part of the model, and does not repeat it.
    fn change_members(&mut self, setting: &Setting, coordinator: usize, voter: usize, post: &mut Post) {
        self.left.changes -= 1;
        let node = Setting::voter(voter);
        let change = match self.votes(voter) {
            true => MemberChange::Remove { node },
            false => MemberChange::Add { node, address: Address::default() },
        };
        let (by, no) = (life_of(Setting::agent(ASKER), 1, Incarnation(1)), self.left.changes.into());
        let now = self.now(Role::Coordinator(coordinator));
        let wish = Wish::Change { by, no, since: 0, change };
        self.coordinators[coordinator].change().is_wished(setting, now, by.node, wish, post);
    }

    fn reach(&mut self, setting: &Setting, coordinator: usize, agent: usize, reached: bool, post: &mut Post) {
        let now = self.now(Role::Coordinator(coordinator));
        let agent = Setting::agent(agent);
        self.coordinators[coordinator].change().reaches(setting, now, agent, reached, post);
    }

    /// Sends what is to be sent, and has what was done judged.
    pub(super) fn carry_out(&mut self, meddle: &dyn Meddle, scratch: &mut Scratch) -> Result<(), Breach> {
        let (mut envelopes, mut seen) =
            (std::mem::take(&mut scratch.post.envelopes), std::mem::take(&mut scratch.post.seen));
        for envelope in envelopes.drain(..) {
            for envelope in meddle.sends(self, envelope) {
                if self.heeds(&envelope) {
                    self.net.send(envelope, &mut scratch.bytes);
                }
            }
        }
        let judged = seen.drain(..).try_for_each(|seen| self.judge_seen(seen, &mut scratch.sights));
        (scratch.post.envelopes, scratch.post.seen) = (envelopes, seen);
        judged?;
        self.judge_holders(scratch)
    }

    fn judge_seen(&mut self, seen: Seen, sights: &mut Sights) -> Result<(), Breach> {
        match seen {
            Seen::Accepted { voter, store, name, accepted } => {
                let before = (self.ledger.decided(), self.ledger.configured());
                self.ledger.change().accepted((voter, store), &name, &accepted)?;
                sights.decided += (self.ledger.decided() - before.0) as u64;
                sights.changed += (self.ledger.configured() - before.1) as u64;
            }
            Seen::Held { name, lease, token } => {
                sights.held += 1;
                self.ledger.told(&name, lease, token)?;
            }
            Seen::Buried { voter, store, node, age } => {
                sights.buried += 1;
                self.ledger.change().buried((voter, store), node, age);
            }
            Seen::Deleted => sights.deleted += 1,
            Seen::Dropped => sights.dropped += 1,
            Seen::Valid => sights.renewed += 1,
            Seen::Lapsed => sights.lapsed += 1,
            Seen::Died => sights.died += 1,
            Seen::Outlived => sights.outlived += 1,
        }
        Ok(())
    }

    fn judge_holders(&self, scratch: &mut Scratch) -> Result<(), Breach> {
        scratch.holdings.clear();
        for (index, agent) in self.agents.iter().enumerate() {
            let now = self.now(Role::Agent(index));
            agent.holdings(&self.setting, now, &mut scratch.holdings);
            let valid = agent.valid(now).filter(|_| self.setting.judges_leases);
            valid.map_or(Ok(()), |lease| self.ledger.valid(lease))?;
        }
        holders::judge(&scratch.holdings)
    }

    /// Drops answers to that node that it will not heed any more.
    fn prune(&mut self, to: NodeId) {
        let mut net = std::mem::take(&mut self.net);
        net.retain(|envelope| envelope.to != to || self.heeds(envelope));
        self.net = net;
    }

    /// Whether a message may ever be heeded, where that is asked. Who is no part of the model heeds none.
    fn heeds(&self, envelope: &Envelope) -> bool {
        let is_there = match Role::of(envelope.to) {
            Role::Voter(index) => index < self.voters.len(),
            Role::Coordinator(index) => index < self.coordinators.len(),
            Role::Agent(index) => index < self.agents.len(),
        };
        if !is_there {
            return false;
        }
        match (self.setting.copies, Role::of(envelope.to), &envelope.msg) {
            (Copies::Any, Role::Coordinator(index), ExclusiveMsg::Answer(said)) => {
                let now = self.now(Role::Coordinator(index));
                !self.coordinators[index].is_deaf_to(now, envelope.from, said)
            }
            (Copies::Any, Role::Agent(index), ExclusiveMsg::Answer(said)) => {
                let now = self.now(Role::Agent(index));
                !self.agents[index].is_deaf_to(now, envelope.from, said)
            }
            _ => true,
        }
    }
}
