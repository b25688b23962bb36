//! What becomes of a state if nothing goes wrong any more: one coordinator is nominated, messages arrive, and time passes.

use std::sync::Arc;

use super::meddle::Meddle;
use super::model::{Model, Scratch};
use super::post::Post;
use super::promise::{Breach, Promise};
use super::setting::Role;
use super::step::Step;

/// Messages of one instant. More are a conversation without an end.
pub(super) const MESSAGES_MAX: usize = 20_000;

impl Model {
    /// Whether every name that somebody campaigns for is soon held by somebody who campaigns, and knows it.
    pub(super) fn settles(
        mut self,
        meddle: &dyn Meddle,
        scratch: &mut Scratch,
        watch: &mut dyn FnMut(&Self, Step),
    ) -> Result<(), Breach> {
        let mut take = |model: &mut Self, step: Step| {
            watch(model, step);
            model.take(step, meddle, scratch)
        };
        self.calms(&mut take)?;
        for _ in 0..self.patience() {
            self.happens(&mut take)?;
            take(&mut self, Step::Tick)?;
        }
        self.happens(&mut take)?;
        let open = self.setting.names.iter().find(|(name, _)| {
            let wants = self.agents.iter().any(|agent| agent.wants(name));
            let holds = |index: usize| self.agents[index].holds(self.now(Role::Agent(index)), name).is_some();
            wants && !(0..self.agents.len()).any(holds)
        });
        match open {
            None => Ok(()),
            Some((name, _)) => Err(Breach {
                promise: Promise::Granted,
                what: format!("{name} is campaigned for, nothing goes wrong any more, and nobody holds it"),
            }),
        }
    }

    /// Whether enough voters have their stores, and a lease lasts from one tick to the next, so that whoever holds it can be seen to. One that lapses with every tick may be
    /// buried with every tick.
    pub(super) fn may_hold(&self) -> bool {
        self.setting.terms.ttl.as_micros() >= 3 * self.setting.tick.as_micros() && self.has_quorums()
    }

    /// So many ticks are enough: a lease must end, and messages may have to be repeated a few times.
    fn patience(&self) -> u64 {
        let terms = &self.setting.terms;
        let longest = terms.drift.longer(terms.longest) * 2 + terms.retry * 10 + self.setting.tick * 10;
        // Clocks may be slow.
        2 * longest.as_micros() / self.setting.tick.as_micros()
    }

    /// The first coordinator is nominated alone, and all can be spoken with.
    fn calms(&mut self, take: Take<'_>) -> Result<(), Breach> {
        let (setting, mut post) = (Arc::clone(&self.setting), Post::default());
        for index in 0..self.coordinators.len() {
            let now = self.now(Role::Coordinator(index));
            self.coordinators[index].change().is_nominated(&setting, now, index == 0, &mut post);
            (0..self.agents.len()).try_for_each(|agent| take(self, Step::Meet(index, agent)))?;
        }
        Ok(())
    }

    /// All that happens at one instant happens.
    fn happens(&mut self, take: Take<'_>) -> Result<(), Breach> {
        let mut wakes = Vec::new();
        self.wakes(&mut wakes);
        wakes.into_iter().try_for_each(|wake| take(self, wake))?;
        for _ in 0..MESSAGES_MAX {
            let written = |voter: &usize| self.voters[*voter].unwritten() > 0;
            match (0..self.voters.len()).find(written) {
                Some(voter) => take(self, Step::WriteAll(voter))?,
                None if self.net.len() > 0 => take(self, Step::Deliver(0))?,
                None => return Ok(()),
            }
        }
        let what = "at one instant, what is said is answered without an end".to_owned();
        Err(Breach { promise: Promise::Granted, what })
    }
}

/// Takes a step, and has it watched.
pub(super) type Take<'a> = &'a mut dyn FnMut(&mut Model, Step) -> Result<(), Breach>;
