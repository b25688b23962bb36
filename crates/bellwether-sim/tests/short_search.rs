//! A search of some seconds, in every kind of world in which an algorithm makes promises: what `make mutants` can afford to
//! repeat for every mutant. Longer ones are in `plans` and `swarm`, and in `make soak`.

use bellwether_sim::campaign::{Campaign, Place};
use bellwether_sim::swarm::play;

#[test]
fn every_campaign_keeps_its_promises_for_a_while() {
    for campaign in Campaign::all() {
        let mut judged = 0;
        for seed in 1..=runs(campaign.place) {
            let plan = campaign.draw(seed);
            let played = play(&plan);
            let broken = played.findings.iter().find(|finding| finding.violation.is_some());
            assert!(broken.is_none(), "{} {seed}: {broken:?}", campaign.name());
            judged += played.findings.len();
        }
        assert!(judged > 0, "{}: nothing was promised", campaign.name());
    }
}

/// Runs in models are long.
const fn runs(place: Place) -> u64 {
    match place {
        Place::Healing | Place::Agent | Place::Promised { .. } | Place::Restricted(_) | Place::Flapping => 50,
        Place::Model(_) => 2,
    }
}
