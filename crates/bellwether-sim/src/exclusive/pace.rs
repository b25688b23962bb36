//! Which steps can be taken.

use super::model::Model;
use super::setting::Role;
use super::step::Step;

impl Model {
    /// Every step that the budgets allow.
    pub(super) fn steps(&self, steps: &mut Vec<Step>) {
        steps.clear();
        steps.extend((0..self.net.len()).map(Step::Deliver));
        if self.left.duplicates > 0 {
            steps.extend((0..self.net.len()).map(Step::Duplicate));
        }
        if self.left.ticks > 0 {
            steps.push(Step::Tick);
        }
        self.wakes(steps);
        self.writes(steps);
        self.restarts(steps);
        if self.left.commands > 0 {
            let agents = 0..self.agents.len();
            agents.for_each(|agent| {
                (0..self.setting.names.len()).for_each(|name| self.commands(agent, name, steps));
            });
        }
        if self.left.changes > 0 {
            let pairs =
                (0..self.coordinators.len()).flat_map(|c| (0..self.voters.len()).map(move |v| (c, v)));
            steps.extend(pairs.map(|(coordinator, voter)| Step::Change(coordinator, voter)));
        }
        if self.left.deletions > 0 {
            let pairs =
                (0..self.agents.len()).flat_map(|a| (0..self.setting.names.len()).map(move |n| (a, n)));
            steps.extend(pairs.map(|(agent, name)| Step::Delete(agent, name)));
        }
        if self.left.lists > 0 {
            steps.extend((0..self.agents.len()).map(Step::List));
        }
        if self.left.partings > 0 {
            let parties = self.parties();
            let pairs = (0..self.coordinators.len()).flat_map(|c| (0..parties).map(move |a| (c, a)));
            steps.extend(pairs.map(|(coordinator, agent)| Step::Part(coordinator, agent)));
        }
    }

    /// Agents, and those that are no part of the model.
    pub(super) fn parties(&self) -> usize {
        let heard = self.setting.heard.iter().map(|(_, from, _)| match Role::of(*from) {
            Role::Agent(index) => index + 1,
            Role::Voter(_) | Role::Coordinator(_) => 0,
        });
        heard.max().unwrap_or(0).max(self.agents.len())
    }

    /// Machines whose deadlines have passed.
    pub(super) fn wakes(&self, steps: &mut Vec<Step>) {
        for (index, coordinator) in self.coordinators.iter().enumerate() {
            if coordinator.deadline() <= self.now(Role::Coordinator(index)) {
                steps.push(Step::WakeCoordinator(index));
            }
        }
        for (index, agent) in self.agents.iter().enumerate() {
            if agent.deadline() <= self.now(Role::Agent(index)) {
                steps.push(Step::WakeAgent(index));
            }
        }
    }

    fn writes(&self, steps: &mut Vec<Step>) {
        for (index, voter) in self.voters.iter().enumerate() {
            if voter.unwritten() > 0 {
                steps.push(Step::WriteAll(index));
            }
            if voter.unwritten() > 1 {
                steps.push(Step::Write(index));
            }
        }
    }

    fn restarts(&self, steps: &mut Vec<Step>) {
        let left = self.left;
        let (voters, coordinators) = (0..self.voters.len(), 0..self.coordinators.len());
        let mut may = |left: u32, numbers: std::ops::Range<usize>, step: fn(usize) -> Step| {
            if left > 0 {
                steps.extend(numbers.map(step));
            }
        };
        may(left.voter_restarts, voters.clone(), Step::RestartVoter);
        may(left.amnesias, voters, Step::Amnesia);
        may(left.coordinator_restarts, coordinators.clone(), Step::RestartCoordinator);
        may(left.coordinator_restarts.min(left.forgetful), coordinators, Step::ForgetCoordinator);
        may(left.agent_restarts, 0..self.agents.len(), Step::RestartAgent);
        may(left.agent_restarts.min(left.forgetful), 0..self.agents.len(), Step::ForgetAgent);
    }

    fn commands(&self, agent: usize, name: usize, steps: &mut Vec<Step>) {
        if !self.agents[agent].wants(&self.setting.names[name].0) {
            return steps.push(Step::Campaign(agent, name));
        }
        steps.push(Step::Release(agent, name));
        if self.agents.len() > 1 {
            steps.push(Step::Transfer(agent, name));
        }
    }
}
