//! Names the messages that are lost, where chance decides.

use bellwether_proto::time::Span;
use bellwether_proto::trace::{DropReason, What};

use super::events;
use super::size::Size;
use super::trials::Trials;
use crate::run;
use crate::scenario::{Fault, Latency, LinkRule, Planned, Scenario};

/// A run in which more is lost than this is not worth telling one by one.
const LOSSES_MAX: usize = 2_000;
/// Seeds that are tried to get the same without random delays: what is drawn for delays differs if nothing is drawn for losses.
const SEEDS: u64 = 32;

/// Replaces losses by chance by events that name the message, and keeps the few that matter.
pub(super) fn name(best: &mut Scenario, trials: &mut Trials<'_>) {
    if !loses(best) {
        return;
    }
    let Some(mut named) = trials.first(candidates(best)) else { return };
    events::in_parts(&mut named, trials);
    if Size::of(&named) < Size::of(best) {
        *best = named;
    }
}

/// The scenario itself, and the same without random delays under several seeds, each with its losses named.
fn candidates(scenario: &Scenario) -> impl Iterator<Item = Scenario> {
    let constant = |seed: u64| {
        let mut constant = Scenario { seed, ..scenario.clone() };
        let base = &mut constant.network.base;
        base.latency = Latency::constant(base.latency.low);
        constant
    };
    let same = std::iter::once(scenario.clone());
    let named = same.chain((1..=SEEDS).map(constant)).filter_map(|scenario| with_names(&scenario));
    named.flat_map(|named| [healed(&named), named])
}

/// Ends all `drop_next` that have not happened: some promises ask for that.
fn healed(named: &Scenario) -> Scenario {
    let mut healed = named.clone();
    let last = healed.events.iter().map(|planned| planned.at).max().unwrap_or_default();
    healed.events.push(Planned { at: last + Span::micros(1), fault: Fault::Heal });
    healed
}

fn with_names(scenario: &Scenario) -> Option<Scenario> {
    let mut lost = Vec::new();
    run::run_with(
        scenario,
        Box::new(|event| {
            if let What::Drop(msg, DropReason::Lost) = &event.what {
                let kind = msg.kind.name().to_owned();
                lost.push(Planned {
                    at: event.at,
                    fault: Fault::DropNext { from: msg.from, to: msg.to, kind },
                });
            }
        }),
    );
    lost.retain(|planned| planned.at < scenario.until);
    if lost.len() > LOSSES_MAX {
        return None;
    }
    let mut named = scenario.clone();
    named.network.base.loss = 0.0;
    named.network.links.iter_mut().for_each(|(_, _, rule)| rule.loss = 0.0);
    for planned in &mut named.events {
        if let Fault::Network { loss, .. } = &mut planned.fault {
            *loss = None;
        }
    }
    named.events.retain(|planned| planned.fault != NOTHING);
    named.events.extend(lost);
    named.events.sort_by_key(|planned| planned.at);
    Some(named)
}

const NOTHING: Fault = Fault::Network { latency: None, loss: None, duplicate: None, fifo: None };

fn loses(scenario: &Scenario) -> bool {
    let by_chance = |rule: &LinkRule| rule.loss > 0.0;
    let by_event = scenario.events.iter().any(|planned| match planned.fault {
        Fault::Network { loss, .. } => loss.is_some_and(|loss| loss > 0.0),
        _ => false,
    });
    by_event
        || by_chance(&scenario.network.base)
        || scenario.network.links.iter().any(|(_, _, rule)| by_chance(rule))
}
