//! What plans of exclusive leadership add: who votes, how long leases last, and clocks that run as fast and as slow as they are
//! trusted to.

use bellwether_proto::exclusive::grant::GrantKind;
use bellwether_proto::exclusive::message;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::limits::Limits;
use crate::chance::below;
use crate::scenario::{Exclusive, Fault, Planned, Scenario};

/// A lease is at least so many periods of the leader, as agents have it.
const PERIODS_MIN: u64 = 5;

/// Makes a plan one of members of which at most one leads at a time.
pub(super) fn add(mut scenario: Scenario, limits: &Limits) -> Scenario {
    let mut rng = ChaCha8Rng::seed_from_u64(scenario.seed ^ 0x6578_636c);
    let mut terms = Exclusive::of(scenario.nodes);
    // An even number does not vote, and neither do more than need be.
    let voters = [scenario.nodes.div_ceil(2) * 2 - 1, 3.min(scenario.nodes | 1)][below(2, &mut rng) as usize];
    terms.voters = (1..=voters.min(scenario.nodes)).map(NodeId).collect();
    if terms.voters.len().is_multiple_of(2) {
        terms.voters.pop_last();
    }
    terms.ttl =
        Span::millis([300, 1_000, 2_000][below(3, &mut rng) as usize]).max(scenario.timing.tau * PERIODS_MIN);
    if below(4, &mut rng) == 0 {
        terms.kind = GrantKind::Token;
    }
    if below(4, &mut rng) == 0 && scenario.nodes > 2 {
        terms.witnesses.insert(NodeId(1 + below(u64::from(scenario.nodes), &mut rng) as u32));
    }
    let trusted = terms.drift.0 as i32;
    // Half of the clocks, in half of the plans.
    let drifts = below(2, &mut rng) == 0;
    for node in scenario.ids().filter(|_| drifts) {
        match below(4, &mut rng) {
            0 => drop(scenario.drift_ppm.insert(node, trusted)),
            1 => drop(scenario.drift_ppm.insert(node, -trusted)),
            _ => {}
        }
    }
    scenario.exclusive = Some(terms);
    if limits.kinds.is_none() {
        wait_for_votes(&mut scenario, &mut rng);
        change_voters(&mut scenario, &mut rng);
    }
    scenario
}

/// In a quarter of the plans a voter is removed, and another added if there is one, while things go wrong.
fn change_voters(scenario: &mut Scenario, rng: &mut ChaCha8Rng) {
    let Some(terms) = scenario.exclusive.clone().filter(|terms| terms.voters.len() > 1) else { return };
    if below(4, rng) > 0 {
        return;
    }
    let mut at = || Time::ZERO + Span::micros(below(scenario.until.as_micros() / 2, rng));
    let times = (at(), at());
    let removed = terms.voters.iter().nth(below(terms.voters.len() as u64, rng) as usize);
    let added = scenario.ids().find(|node| !terms.voters.contains(node));
    let removal = removed.map(|node| Planned { at: times.0, fault: Fault::RemoveVoter(*node) });
    let addition = added.map(|node| Planned { at: times.1, fault: Fault::AddVoter(node) });
    scenario.events.extend(removal.into_iter().chain(addition));
    scenario.events.sort_by_key(|planned| planned.at);
}

/// About half of the messages that a fault waits for are of exclusive leadership.
fn wait_for_votes(scenario: &mut Scenario, rng: &mut ChaCha8Rng) {
    // The last comes only where a disk was put back to an earlier state, which no plan does.
    let (_, kinds) = message::KINDS.split_last().expect("there are kinds");
    for planned in &mut scenario.events {
        if let Fault::DropNext { kind, .. } | Fault::CrashBeforeSend { kind, .. } = &mut planned.fault
            && below(2, rng) == 0
        {
            kinds[below(kinds.len() as u64, rng) as usize].name().clone_into(kind);
        }
    }
}
