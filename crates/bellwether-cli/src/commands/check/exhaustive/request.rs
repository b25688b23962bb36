//! Turns the arguments into searches, or reports what is wrong with them.

use std::num::NonZeroUsize;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{
    Bounds, INSTANTS_MAX, Limits, NODES_MAX, can_search, judgeable, may_lie, may_lose, promised,
};

use crate::args::check::{BoundsArgs, CheckArgs};
use crate::work::cores;

/// Nobody has the memory for more.
const STATES_MAX: u64 = 100_000_000;

/// A search.
pub(super) struct Request {
    pub(super) protocol: Protocol,
    pub(super) variant: Variant,
    pub(super) nodes: u32,
    pub(super) bounds: Bounds,
    pub(super) judged: Vec<Property>,
    /// Properties that the algorithm promises, but not within these bounds.
    pub(super) not_judged: Vec<Property>,
    pub(super) limits: Limits,
}

/// The searches, and why other algorithms are not searched.
pub(super) fn requests(args: &CheckArgs) -> Result<(Vec<Request>, Vec<String>), String> {
    let nodes = match args.nodes.as_ref().map(|sizes| &sizes.0[..]) {
        None => 3,
        Some([nodes]) if (1..=NODES_MAX).contains(nodes) => *nodes,
        Some(_) => {
            return Err(format!("--exhaustive is of one number of --nodes, expected 1 to {NODES_MAX}"));
        }
    };
    if let Some(protocol) = args.searched {
        return Ok((vec![request(protocol, nodes, args)?], Vec::new()));
    }
    // Of all algorithms, those that can be searched.
    let all = Protocol::ALL.into_iter().map(|protocol| request(protocol, nodes, args));
    let (able, unable): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
    let able: Vec<Request> = able.into_iter().flatten().collect();
    let unable: Vec<String> = unable.into_iter().filter_map(Result::err).collect();
    match unable.first() {
        Some(why) if able.is_empty() => Err(why.clone()),
        Some(_) | None => Ok((able, unable)),
    }
}

fn request(protocol: Protocol, nodes: u32, args: &CheckArgs) -> Result<Request, String> {
    let (name, variant) = (protocol.name(), args.search.variant);
    if !can_search(protocol) {
        return Err(format!("{name} needs clocks that agree, and in a search every node has one of its own"));
    }
    let bounds = bounds(protocol, &args.bounds);
    if bounds.lies > 0 && !may_lie(protocol) {
        return Err(format!(
            "--lies {}, but {name} has neither a failure detector that may lie nor links that may fail",
            bounds.lies
        ));
    }
    for (flag, count) in [("--losses", bounds.losses), ("--duplicates", bounds.duplicates)] {
        if count > 0 && !may_lose(protocol) {
            return Err(format!(
                "{flag} {count}, but on a link of {name} nothing is lost or doubled while it is up; --lies is how often one end fails"
            ));
        }
    }
    if bounds.recoveries > 0 && bounds.crashes == 0 {
        return Err(format!("--recoveries {}, but with --crashes 0 nobody is ever down", bounds.recoveries));
    }
    let within = promised(protocol, variant, nodes, bounds);
    let promises = protocol.spec().promises(variant).iter().map(|promise| promise.property);
    let judged = args.bounds.judge.as_ref().map_or_else(|| within.clone(), |named| once_each(named));
    let left_out = |property: &Property| judgeable(*property) && !within.contains(property);
    let not_judged = promises.filter(left_out).filter(|property| !judged.contains(property)).collect();
    if judged.is_empty() {
        return Err(format!(
            "{name} promises nothing within these bounds that a search of states can judge; --judge names what is judged in any case"
        ));
    }
    let threads = args.search.threads.map_or_else(cores, usize::from);
    let limits = Limits {
        states_max: args.bounds.states_max.unwrap_or(STATES_MAX),
        instants_max: INSTANTS_MAX,
        threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
    };
    Ok(Request { protocol, variant, nodes, bounds, judged, not_judged, limits })
}

/// In the order in which they were typed.
fn once_each(named: &[Property]) -> Vec<Property> {
    let mut once = Vec::new();
    for property in named {
        if !once.contains(property) {
            once.push(*property);
        }
    }
    once
}

fn bounds(protocol: Protocol, typed: &BoundsArgs) -> Bounds {
    let suited = Bounds::suited_to(protocol);
    let crashes = typed.crashes.unwrap_or(suited.crashes);
    Bounds {
        crashes,
        recoveries: typed.recoveries.unwrap_or(suited.recoveries.min(crashes)),
        losses: typed.losses.unwrap_or(suited.losses),
        duplicates: typed.duplicates.unwrap_or(suited.duplicates),
        lies: typed.lies.unwrap_or(suited.lies),
        expiries: typed.expiries.unwrap_or(suited.expiries),
        waits: typed.waits.unwrap_or(suited.waits),
        commands: suited.commands,
        early: suited.early,
        in_flight: typed.in_flight.unwrap_or(suited.in_flight),
    }
}
