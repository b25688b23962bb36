//! From arguments to searches.

use bellwether_proto::election::Protocol;
use bellwether_sim::plan::{Allowed, Limits};
use bellwether_sim::scenario::Runs;
use bellwether_sim::swarm::Search;

use crate::args::check::{CheckArgs, Subject};
use crate::trouble::Trouble;
use crate::work::cores;

/// One search for each algorithm. Nothing is searched if any of them is impossible.
pub(super) fn searches(args: &CheckArgs) -> Result<Vec<Search>, Trouble> {
    let typed = &args.search;
    if typed.seed.checked_add(typed.runs).is_none() {
        let (seed, runs) = (typed.seed, typed.runs);
        return Err(Trouble::wrong(format!(
            "there are not that many seeds: {runs} from {seed} on, expected none above {}",
            u64::MAX - 1
        )));
    }
    let protocols = match args.searched {
        Some(subject) => vec![subject.protocol()],
        None => {
            Protocol::ALL.into_iter().filter(|protocol| !typed.agent || runs_in_agent(*protocol)).collect()
        }
    };
    protocols.into_iter().map(|protocol| search(args, protocol)).collect()
}

fn search(args: &CheckArgs, protocol: Protocol) -> Result<Search, Trouble> {
    let typed = &args.search;
    let limits = limits(args);
    limits.check(protocol, typed.variant).map_err(|error| Trouble::wrong(error.to_string()))?;
    Ok(Search {
        protocol,
        variant: typed.variant,
        limits,
        first_seed: typed.seed,
        runs: typed.runs,
        threads: typed.threads.map_or_else(cores, usize::from),
    })
}

fn limits(args: &CheckArgs) -> Limits {
    let runs = match (args.searched, args.search.agent) {
        (Some(Subject::Exclusive), _) => Runs::Exclusive,
        (_, true) => Runs::Agents,
        (_, false) => Runs::Elections,
    };
    let mut limits = Limits { runs, ..Limits::default() };
    if let Some(nodes) = &args.nodes {
        limits.nodes.clone_from(&nodes.0);
    }
    if let Some(faults) = &args.search.faults {
        limits.faults = Allowed::Only(faults.iter().copied().collect());
    }
    limits
}

fn runs_in_agent(protocol: Protocol) -> bool {
    protocol.spec().runs_in_agent()
}
