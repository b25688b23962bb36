//! From arguments to measurements.

use std::path::Path;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{InAgent, Protocol};
use bellwether_sim::measure::compare::{Campaign, Row, Staged};
use bellwether_sim::measure::figures::Figures;
use bellwether_sim::plan::{FaultClass, LimitsError};
use bellwether_sim::scenario::{Overrides, Scenario};

use crate::args::compare::{CompareArgs, FiguresArgs};
use crate::commands::sim::read;
use crate::trouble::Trouble;

/// The default number of runs.
const RUNS: u32 = 100;
/// The largest cluster: there are hundreds of runs, and in some of them everybody talks to everybody.
const NODES_MAX: u32 = 256;

/// A measurement.
pub(super) enum Request {
    /// On the user's figures.
    Campaign(Campaign),
    /// In a scenario.
    Staged {
        /// The scenario, as its file has it.
        scenario: Box<Scenario>,
        /// The same, with every algorithm.
        staged: Staged,
        /// Those of them whose detector is an oracle.
        oracles: Vec<Protocol>,
        /// How many runs of each.
        runs: u32,
    },
}

impl Request {
    pub(super) fn jobs(&self) -> usize {
        match self {
            Self::Campaign(campaign) => campaign.jobs(),
            Self::Staged { staged, .. } => staged.jobs(),
        }
    }

    pub(super) fn measure(&self, threads: usize, done: &(dyn Fn() + Sync)) -> Vec<Row> {
        match self {
            Self::Campaign(campaign) => campaign.measure(threads, done),
            Self::Staged { staged, .. } => staged.measure(threads, done),
        }
    }
}

pub(super) fn read(args: &CompareArgs) -> Result<Request, Trouble> {
    let request = match &args.scenario {
        Some(file) => staged(args, file),
        None => campaign(args).map(Request::Campaign),
    }?;
    let (first, runs) = match &request {
        Request::Campaign(campaign) => (campaign.seed, campaign.runs),
        Request::Staged { scenario, runs, .. } => (scenario.seed, *runs),
    };
    match first.checked_add(u64::from(runs)) {
        Some(_) => Ok(request),
        None => Err(Trouble::wrong(format!("there are not that many seeds: {runs} from {first} on"))),
    }
}

fn campaign(args: &CompareArgs) -> Result<Campaign, Trouble> {
    let FiguresArgs { faults, latency, loss, period, agent } = &args.figures;
    let sizes = args.nodes.as_ref().map(|sizes| sizes.0.clone()).unwrap_or_default();
    if let Some(found) = sizes.iter().find(|size| !(2..=NODES_MAX).contains(size)) {
        return Err(Trouble::wrong(format!("found {found} nodes, expected from 2 to {NODES_MAX}")));
    }
    let wrong = |error: LimitsError| Err(Trouble::wrong(error.to_string()));
    if faults.contains(&FaultClass::Recover) && !faults.contains(&FaultClass::Crash) {
        return wrong(LimitsError::RecoverWithoutCrash);
    }
    let protocols = protocols(args);
    for protocol in &protocols {
        let most = protocol.spec().nodes_max();
        if let Some(found) = sizes.iter().find(|size| most.is_some_and(|most| **size as usize > most)) {
            let (name, most) = (protocol.name(), most.unwrap_or_default());
            return Err(Trouble::wrong(format!("found {found} nodes, expected at most {most} with {name}")));
        }
        if let (true, InAgent::No(why)) = (*agent, protocol.spec().in_agent) {
            return wrong(LimitsError::NotInAgent { protocol: protocol.name(), why });
        }
    }
    Ok(Campaign {
        protocols,
        sizes,
        figures: Figures { nodes: 0, latency: *latency, loss: *loss, period: *period, agent: *agent },
        faults: faults.iter().copied().collect(),
        runs: args.runs.unwrap_or(RUNS),
        seed: args.seed.unwrap_or(1),
    })
}

fn staged(args: &CompareArgs, file: &Path) -> Result<Request, Trouble> {
    let with = |protocol: Option<Protocol>| {
        read::one(file, &Overrides { protocol, variant: None, seed: args.seed }).map_err(Trouble::wrong)
    };
    let scenario = Box::new(with(None)?);
    let scenarios =
        protocols(args).into_iter().map(|protocol| with(Some(protocol))).collect::<Result<Vec<_>, _>>()?;
    let oracle = |scenario: &&Scenario| {
        scenario.protocol.spec().detector.is_some() && scenario.detector.kind == DetectorKind::Perfect
    };
    let oracles = scenarios.iter().filter(oracle).map(|scenario| scenario.protocol).collect();
    let runs = args.runs.unwrap_or(RUNS);
    let staged = Staged::new(scenarios, runs)
        .map_err(|misfit| Trouble::wrong(format!("{}: {misfit}", file.display())))?;
    Ok(Request::Staged { scenario, staged, oracles, runs })
}

/// Each of them once.
fn protocols(args: &CompareArgs) -> Vec<Protocol> {
    let in_agent = |protocol: &Protocol| protocol.spec().runs_in_agent();
    let default = || Protocol::ALL.into_iter().filter(in_agent).collect();
    let mut protocols: Vec<Protocol> = Vec::new();
    for protocol in args.protocols.clone().unwrap_or_else(default) {
        if !protocols.contains(&protocol) {
            protocols.push(protocol);
        }
    }
    protocols
}
