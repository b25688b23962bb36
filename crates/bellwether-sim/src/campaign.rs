//! Campaigns: every algorithm, in every kind of world in which it makes promises.

use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{Protocol, Variant};

use crate::plan::restricted::Troubles;
use crate::plan::{self, Limits};
use crate::scenario::{ModelKind, Runs, Scenario};

/// Plans of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// The algorithm.
    pub protocol: Protocol,
    /// Repaired, judged by our promises, or printed, judged by the paper's claims.
    pub variant: Variant,
    /// The world in which it runs.
    pub place: Place,
}

/// A kind of world.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A network that heals.
    Healing,
    /// The same, with nodes that are run as an agent runs them.
    Agent,
    /// The plans of `bellwether check`: few nodes, every fault under which the algorithm promises something.
    Promised {
        /// What runs on the nodes.
        runs: Runs,
    },
    /// Restricted operations, with crashes at every step of their commits.
    Restricted(Troubles),
    /// Links that flap, and nodes that only seem to fail.
    Flapping,
    /// A network that keeps a model's promise, and nothing more.
    Model(ModelKind),
}

impl Campaign {
    /// Every campaign in which nothing may be found.
    pub fn all() -> Vec<Self> {
        let repaired = |protocol, place| Self { protocol, variant: Variant::Repaired, place };
        let healing = move |protocol| {
            [Place::Healing, Place::Promised { runs: Runs::Elections }].map(|place| repaired(protocol, place))
        };
        let in_agent = move |protocol: Protocol| {
            let runs_there = protocol.spec().runs_in_agent();
            let places = [Place::Agent, Place::Promised { runs: Runs::Agents }];
            places.into_iter().filter(move |_| runs_there).map(move |place| repaired(protocol, place))
        };
        // The one algorithm that nominates in agents.
        let exclusive = move |protocol: Protocol| {
            let nominates = protocol == NOMINATES;
            nominates.then(|| repaired(protocol, Place::Promised { runs: Runs::Exclusive }))
        };
        let restricted = move |protocol: Protocol| {
            let places = [Troubles::Losses, Troubles::Delays].map(Place::Restricted);
            let places = places.into_iter().filter(move |_| protocol.spec().reorganizes);
            places.map(move |place| repaired(protocol, place))
        };
        let flapping = move |protocol: Protocol| {
            let flaps = protocol.spec().channels.are_consistent();
            flaps.then(|| repaired(protocol, Place::Flapping))
        };
        let in_models = |protocol| {
            Variant::ALL.into_iter().flat_map(move |variant| {
                let models = plan::model::promised(protocol, variant).into_iter();
                models.map(move |model| Self { protocol, variant, place: Place::Model(model) })
            })
        };
        let special = |p| exclusive(p).into_iter().chain(restricted(p)).chain(flapping(p));
        let all = |p| healing(p).into_iter().chain(in_agent(p)).chain(special(p)).chain(in_models(p));
        Protocol::ALL.into_iter().flat_map(all).collect()
    }

    /// The plan of that seed.
    pub fn draw(&self, seed: u64) -> Scenario {
        match self.place {
            Place::Healing => plan::draw(self.protocol, self.variant, seed),
            Place::Agent => plan::draw_in_agent(self.protocol, seed),
            Place::Promised { runs } => {
                let limits = Limits { runs, ..Limits::default() };
                plan::draw_within(self.protocol, self.variant, &limits, seed)
            }
            Place::Restricted(troubles) => plan::restricted::draw(self.protocol, troubles, seed),
            Place::Flapping => plan::flapping::draw(self.protocol, seed),
            Place::Model(model) => plan::model::draw(self.protocol, self.variant, model, seed),
        }
    }

    /// What it is called in reports.
    pub fn name(&self) -> String {
        let protocol = self.protocol.name();
        match self.place {
            Place::Healing => protocol.to_owned(),
            Place::Agent => format!("{protocol}-agent"),
            Place::Promised { runs: Runs::Elections } => format!("promised-{protocol}"),
            Place::Promised { runs: Runs::Agents } => format!("promised-{protocol}-agent"),
            Place::Promised { runs: Runs::Exclusive } => format!("promised-exclusive-{protocol}"),
            Place::Restricted(Troubles::Losses) => format!("restricted-{protocol}"),
            Place::Restricted(Troubles::Delays) => format!("restricted-delays-{protocol}"),
            Place::Flapping => format!("flapping-{protocol}"),
            Place::Model(model) => format!("{protocol}-{}-{}", self.variant.name(), model.name()),
        }
    }
}
