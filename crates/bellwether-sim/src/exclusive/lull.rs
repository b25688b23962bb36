//! A while in which little goes wrong: messages arrive at once, and time passes. What was begun comes to its end. In walks in which
//! everything is under way at once hardly a change of the voters is settled, and no second one.
//!
//! One coordinator is heard. An agent may sleep, or hear voters alone; and a voter may be out of reach.

use bellwether_proto::exclusive::grant::Name;
use bellwether_proto::exclusive::message::ExclusiveMsg;
use rand_chacha::ChaCha8Rng;

use super::model::Model;
use super::net::Envelope;
use super::promise::Breach;
use super::setting::Role;
use super::settle::{MESSAGES_MAX, Take};
use super::step::Step;
use super::walk::{one_in, some_of};
use crate::chance::below;

/// The coordinator is ready by then, if it ever is.
pub(super) const BEGUN: u64 = 3;

/// So many ticks at least, and so many at most.
const TICKS: (u64, u64) = (4, 40);

/// A while in which little goes wrong.
#[derive(Clone, Debug)]
pub struct Lull {
    /// How long it lasts.
    pub ticks: u64,
    /// Which coordinator is heard.
    pub coordinator: usize,
    /// What each agent hears; all of it, if it is not listed.
    pub agents: Vec<Hears>,
    /// A voter that hears nothing.
    pub unreachable: Option<usize>,
    /// What happens one after the other when the coordinator is ready.
    pub asked: Vec<Step>,
}

/// What an agent hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// Everything.
    All,
    /// No coordinator.
    Voters,
    /// No voter.
    Coordinators,
    /// Nothing. It does not run.
    Nothing,
}

impl Lull {
    pub(super) fn draw(model: &Model, rng: &mut ChaCha8Rng) -> Self {
        let ticks = TICKS.0 + below(TICKS.1 - TICKS.0 + 1, rng);
        let coordinator = below(model.coordinators.len() as u64, rng) as usize;
        let mut hears = || match below(4, rng) {
            0 => Hears::Nothing,
            1 => Hears::Voters,
            _ => Hears::All,
        };
        let agents: Vec<Hears> = model.agents.iter().map(|_| hears()).collect();
        let unreachable = one_in(3, rng).then(|| below(model.voters.len() as u64, rng) as usize);
        let asked = ask(model, coordinator, rng);
        Self { ticks, coordinator, agents, unreachable, asked }
    }

    fn hears(&self, envelope: &Envelope) -> bool {
        let is_told = matches!(envelope.msg, ExclusiveMsg::Tell(_));
        match Role::of(envelope.to) {
            Role::Voter(index) => Some(index) != self.unreachable,
            Role::Coordinator(index) => index == self.coordinator,
            Role::Agent(index) => match self.agent(index) {
                Hears::All => true,
                Hears::Voters => !is_told,
                Hears::Coordinators => is_told,
                Hears::Nothing => false,
            },
        }
    }

    fn runs(&self, wake: &Step) -> bool {
        match wake {
            Step::WakeCoordinator(index) => *index == self.coordinator,
            Step::WakeAgent(index) => self.agent(*index) != Hears::Nothing,
            _ => true,
        }
    }

    fn agent(&self, index: usize) -> Hears {
        self.agents.get(index).copied().unwrap_or(Hears::All)
    }
}

/// The voters change, or a name is given up by all and forgotten, or somebody wants to know which there are.
fn ask(model: &Model, coordinator: usize, rng: &mut ChaCha8Rng) -> Vec<Step> {
    let (names, agents) = (model.setting.names.len(), model.agents.len());
    let Some((name, agent)) = some_of(names, rng).zip(some_of(agents, rng)) else { return Vec::new() };
    match below(6, rng) {
        0..=2 if model.left.changes > 0 => {
            let voter = below(model.voters.len() as u64, rng) as usize;
            vec![Step::Change(coordinator, voter)]
        }
        3 if model.setting.names[name].0 != Name::leader() => {
            let wants = |agent: &usize| model.agents[*agent].wants(&model.setting.names[name].0);
            let released = (0..agents).filter(wants).map(|agent| Step::Release(agent, name));
            released.chain([Step::Delete(agent, name)]).collect()
        }
        4 => vec![Step::RestartCoordinator(coordinator)],
        5 => vec![Step::List(agent)],
        _ => Vec::new(),
    }
}

impl Model {
    /// A lull.
    pub(super) fn rests(&mut self, lull: &Lull, take: Take<'_>) -> Result<(), Breach> {
        for tick in 0..lull.ticks {
            self.passes(lull, take)?;
            if tick == BEGUN {
                lull.asked.iter().try_for_each(|step| {
                    take(self, *step)?;
                    self.passes(lull, take)
                })?;
            }
            take(self, Step::Tick)?;
        }
        self.passes(lull, take)
    }

    /// All that happens at one instant happens.
    fn passes(&mut self, lull: &Lull, take: Take<'_>) -> Result<(), Breach> {
        let mut wakes = Vec::new();
        self.wakes(&mut wakes);
        wakes.into_iter().filter(|wake| lull.runs(wake)).try_for_each(|wake| take(self, wake))?;
        for _ in 0..MESSAGES_MAX {
            let unwritten = (0..self.voters.len()).find(|voter| self.voters[*voter].unwritten() > 0);
            match unwritten {
                Some(voter) => take(self, Step::WriteAll(voter))?,
                None if self.net.len() == 0 => break,
                None if lull.hears(self.net.get(0)) => take(self, Step::Deliver(0))?,
                None => take(self, Step::Lose(0))?,
            }
        }
        Ok(())
    }
}
