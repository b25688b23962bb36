//! Turns the arguments into searches, or reports what is wrong with them.

use std::fmt;
use std::num::NonZeroUsize;

use bellwether_proto::election::{AnyElection, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property;
use bellwether_sim::environment::promises;
use bellwether_sim::explore::{
    Bounds, INSTANTS_MAX, Limits, NODES_MAX, Origin, System, can_search, can_search_agents, judgeable,
    judgeable_of_agents, may_lie, may_lose, promised, promised_by_agents,
};
use bellwether_sim::scenario::Runs;

use crate::args::check::{BoundsArgs, CheckArgs, Subject};
use crate::output::invocation;
use crate::work::cores;

/// Nobody has the memory for more.
const STATES_MAX: u64 = 100_000_000;

/// A search.
pub(super) struct Request {
    pub(super) protocol: Protocol,
    pub(super) variant: Variant,
    pub(super) nodes: u32,
    pub(super) bounds: Bounds,
    /// If nodes run as agents.
    pub(super) agents: Option<Agents>,
    pub(super) judged: Vec<Property>,
    /// Properties that the algorithm promises, but not within these bounds.
    pub(super) not_judged: Vec<Property>,
    pub(super) limits: Limits,
}

/// What the owners of agents chose, and where the search begins.
#[derive(Clone, Copy)]
pub(super) struct Agents {
    pub(super) preferred: Option<NodeId>,
    pub(super) origin: Origin,
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
    match args.searched {
        Some(Subject::Algorithm(protocol)) => {
            return Ok((vec![request(protocol, nodes, args)?], Vec::new()));
        }
        Some(Subject::Exclusive) => {
            return Err("--exhaustive is of algorithms; the rules of exclusive leadership have a search of their own: \
                        see docs/concepts/exclusive.md"
                .to_owned());
        }
        None => {}
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
    let (bounds, agents) = if args.search.agent {
        let (bounds, agents) = of_agents(protocol, nodes, args)?;
        (bounds, Some(agents))
    } else {
        (of_elections(protocol, args)?, None)
    };
    if bounds.recoveries > 0 && bounds.crashes == 0 {
        return Err(format!("--recoveries {}, but with --crashes 0 nobody is ever down", bounds.recoveries));
    }
    let (judgeable, within, promises): (fn(Property) -> bool, _, _) = match agents {
        Some(_) => {
            let within = promised_by_agents(protocol, nodes, bounds);
            (judgeable_of_agents, within, promises(protocol, variant, Runs::Agents))
        }
        None => {
            let within = promised(protocol, variant, nodes, bounds);
            (judgeable, within, protocol.spec().promises(variant).to_vec())
        }
    };
    let judged = args.bounds.judge.as_ref().map_or_else(|| within.clone(), |named| once_each(named));
    if let Some(other) = judged.iter().find(|property| !judgeable(**property)) {
        return Err(format!(
            "--judge {other}, but that is judged {} --agent",
            if agents.is_some() { "without" } else { "with" }
        ));
    }
    let left_out = |property: &Property| judgeable(*property) && !within.contains(property);
    let promises = promises.iter().map(|promise| promise.property);
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
    Ok(Request { protocol, variant, nodes, bounds, agents, judged, not_judged, limits })
}

/// The bounds of a search of elections.
fn of_elections(protocol: Protocol, args: &CheckArgs) -> Result<Bounds, String> {
    let name = protocol.name();
    if let Some(option) = args.bounds.typed_for_agents() {
        return Err(format!("{option} is a bound of --agent, which is missing"));
    }
    if !can_search(protocol) {
        return Err(format!("{name} needs clocks that agree, and in a search every node has one of its own"));
    }
    let bounds = bounds(Bounds::suited_to(protocol), &args.bounds);
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
    Ok(bounds)
}

/// The bounds of a search of agents, and what their owners chose.
fn of_agents(protocol: Protocol, nodes: u32, args: &CheckArgs) -> Result<(Bounds, Agents), String> {
    let name = protocol.name();
    if !can_search_agents(protocol) {
        let able = Protocol::ALL.into_iter().filter(|protocol| can_search_agents(*protocol));
        let able: Vec<_> = able.map(Protocol::name).collect();
        return Err(format!(
            "agents of {name} cannot be searched state by state, only those of {}",
            able.join(" and ")
        ));
    }
    if args.search.variant != Variant::Repaired {
        return Err("agents run the repaired variant".to_owned());
    }
    let bounds = bounds(Bounds::suited_to_agents(protocol), &args.bounds);
    let faults = [("--losses", bounds.losses), ("--duplicates", bounds.duplicates), ("--lies", bounds.lies)];
    if let Some((flag, count)) = faults.into_iter().find(|(_, count)| *count > 0) {
        return Err(format!(
            "{flag} {count}, but agents are connected: all that is sent arrives, once and in time"
        ));
    }
    let hands_over = protocol.spec().hands_over;
    let preferred = match args.bounds.preferred {
        None => hands_over.then_some(NodeId(nodes)),
        Some(0) => None,
        Some(id) if !hands_over => {
            return Err(format!("--preferred {id}, but {name} cannot hand over to a node of its choice"));
        }
        Some(id) if id > nodes => {
            return Err(format!("--preferred {id}, expected a node from 1 to {nodes}, or 0"));
        }
        Some(id) => Some(NodeId(id)),
    };
    let origin = if args.bounds.from_start { Origin::Start } else { Origin::Settled };
    Ok((bounds, Agents { preferred, origin }))
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

fn bounds(suited: Bounds, typed: &BoundsArgs) -> Bounds {
    let crashes = typed.crashes.unwrap_or(suited.crashes);
    Bounds {
        crashes,
        recoveries: typed.recoveries.unwrap_or(suited.recoveries.min(crashes)),
        losses: typed.losses.unwrap_or(suited.losses),
        duplicates: typed.duplicates.unwrap_or(suited.duplicates),
        lies: typed.lies.unwrap_or(suited.lies),
        expiries: typed.expiries.unwrap_or(suited.expiries),
        waits: typed.waits.unwrap_or(suited.waits),
        commands: typed.commands.unwrap_or(suited.commands),
        early: typed.early.unwrap_or(suited.early),
        in_flight: typed.in_flight.unwrap_or(suited.in_flight),
    }
}

impl Request {
    /// The system to search.
    pub(super) fn system(&self) -> System<AnyElection> {
        let Self { protocol, variant, nodes, bounds, .. } = *self;
        match self.agents {
            Some(Agents { preferred, origin }) => {
                System::of_agents(protocol, nodes, bounds, origin, preferred)
            }
            None => System::new(protocol, variant, nodes, bounds),
        }
    }

    /// The algorithm, and how it is run.
    pub(super) fn name(&self) -> String {
        let how = if self.agents.is_some() { "agent" } else { self.variant.name() };
        format!("{} {how}", self.protocol.name())
    }

    /// The command that does it again.
    pub(super) fn command(&self) -> String {
        let mut command = format!("{} check {} --exhaustive", invocation(), self.protocol.name());
        let mut add =
            |option: &str, value: &dyn fmt::Display| command.push_str(&format!(" {option} {value}"));
        add("--nodes", &self.nodes);
        let Bounds {
            crashes,
            recoveries,
            losses,
            duplicates,
            lies,
            expiries,
            waits,
            commands,
            early,
            in_flight,
        } = self.bounds;
        add("--crashes", &crashes);
        add("--recoveries", &recoveries);
        if self.agents.is_none() {
            add("--losses", &losses);
            add("--duplicates", &duplicates);
            add("--lies", &lies);
        }
        add("--expiries", &expiries);
        add("--waits", &waits);
        if let Some(Agents { preferred, .. }) = self.agents {
            add("--commands", &commands);
            add("--early", &early);
            add("--preferred", &preferred.map_or(0, |id| id.0));
        }
        add("--in-flight", &in_flight);
        let judged: Vec<_> = self.judged.iter().map(|property| property.name()).collect();
        add("--judge", &judged.join(","));
        match self.agents {
            Some(Agents { origin: Origin::Start, .. }) => command.push_str(" --agent --from-start"),
            Some(_) => command.push_str(" --agent"),
            None if self.variant != Variant::Repaired => {
                command.push_str(&format!(" --variant {}", self.variant.name()));
            }
            None => {}
        }
        command
    }
}
