//! Judges recorded runs: the traces of nodes, and the truth about what was done to them.
//!
//! | step | file |
//! |---|---|
//! | the events of a node in the order in which it recorded them, though its clock was set | `clocks.rs` |
//! | one trace of all, in order of time, from the first event on | `merge.rs` |
//! | a crash after the last that the node recorded | `last_words.rs` |
//! | every id a rank, as the checkers want it | `ranks.rs` |
//! | starts and crashes, if a trace shows them only indirectly | `incarnations.rs` |
//! | which assumptions the run kept | `kept.rs` |
//!
//! The traces alone do not tell a node that is down from a silent one, nor show that a link is cut. So without the
//! truth only agreement among the nodes that speak is judged.

mod clocks;
mod incarnations;
mod kept;
mod last_words;
mod merge;
mod ranks;
#[cfg(test)]
mod tests;

use bellwether_proto::detector::{DetectorConfig, DetectorKind};
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::LeadershipConfig;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::TraceEvent;

use crate::check::{Facts, Finding, Judge, Leading, Origin, Preference};
use crate::environment::promises;
use crate::scenario::{NODES_MAX, Scenario};
use crate::trace_file::{Setup, TraceFile};
use kept::Kept;
use ranks::Ranks;

/// How far a machine's clock may be off, in parts per million. A quartz is better.
const DRIFT_PPM: u32 = 200;

/// Why a property that could have been judged was not.
const NO_OCCASION: &str = "the run had no occasion to keep or to break it";

/// A recorded run, and the verdict on it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// How the leader was chosen.
    pub protocol: Protocol,
    /// As repaired, or as the paper prints it.
    pub variant: Variant,
    /// How many nodes took part.
    pub nodes: usize,
    /// How many events were judged.
    pub events: usize,
    /// When the last of them happened, the first being at zero.
    pub ended: Time,
    /// The verdicts, and how many events there were up to each violation.
    pub findings: Vec<(Finding, usize)>,
    /// The promised properties that were not judged, and why.
    pub not_judged: Vec<(Property, String)>,
    /// What was judged: all events, nodes by rank, and each message with a number that no other has.
    pub trace: Vec<TraceEvent>,
    /// The ids of the nodes, by rank.
    pub ids: Vec<NodeId>,
}

/// Judges the nodes' traces, with the truth if it is known.
///
/// # Errors
/// If the traces are not of one cluster, or there is nothing in them.
pub fn judge(traces: &[TraceFile], truth: Option<&TraceFile>, setup: &Setup) -> Result<Recorded, String> {
    let mut events = merge::all(traces, truth);
    if events.is_empty() {
        return Err("there is no event in the trace, expected at least one".to_owned());
    }
    all_are_members(&events, &setup.nodes)?;
    let ranks = Ranks::of(&events, &setup.nodes);
    if ranks.len() > NODES_MAX as usize {
        return Err(format!("there are {} nodes in the trace, expected at most {NODES_MAX}", ranks.len()));
    }
    events.iter_mut().for_each(|event| ranks.apply(event));
    last_words::heed(&mut events);
    let events = incarnations::complete(events);
    let kept = Kept::new(&events, ranks.len(), setup);
    let (properties, mut not_judged) = choose(setup, truth.is_some(), &kept);
    let findings = findings(&events, setup, &properties, &ranks);
    let judged = |property: &Property| findings.iter().any(|(finding, _)| finding.property == *property);
    let vacuous = properties.into_iter().filter(|property| !judged(property));
    not_judged.extend(vacuous.map(|property| (property, NO_OCCASION.to_owned())));
    Ok(Recorded {
        protocol: setup.protocol,
        variant: setup.variant,
        nodes: ranks.len(),
        events: events.len(),
        ended: ended(&events),
        findings,
        not_judged,
        ids: ranks.ids().to_vec(),
        trace: merge::numbered(events),
    })
}

/// How the nodes of several traces were set up, all in all.
///
/// # Errors
/// If they are not of one cluster.
pub fn common_setup(traces: &[TraceFile]) -> Result<Option<Setup>, String> {
    let mut setups = traces.iter().flat_map(|trace| &trace.setups);
    let Some(first) = setups.next() else { return Ok(None) };
    let mut all = first.clone();
    for setup in setups {
        let shown = |setup: &Setup| {
            format!("{} {} of the cluster {:?}", setup.protocol.name(), setup.variant.name(), setup.cluster)
        };
        if shown(setup) != shown(first) {
            let (one, other) = (shown(first), shown(setup));
            return Err(format!("the traces are of {one} and of {other}, expected those of one run"));
        }
        all.nodes.extend(&setup.nodes);
        // The slowest node is to be waited for.
        all.timing.delta = all.timing.delta.max(setup.timing.delta);
        all.timing.tau = all.timing.tau.max(setup.timing.tau);
        all.timing.step = all.timing.step.max(setup.timing.step);
        all.release_timeout = all.release_timeout.max(setup.release_timeout);
    }
    all.nodes.sort_unstable();
    all.nodes.dedup();
    Ok(Some(all))
}

/// The setup of a trace that does not state it, as a scenario has it that states no more than this.
pub fn default_setup(protocol: Protocol, nodes: u32) -> Setup {
    let scenario = Scenario::calm(protocol, nodes, Time::ZERO);
    Setup {
        cluster: String::new(),
        protocol,
        variant: scenario.variant,
        nodes: scenario.ids().collect(),
        timing: scenario.timing,
        detector: protocol.spec().detector,
        release_timeout: None,
    }
}

fn all_are_members(events: &[TraceEvent], members: &[NodeId]) -> Result<(), String> {
    let is_stranger = |node: &NodeId| !members.is_empty() && !members.contains(node);
    match events.iter().map(|event| event.node).find(is_stranger) {
        None => Ok(()),
        Some(stranger) => {
            let members: Vec<_> = members.iter().map(ToString::to_string).collect();
            Err(format!("something happens at node {stranger}, expected one of {}", members.join(", ")))
        }
    }
}

/// Which properties to judge, and which not, with the reasons.
fn choose(setup: &Setup, truth: bool, kept: &Kept) -> (Vec<Property>, Vec<(Property, String)>) {
    let (mut judged, mut left_out) = (Vec::new(), Vec::new());
    for promise in promises(setup.protocol, setup.variant, kept.runs()) {
        let missing: Vec<_> =
            promise.under.iter().filter(|assumption| !kept.keeps(**assumption)).map(|a| a.name()).collect();
        if promise.property == Property::AnswerTrue {
            left_out
                .push((promise.property, "clocks of several machines do not tell what was first".to_owned()));
        } else if matches!(promise.property, Property::Freed | Property::Granted) {
            left_out.push((promise.property, "a trace does not tell who votes".to_owned()));
        } else if promise.property == Property::Preferred {
            left_out.push((promise.property, "a trace does not tell priorities".to_owned()));
        } else if !truth && !needs_no_truth(promise.property) {
            left_out.push((promise.property, "it needs the truth about what befell the nodes".to_owned()));
        } else if missing.is_empty() {
            judged.push(promise.property);
        } else {
            left_out.push((promise.property, format!("it needs {}", missing.join(", "))));
        }
    }
    judged.sort_unstable();
    judged.dedup();
    left_out.retain(|(property, _)| !judged.contains(property));
    (judged, left_out)
}

fn needs_no_truth(property: Property) -> bool {
    match property {
        Property::A1
        | Property::A3
        | Property::GroupOnce
        | Property::Sle1
        | Property::Ale1
        | Property::Epoch
        | Property::EpochOnce
        | Property::WorkEndsFirst
        | Property::AnswerTrue
        | Property::TokenGrows
        | Property::TokenOnce
        | Property::OneHolder
        | Property::History => true,
        // Nor would the votes of whoever is missing be counted.
        Property::RestrictedOnce
        | Property::A2
        | Property::A4
        | Property::A4Prime
        | Property::Sle2
        | Property::Ale2
        | Property::Ale2Prime
        | Property::Omega
        | Property::SingleSender
        | Property::Settled
        | Property::EpochGrows
        | Property::LeadsAlone
        | Property::AnnouncedOnce
        | Property::TakenOver
        | Property::Preferred
        | Property::Led
        | Property::Freed
        | Property::Granted
        // Whoever is stopped cannot answer.
        | Property::Answered
        | Property::FdComplete
        | Property::FdAccurate
        | Property::FdLatency
        | Property::LinkHistory
        | Property::ViewAgree
        | Property::OneLeaderPerView
        | Property::OneViewOrDead
        | Property::FakeClean => false,
    }
}

fn findings(
    events: &[TraceEvent],
    setup: &Setup,
    properties: &[Property],
    ranks: &Ranks,
) -> Vec<(Finding, usize)> {
    let mut judge = Judge::new(facts(setup, ranks.len()), properties);
    events.iter().for_each(|event| judge.observe(event));
    let mut findings = Vec::new();
    for mut finding in judge.finish(ended(events)) {
        let mut steps = events.len();
        if let Some(violation) = &mut finding.violation {
            steps = events.partition_point(|event| event.at <= violation.at);
            violation.what.push_str(&ranks.legend());
        }
        findings.push((finding, steps));
    }
    findings
}

/// A trace says when something was written, not when that was asked for. Disks are allowed this.
const LIVE_WRITE: Span = Span::millis(500);

fn facts(setup: &Setup, nodes: usize) -> Facts {
    let kind = setup.detector.unwrap_or(DetectorKind::Heartbeat);
    let detector = DetectorConfig::new(kind, setup.timing);
    let defaults = Scenario { timing: setup.timing, ..Scenario::calm(setup.protocol, 1, Time::ZERO) };
    Facts {
        nodes,
        priority: setup.protocol.spec().priority,
        timing: setup.timing,
        detector_latency: detector.latency(nodes),
        write: LIVE_WRITE,
        reporters: detector.reporters,
        drift_ppm: DRIFT_PPM,
        origin: Origin::Live,
        leading: Leading {
            settle: LeadershipConfig::settle(setup.protocol.spec(), &setup.timing),
            release_timeout: setup.release_timeout.unwrap_or(defaults.policy.release_timeout),
            successor_patience: defaults.successor_patience(),
            lease: Span::ZERO,
            quorum: setup.protocol.spec().mode.needs(nodes),
        },
        voters: Vec::new(),
        witnesses: Vec::new(),
        preference: Preference::default(),
    }
}

fn ended(events: &[TraceEvent]) -> Time {
    events.last().map_or(Time::ZERO, |event| event.at)
}
