//! EPOCH. Every leadership has a number above all that its leader had seen; nobody repeats what no leader said.

use bellwether_proto::promise::Property::Epoch;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 100;

fn found(trace: &Trace) -> Found {
    trace.found(Epoch, END)
}

fn what(trace: &Trace) -> String {
    trace.violation(Epoch, END).flatten().expect("it is broken").what
}

/// Node 1 leads the others with epoch 1.
fn settled() -> Trace {
    Trace::started(3).announces(1, 1, 1).at(1).announces(2, 1, 1).announces(3, 1, 1)
}

#[test]
fn each_leadership_has_a_larger_number() {
    assert_eq!(found(&settled()), Holds);
    let succession = settled().at(20).crash(1).at(21).announces(2, 2, 2).at(22).announces(3, 2, 2);
    assert_eq!(found(&succession), Holds);
    assert_eq!(found(&succession.at(30).recover(1).announces(1, 2, 2)), Holds, "it comes back, and follows");
}

#[test]
fn gaps_are_allowed_and_so_is_saying_the_same_again() {
    let again = settled().at(20).announces_nobody(3, 1).at(21).announces(3, 1, 1);
    assert_eq!(found(&again), Holds);
    assert_eq!(found(&again.at(30).announces(1, 1, 40).announces(2, 1, 40).announces(3, 1, 40)), Holds);
}

#[test]
fn groups_that_cannot_reach_each_other_count_on_their_own() {
    let apart = settled().at(20).announces_nobody(3, 1).announces(3, 3, 2).at(30).announces(1, 1, 2);
    assert_eq!(found(&apart), Holds);
    assert_eq!(
        found(&apart.at(40).announces(3, 1, 2)),
        Holds,
        "what it led with is not below what it follows"
    );
}

#[test]
fn an_epoch_that_its_leader_has_had_is_a_repetition() {
    let again = settled().at(20).announces_nobody(1, 1).at(21).announces(1, 1, 1);
    assert_eq!(found(&again), Violated(21));
    assert_eq!(what(&again), "1 announces that it leads with epoch 1, and had seen 1");
    let restarted = settled().at(20).crash(1).at(30).recover(1).at(40).announces(1, 1, 1);
    assert_eq!(found(&restarted), Violated(40), "its disk remembers");
}

#[test]
fn an_epoch_that_its_leader_has_seen_is_a_repetition() {
    let second = settled().at(20).crash(1).at(21).announces(2, 2, 1);
    assert_eq!(found(&second), Violated(21));
    assert_eq!(what(&second), "2 announces that it leads with epoch 1, and had seen 1");
    let restarted = settled().at(20).crash(2).at(30).recover(2).at(40).announces(2, 2, 1);
    assert_eq!(found(&restarted), Violated(40), "what it has followed is on its disk, too");
}

#[test]
fn what_was_heard_at_the_instant_of_a_crash_may_be_forgotten() {
    let torn = |crashed| {
        let trace = settled().at(20).announces(1, 1, 2).announces(2, 1, 2).at(crashed).crash(2);
        trace.at(30).recover(2).at(40).announces(2, 2, 2)
    };
    assert_eq!(found(&torn(20)), Holds, "it is told before it is on disk");
    assert_eq!(found(&torn(21)), Violated(40));
    let own = settled().at(20).announces(1, 1, 2).crash(1).at(30).recover(1).at(40).announces(1, 1, 2);
    assert_eq!(found(&own), Violated(40), "its own is on disk before it is told");
    let before = settled().at(20).announces(1, 1, 2).announces(2, 1, 2).crash(2);
    let before = before.at(30).recover(2).at(40).announces(2, 2, 1);
    assert_eq!(found(&before), Violated(40), "what came before that is not forgotten");
}

#[test]
fn nobody_goes_back_to_an_earlier_leadership() {
    let back = settled().at(20).announces(2, 2, 2).announces(3, 2, 2).at(30).announces(3, 1, 1);
    assert_eq!(found(&back), Violated(30));
    assert_eq!(what(&back), "3 goes back from epoch 2 to 1 of 1");
}

#[test]
fn nobody_announces_what_its_leader_has_not() {
    let invented = settled().at(20).announces(2, 1, 7).at(30).announces(3, 1, 8);
    assert_eq!(found(&invented), Violated(20));
    assert_eq!(what(&invented), "2 announces that 1 leads with epoch 7, which 1 has not");
    let elsewhere = settled().at(20).announces(2, 3, 1);
    assert_eq!(found(&elsewhere), Violated(20), "it is 1's epoch, not 3's");
    assert_eq!(found(&settled().at(20).announces(2, 9, 2)), Violated(20), "there is no node 9");
}

#[test]
fn clocks_may_differ_about_who_announced_first() {
    let early = Trace::started(2).at(5).announces(2, 1, 1).at(6).announces(1, 1, 1);
    assert_eq!(found(&early), Holds);
}

#[test]
fn the_first_violation_is_the_one_that_is_told() {
    let both = settled().at(20).announces(2, 1, 7).at(30).announces(1, 1, 1).at(40).announces(1, 1, 1);
    assert_eq!(found(&both), Violated(30), "seen as it happens; an invention shows in the end");
}

#[test]
fn without_a_leader_there_is_nothing_to_judge() {
    assert_eq!(found(&Trace::started(3)), Vacuous);
    assert_eq!(found(&Trace::started(3).announces_nobody(1, 4).announces_nobody(1, 2)), Vacuous);
    assert_eq!(found(&Trace::led(3)), Vacuous, "whom elections name is another matter");
}
