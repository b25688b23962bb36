//! WORK-ENDS-FIRST. Work may take 20 to end.

use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::Cause;
use bellwether_proto::promise::Property::WorkEndsFirst;
use bellwether_proto::trace::{DropReason, Program};

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 1_000;
const RESIGNED: Cause = Cause::Resigned(NodeId(1));

fn found(trace: &Trace) -> Found {
    trace.found(WorkEndsFirst, END)
}

/// Node 1 leads and works; at 100 leadership is asked back.
fn asked_back() -> Trace {
    let working = Trace::settled(3).program(1, Program::WorkBegins { epoch: 1 });
    working.at(100).program(1, Program::AskedBack { epoch: 1 })
}

fn ended(trace: Trace) -> Trace {
    trace.program(1, Program::WorkEnds)
}

fn gives_back(trace: Trace) -> Trace {
    trace.announces_because(1, None, 1, RESIGNED)
}

#[test]
fn leadership_is_given_back_when_the_work_has_ended() {
    assert_eq!(found(&gives_back(ended(asked_back().at(110)))), Holds);
    let next = gives_back(ended(asked_back().at(110))).at(112).announces_because(2, Some(2), 2, RESIGNED);
    assert_eq!(found(&next), Holds);
}

#[test]
fn who_does_not_wait_for_its_work_gives_back_too_soon() {
    let hasty = gives_back(asked_back().at(110));
    assert_eq!(found(&ended(hasty.clone().at(111))), Violated(110));
    let what = hasty.violation(WorkEndsFirst, END).flatten().expect("it is broken").what;
    assert_eq!(
        what,
        "1 announces that 1 has given leadership back, whose work goes on 10ms after it was to end: it may for 20ms"
    );
    let unasked = gives_back(Trace::settled(3).program(1, Program::WorkBegins { epoch: 1 }).at(50));
    assert_eq!(found(&unasked), Violated(50), "the work was never to end");
}

#[test]
fn nobody_follows_on_a_leader_whose_work_goes_on() {
    let handed = Cause::HandedOver(NodeId(1), NodeId(2));
    let next = asked_back().at(110).announces_because(2, Some(2), 2, handed);
    assert_eq!(found(&next), Violated(110));
    let heard = asked_back().at(110).announces_because(3, Some(2), 2, handed);
    assert_eq!(found(&heard), Vacuous, "only who leads counts");
    let hearsay = asked_back().drop(2, 3, DropReason::Lost).at(110).announces_because(2, Some(2), 2, handed);
    assert_eq!(found(&hearsay), Vacuous, "it may have missed something");
}

#[test]
fn work_that_does_not_end_in_time_is_not_waited_for() {
    assert_eq!(found(&gives_back(asked_back().at(119))), Violated(119));
    assert_eq!(found(&gives_back(asked_back().at(120))), Holds);
    assert_eq!(found(&gives_back(asked_back().drift_ppm(50_000).at(119))), Holds, "by a clock that is fast");
}

#[test]
fn leadership_that_is_lost_is_not_given_back() {
    let lost = asked_back().at(110).announces_because(1, None, 1, Cause::Outranked(NodeId(1)));
    let lost = lost.announces_because(2, Some(2), 2, Cause::Outranked(NodeId(1)));
    assert_eq!(found(&lost), Vacuous);
    let crashed = asked_back().at(110).crash(1).at(112).announces_because(2, Some(2), 2, RESIGNED);
    assert_eq!(found(&crashed), Vacuous, "its work has ended with it");
}

#[test]
fn without_work_there_is_nothing_to_judge() {
    assert_eq!(found(&Trace::settled(3)), Vacuous);
    assert_eq!(found(&gives_back(Trace::settled(3).at(100))), Vacuous);
}
