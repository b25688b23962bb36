//! LEADS-ALONE. c_O is 314.

use bellwether_proto::promise::Property::LeadsAlone;

use super::{Found, Holds, Trace, Vacuous, Violated};

fn found(trace: &Trace) -> Found {
    trace.found(LeadsAlone, 2_000)
}

#[test]
fn nobody_leads_beside_another_for_long() {
    let two = Trace::settled(3).at(20).announces(2, 2, 2);
    assert_eq!(found(&two), Violated(334));
    assert_eq!(found(&two.clone().at(334).announces_nobody(2, 2)), Holds);
    assert_eq!(found(&two.clone().at(200).crash(3)), Violated(514), "whatever happens gives them time");
    let what = two.violation(LeadsAlone, 2_000).flatten().expect("it is broken").what;
    assert_eq!(what, "1 and 2 both lead, and 1 hears both, for more than 314ms");
}

#[test]
fn whoever_hears_both_is_enough() {
    let two = || Trace::settled(3).cut(1, 2).at(20).announces(2, 2, 2);
    assert_eq!(found(&two()), Violated(334));
    assert_eq!(found(&two().cut(2, 3)), Holds, "each side has its leader");
    assert_eq!(found(&two().crash(3)), Holds);
    assert_eq!(found(&two().pause(3)), Vacuous, "who knows whom that one would hear");
}

#[test]
fn where_a_majority_is_needed_no_two_lead_wherever_they_are() {
    let mut two = Trace::settled(3).cut(1, 2).cut(2, 3).at(20).announces(2, 2, 2);
    two.facts.leading.quorum = 2;
    assert_eq!(found(&two), Violated(334));
}
