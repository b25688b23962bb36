//! How the nodes of a scenario are set up, in a world and in a search.

use bellwether_proto::agent::Settings;
use bellwether_proto::detector::DetectorConfig;
use bellwether_proto::election::{Choices, Election, Peers, Setup};
use bellwether_proto::exclusive::ExclusiveConfig;
use bellwether_proto::exclusive::configuration::Address;
use bellwether_proto::exclusive::terms::Terms;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Durable;
use bellwether_proto::node::Node;
use bellwether_proto::release::Patience;
use bellwether_proto::roster::Roster;
use bellwether_proto::time::Time;

use crate::scenario::{Exclusive, Policy, Scenario};
use crate::votes::Votes;

/// What all nodes of a scenario have in common.
#[derive(Clone, Debug)]
pub(crate) struct Blueprint {
    /// The setup of the strongest node, without an incarnation yet.
    pub(crate) setup: Setup,
    pub(crate) detector: DetectorConfig,
    /// The nodes that become candidates of their own accord; all, unless the scenario names them.
    candidates: Option<Vec<NodeId>>,
    /// What agents are told about leading, if nodes are run as an agent runs them.
    agent: Option<Policy>,
    /// The terms on which at most one leads at a time, if so.
    exclusive: Option<Exclusive>,
}

impl Blueprint {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let roster = Roster::new(NodeId(1), scenario.ids(), scenario.protocol.spec().priority);
        let setup = Setup {
            protocol: scenario.protocol,
            variant: scenario.variant,
            roster,
            incarnation: Incarnation::default(),
            count: 0,
            t: scenario.t() as usize,
            timing: scenario.timing,
            choices: Choices {
                candidate: true,
                primary: scenario.parameters.primary.unwrap_or(Choices::default().primary),
            },
        };
        let candidates = scenario.parameters.candidates.clone();
        Self {
            setup,
            detector: scenario.detector_config(),
            candidates,
            agent: scenario.agent.then(|| scenario.policy.clone()),
            exclusive: scenario.exclusive.clone(),
        }
    }

    /// A node that comes up on a machine whose disk holds `disk`, in its next incarnation, and these votes, if it votes.
    pub(crate) fn node<E: Election>(
        &self,
        id: NodeId,
        disk: &Durable,
        votes: Option<&Votes>,
        now: Time,
    ) -> Node<E> {
        let incarnation = disk.incarnation.next().expect("no run restarts a node that often");
        if let Some(policy) = &self.agent {
            let mut settings = self.settings(id, policy);
            settings.exclusive = self.exclusive(votes, settings.priority);
            return settings.node(disk, incarnation, now);
        }
        let roster = match self.setup.protocol.spec().peers {
            Peers::Listed => self.setup.roster.seen_by(id),
            Peers::Met => Roster::new(id, [id], self.setup.roster.priority()),
        };
        let setup =
            Setup { roster, incarnation, count: disk.count, choices: self.choices(id), ..self.setup.clone() };
        Node::new(setup, self.detector, now).with_kept(disk.group.clone(), now)
    }

    /// The settings of that agent.
    fn settings(&self, id: NodeId, policy: &Policy) -> Settings {
        let Setup { protocol, variant, timing, t, .. } = self.setup;
        let defaults = Settings::new(id, self.setup.roster.members().to_vec(), protocol, timing);
        let Policy { release_timeout: work, resign_hold: hold, .. } = *policy;
        Settings {
            variant,
            t,
            detector: self.detector,
            choices: self.choices(id),
            priority: policy.priority.get(&id).copied().unwrap_or(0),
            preempt: policy.preempt.get(&id).copied(),
            min_peers: policy.min_peers as usize,
            patience: Patience { work, hold, ..defaults.patience },
            ..defaults
        }
    }

    fn exclusive(&self, votes: Option<&Votes>, priority: u32) -> Option<ExclusiveConfig> {
        let Exclusive { ttl, drift, kind, voters, witnesses } = self.exclusive.clone()?;
        Some(ExclusiveConfig {
            life: votes?.life,
            members: self.setup.roster.members().to_vec(),
            voters: voters.into_iter().map(|voter| (voter, Address::default())).collect(),
            witnesses,
            kind,
            terms: Terms { ttl, longest: ttl, drift, retry: self.setup.timing.tau },
            priority,
            kept: votes.map(|votes| votes.kept.clone()),
        })
    }

    fn choices(&self, id: NodeId) -> Choices {
        let candidate = self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&id));
        Choices { candidate, ..self.setup.choices }
    }
}
