//! Which assumptions a scenario's world keeps, and which properties are therefore judged.

mod aftermath;
mod leadership;
mod models;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::{Assumption, Promise, Property};
use bellwether_proto::time::Time;

use crate::scenario::{Fault, Latency, LinkRule, Mishap, Model, ModelKind, Runs, Scenario};
use aftermath::Aftermath;

/// The properties to judge in a scenario: those that the algorithm and its detector promise under assumptions
/// that this world keeps, and those that the file names.
pub fn judged(scenario: &Scenario) -> Vec<Property> {
    let mut judged: Vec<Property> = promises(scenario.protocol, scenario.variant, scenario.runs())
        .into_iter()
        .filter(|promise| promise.under.iter().all(|assumption| keeps(scenario, *assumption)))
        .map(|promise| promise.property)
        .chain(scenario.expect.holds.iter().copied())
        .chain(scenario.expect.violates.iter().copied())
        .collect();
    judged.sort_unstable();
    judged.dedup();
    judged
}

/// Whether a property is promised in a scenario's world, whatever the file names. Assumptions that are `waived` may be
/// broken: so one shows what an algorithm does outside the world that it was written for.
pub fn promised(scenario: &Scenario, property: Property, waived: &[Assumption]) -> bool {
    promises(scenario.protocol, scenario.variant, scenario.runs())
        .iter()
        .filter(|promise| promise.property == property)
        .any(|promise| {
            promise.under.iter().all(|assumption| waived.contains(assumption) || keeps(scenario, *assumption))
        })
}

/// Whether the scenario's algorithm or detector promises a property in any world at all.
pub fn promises_ever(scenario: &Scenario, property: Property) -> bool {
    let promises = promises(scenario.protocol, scenario.variant, scenario.runs());
    promises.iter().any(|promise| promise.property == property)
}

/// What an algorithm and its detector promise, and the layer that makes leaders of whom it names, if there is one.
pub fn promises(protocol: Protocol, variant: Variant, runs: Runs) -> Vec<Promise> {
    let mut promises = of_algorithm(protocol, variant, runs);
    if protocol.spec().detector.is_some() {
        promises.extend(DETECTOR_PROMISES);
    }
    if protocol.spec().channels.are_consistent() {
        promises.push(Promise { property: Property::LinkHistory, under: &[] });
    }
    promises
}

fn of_algorithm(protocol: Protocol, variant: Variant, runs: Runs) -> Vec<Promise> {
    let mut promises = protocol.spec().promises(variant).to_vec();
    // What the group layer promises, whatever the election above it does. As printed, groups may have no numbers.
    if protocol.spec().reorganizes && variant == Variant::Repaired {
        promises.push(Promise { property: Property::History, under: &[] });
        promises.push(Promise { property: Property::RestrictedOnce, under: &[] });
    }
    if runs == Runs::Exclusive {
        promises.extend(leadership::EXCLUSIVE);
    }
    if runs == Runs::Agents {
        // That all announce the same leader in the end is promised where it is of the elections.
        let omega = promises.iter().filter(|promise| promise.property == Property::Omega);
        let settled = omega.map(|promise| Promise { property: Property::Settled, ..*promise });
        let settled: Vec<_> = settled.collect();
        promises.extend(settled);
        promises.extend(leadership::promises(protocol.spec()));
    }
    promises
}

/// The algorithm's promises that are not judged in a scenario, and which of their assumptions it does not keep.
pub fn left_out(scenario: &Scenario) -> Vec<(Property, String)> {
    let judged = judged(scenario);
    let promises = of_algorithm(scenario.protocol, scenario.variant, scenario.runs()).into_iter();
    let left_out = promises.filter(|promise| !judged.contains(&promise.property));
    left_out
        .map(|promise| {
            let missing = promise.under.iter().filter(|assumption| !keeps(scenario, **assumption));
            let missing: Vec<_> = missing.map(|assumption| assumption.name()).collect();
            (promise.property, missing.join(", "))
        })
        .collect()
}

/// What every detector promises, if the algorithm has one. Accuracy already allows for cuts between a pair (Stoller, section
/// 6). A message that is later than δ can make a dead peer seem alive for longer than declared.
pub(crate) const DETECTOR_PROMISES: &[Promise] = &[
    Promise { property: Property::FdComplete, under: &[Assumption::BoundedDelay] },
    Promise { property: Property::FdAccurate, under: &[Assumption::ClocksAgree] },
    Promise { property: Property::FdLatency, under: &[Assumption::BoundedDelay] },
];

/// Whether the scenario's world keeps an assumption throughout.
pub fn keeps(scenario: &Scenario, assumption: Assumption) -> bool {
    let every_link = |test: &dyn Fn(&LinkRule) -> bool| {
        test(&scenario.network.base) && scenario.network.links.iter().all(|(_, _, rule)| test(rule))
    };
    let no_event =
        |test: &dyn Fn(&Fault) -> bool| !scenario.events.iter().any(|planned| test(&planned.fault));
    match assumption {
        Assumption::Reliable => {
            let model_loses = scenario.network.model.is_some_and(|model| model.loss > 0.0);
            every_link(&|rule| rule.loss == 0.0) && no_event(&loses_messages) && !model_loses
        }
        Assumption::Fifo => {
            every_link(&|rule| rule.fifo)
                && scenario.network.model.is_none_or(|model| model.kind == ModelKind::Adversary)
                && no_event(&|fault| matches!(fault, Fault::Network { fifo: Some(false), .. }))
        }
        Assumption::NoDuplicates => {
            every_link(&|rule| rule.duplicate == 0.0)
                && no_event(&|fault| match fault {
                    Fault::Network { duplicate: Some(probability), .. } => *probability > 0.0,
                    Fault::Message { mishap, .. } => *mishap == Mishap::Duplicate,
                    _ => false,
                })
        }
        Assumption::BoundedDelay => {
            let late = |latency: &Latency| latency.high > scenario.timing.delta;
            let resends = |rule: &LinkRule| scenario.network.resend.is_some() && rule.loss > 0.0;
            every_link(&|rule| !late(&rule.latency) && !resends(rule))
                && always_timely(scenario)
                && no_event(&|fault| match fault {
                    Fault::Slow { latency, .. } | Fault::Network { latency: Some(latency), .. }
                        if late(latency) =>
                    {
                        true
                    }
                    Fault::Network { loss: Some(loss), .. } => {
                        scenario.network.resend.is_some() && *loss > 0.0
                    }
                    // How long it would have taken is drawn when it is sent.
                    Fault::Message { mishap: Mishap::Delay(_), .. } => true,
                    _ => false,
                })
        }
        // Whoever waits for a disk that stands still might as well be paused.
        Assumption::NoPauses => no_event(&|fault| matches!(fault, Fault::Pause(_) | Fault::Stall { .. })),
        Assumption::QuickDisks => scenario.longest_write() * 2 <= scenario.successor_patience(),
        Assumption::ReportsCrashes => {
            scenario.detector.kind != DetectorKind::Cooperative || scenario.detector.reporters == 1
        }
        Assumption::ReportsUnreachable => reports_unreachable(scenario),
        Assumption::ClocksAgree => clocks_agree(scenario),
        Assumption::AccurateDetector => {
            scenario.detector.kind == DetectorKind::Perfect || is_synchronous(scenario)
        }
        Assumption::NoDrift => largest_drift(scenario) == 0,
        Assumption::TrustedClocks => {
            scenario.exclusive.as_ref().is_none_or(|terms| largest_drift(scenario) <= terms.drift.0)
        }
        Assumption::NoCrashes => no_event(&|fault| {
            matches!(fault, Fault::Crash(_) | Fault::CrashBeforeSend { .. } | Fault::Leave(_))
        }),
        Assumption::NoRecoveries => !Aftermath::of(scenario).recoveries,
        Assumption::QuietEnd => Aftermath::of(scenario).is_quiet_from(half_time(scenario)),
        Assumption::FewCrashes
        | Assumption::StrongestReachesAll
        | Assumption::OneReachesAll
        | Assumption::TSource
        | Assumption::MessagePattern => models::keeps(scenario, assumption),
    }
}

/// When all that a scenario's events set off is over: leadership is given back, and whoever resigned stands again.
pub fn over_by(scenario: &Scenario) -> Time {
    Aftermath::of(scenario).last
}

/// Promises that hold "from some time on" must begin in the first half of a finite run.
fn half_time(scenario: &Scenario) -> Time {
    Time::from_micros(scenario.until.as_micros() / 2)
}

/// Whether a model, if there is one, keeps every message within δ from the beginning.
fn always_timely(scenario: &Scenario) -> bool {
    let timely = |model: &Model| match model.kind {
        ModelKind::Synchronous => model.delta <= scenario.timing.delta,
        ModelKind::Gst => model.gst == Time::ZERO && model.delta <= scenario.timing.delta,
        _ => false,
    };
    scenario.network.model.as_ref().is_none_or(timely)
}

/// Whether the detector reports every node that cannot be reached. The oracle reports only crashes, not cuts or nodes
/// that play dead. Reporters that must agree may be too few. A token that reaches everybody on a detour shows who is
/// alive, not who can be reached.
fn reports_unreachable(scenario: &Scenario) -> bool {
    match scenario.detector.kind {
        DetectorKind::Perfect => false,
        DetectorKind::Cooperative => scenario.detector.reporters == 1,
        DetectorKind::Ring => !scenario.events.iter().any(|planned| cuts(&planned.fault)),
        DetectorKind::Ping | DetectorKind::Heartbeat | DetectorKind::Adaptive => true,
    }
}

/// Whether a detector that relies only on time can be accurate: nothing is lost, late or held up, and clocks
/// agree.
fn is_synchronous(scenario: &Scenario) -> bool {
    let kept =
        [Assumption::Reliable, Assumption::BoundedDelay, Assumption::NoPauses, Assumption::ClocksAgree];
    kept.into_iter().all(|assumption| keeps(scenario, assumption))
}

/// Whether clocks drift no further apart in the time that a detector waits than δ exceeds what messages really take.
/// Messages that take longer than δ are another matter: they are late.
fn clocks_agree(scenario: &Scenario) -> bool {
    let delta = scenario.timing.delta;
    let links = scenario.network.links.iter().map(|(_, _, rule)| rule.latency);
    let events = scenario.events.iter().filter_map(|planned| match planned.fault {
        Fault::Slow { latency, .. } | Fault::Network { latency: Some(latency), .. } => Some(latency),
        _ => None,
    });
    let latencies = links.chain(events).chain([scenario.network.base.latency]);
    let in_time = latencies.filter(|latency| latency.low <= delta);
    let longest = in_time.map(|latency| latency.high.min(delta)).max().unwrap_or_default();
    let patience = scenario.detector_config().latency(scenario.nodes as usize).as_micros();
    let slack = delta.as_micros() - longest.as_micros();
    patience.saturating_mul(2 * u64::from(largest_drift(scenario))) <= slack.saturating_mul(1_000_000)
}

/// The largest drift of any clock, in parts per million.
pub fn largest_drift(scenario: &Scenario) -> u32 {
    scenario.drift_ppm.values().map(|ppm| ppm.unsigned_abs()).max().unwrap_or(0)
}

fn cuts(fault: &Fault) -> bool {
    matches!(fault, Fault::Cut(_) | Fault::CutOneWay(_) | Fault::Partition(_))
}

fn loses_messages(fault: &Fault) -> bool {
    match fault {
        Fault::DropNext { .. } | Fault::Unlink(_) | Fault::Refuse(_) => true,
        Fault::Message { mishap, .. } => *mishap == Mishap::Drop,
        Fault::Network { loss, .. } => loss.is_some_and(|loss| loss > 0.0),
        Fault::Cut(_) | Fault::CutOneWay(_) | Fault::Partition(_) => cuts(fault),
        Fault::Crash(_)
        | Fault::Recover(_)
        | Fault::Pause(_)
        | Fault::Resume(_)
        | Fault::Mend(_)
        | Fault::Heal
        | Fault::Slow { .. }
        | Fault::CrashBeforeSend { .. }
        | Fault::Perform { .. }
        | Fault::Resign(_)
        | Fault::ResignFor { .. }
        | Fault::Stand(_)
        | Fault::Transfer { .. }
        | Fault::AddVoter(_)
        | Fault::RemoveVoter(_)
        | Fault::Leave(_)
        | Fault::Accept(_)
        | Fault::Work { .. }
        | Fault::Stall { .. } => false,
    }
}
