//! What the leadership layer promises, whichever algorithm is below it.

use bellwether_proto::election::Spec;
use bellwether_proto::promise::{Assumption, Promise, Property};
use bellwether_proto::spec::Mode;

/// Members that are connected with each other all the time: what is said arrives, once, in order and in time, and everybody
/// who is up runs.
const CONNECTED: [Assumption; 6] = [
    Assumption::Reliable,
    Assumption::Fifo,
    Assumption::NoDuplicates,
    Assumption::BoundedDelay,
    Assumption::ClocksAgree,
    Assumption::NoPauses,
];

/// The same, and nobody's disk is so slow that the others do not wait for it.
const CONNECTED_WITH_QUICK_DISKS: [Assumption; 7] = connected_and(Assumption::QuickDisks);

/// Members that are connected, and nobody comes back whose memory alone goes back far enough.
const CONNECTED_WITHOUT_RETURN: [Assumption; 7] = connected_and(Assumption::NoRecoveries);

const fn connected_and(more: Assumption) -> [Assumption; 7] {
    let [a, b, c, d, e, f] = CONNECTED;
    [a, b, c, d, e, f, more]
}

/// Members that are connected with each other, some of which may not run, and are then found silent.
const CONNECTED_BUT_FOR_PAUSES: &[Assumption] = &[
    Assumption::Reliable,
    Assumption::Fifo,
    Assumption::NoDuplicates,
    Assumption::BoundedDelay,
    Assumption::ClocksAgree,
    Assumption::ReportsUnreachable,
];

/// What members promise of which at most one leads at a time.
pub(super) const EXCLUSIVE: &[Promise] = &[
    Promise { property: Property::TokenGrows, under: &[] },
    Promise { property: Property::TokenOnce, under: &[] },
    Promise { property: Property::OneHolder, under: &[Assumption::TrustedClocks] },
    Promise { property: Property::Freed, under: &CONNECTED },
    Promise { property: Property::Granted, under: CONNECTED_BUT_FOR_PAUSES },
    Promise { property: Property::WorkEndsFirst, under: &[] },
    Promise { property: Property::Answered, under: &[] },
    // Not ANSWER-TRUE: whoever is granted leadership may learn of it after whoever handed it over.
];

/// What members that announce leadership promise.
pub(super) fn promises(spec: &Spec) -> Vec<Promise> {
    let mut promises = vec![Promise { property: Property::Epoch, under: &[] }];
    if !spec.runs_in_agent() {
        return promises;
    }
    let once = match spec.mode {
        Mode::Majority => &[][..],
        Mode::AnySurvivor => &CONNECTED_WITHOUT_RETURN,
    };
    promises.extend([
        Promise { property: Property::EpochGrows, under: &CONNECTED },
        Promise { property: Property::EpochOnce, under: once },
        Promise { property: Property::LeadsAlone, under: &[Assumption::ClocksAgree] },
        Promise { property: Property::WorkEndsFirst, under: &[] },
        Promise { property: Property::Answered, under: &[] },
        Promise { property: Property::AnswerTrue, under: &[] },
        Promise { property: Property::Led, under: CONNECTED_BUT_FOR_PAUSES },
    ]);
    // Groups that merge one after the other each have a leader, which counts for itself.
    if !spec.merges() {
        promises.push(Promise { property: Property::AnnouncedOnce, under: &CONNECTED });
    }
    if spec.hands_over {
        promises.push(Promise { property: Property::TakenOver, under: &CONNECTED_WITH_QUICK_DISKS });
        promises.push(Promise { property: Property::Preferred, under: &CONNECTED_WITH_QUICK_DISKS });
    }
    promises
}
