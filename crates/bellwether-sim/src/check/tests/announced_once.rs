//! ANNOUNCED-ONCE. A group has been left alone for long enough after 56.

use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::Event;
use bellwether_proto::promise::Property::AnnouncedOnce;
use bellwether_proto::tenure::{Command, Hold, Ticket};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 1_000;

const RESIGN: Command = Command::Resign { hold: Hold::Default };

fn found(trace: &Trace) -> Found {
    trace.found(AnnouncedOnce, END)
}

/// The leader crashes when all is settled, and node 2 leads next.
fn succeeded() -> Trace {
    Trace::settled(3).at(100).crash(1).at(105).announces(2, 2, 2).announces(3, 2, 2)
}

#[test]
fn one_announces_itself_after_a_crash_and_at_the_start() {
    assert_eq!(found(&Trace::settled(3)), Holds);
    assert_eq!(found(&succeeded()), Holds);
    let back =
        succeeded().at(200).recover(1).at(205).announces(1, 1, 3).announces(2, 1, 3).announces(3, 1, 3);
    assert_eq!(found(&back), Holds);
    assert_eq!(found(&back.at(300).crash(3)), Holds, "or none");
}

#[test]
fn a_second_one_is_one_too_many() {
    let contended = succeeded().at(110).announces(3, 3, 3);
    assert_eq!(found(&contended), Violated(110));
    let what = contended.violation(AnnouncedOnce, END).flatten().expect("it is broken").what;
    assert_eq!(
        what,
        "3 announces that it leads with epoch 3, after 2 did with 2, 10ms after 1 crashed: one announcement was due"
    );
    assert_eq!(
        found(&succeeded().at(600).announces(2, 2, 3)),
        Violated(600),
        "however late, and by the same"
    );
    assert_eq!(found(&Trace::settled(3).at(20).announces(1, 1, 2)), Violated(20), "at the start, too");
}

#[test]
fn two_things_that_befall_a_group_may_change_it_twice() {
    let twice = succeeded().at(200).crash(2).at(205).announces(3, 3, 3);
    assert_eq!(found(&twice), Holds);
}

#[test]
fn what_befalls_a_group_that_is_not_settled_is_not_judged() {
    let hasty = Trace::settled(4).at(100).crash(1).at(102).crash(2).at(105).announces(3, 3, 2);
    assert_eq!(found(&hasty.at(110).announces(4, 4, 3)), Holds, "the start was judged");
    let soon = succeeded().at(120).crash(2).at(125).announces(3, 3, 3).at(130).announces(3, 3, 4);
    assert_eq!(found(&soon), Holds, "nobody has been left alone for long enough");
}

#[test]
fn what_happens_at_one_instant_befalls_the_group_once() {
    let at_once = Trace::settled(4).at(100).crash(1).crash(2).at(105).announces(3, 3, 2).announces(4, 3, 2);
    assert_eq!(found(&at_once), Holds);
    assert_eq!(found(&at_once.at(110).announces(4, 4, 3)), Violated(110));
    let mixed = Trace::settled(4).at(100).crash(4).at(200).crash(1).recover(4).at(205).announces(2, 2, 2);
    assert_eq!(found(&mixed.at(210).announces(4, 4, 3)), Holds, "a crash and a return are two things");
}

#[test]
fn what_is_asked_of_a_member_is_meant_to_change_who_leads() {
    let asked = Program::Asked { ticket: Ticket(1), command: RESIGN };
    let resigned = Trace::settled(3).at(100).program(1, asked).at(110).stands_aside(1);
    let resigned = resigned.announces_nobody(1, 1).at(112).announces(2, 2, 2).announces(3, 2, 2);
    assert_eq!(found(&resigned), Holds);
    // It stands again, which befalls the group; that it is another incarnation for another reason would not.
    let again = resigned.at(300).node(1, Event::Reborn(Incarnation(2))).normal(1, 1, 1);
    assert_eq!(found(&again.clone().at(305).announces(1, 1, 3)), Holds);
    assert_eq!(found(&again.at(305).announces(1, 1, 3).at(310).announces(1, 1, 4)), Violated(310));
    let reborn = succeeded().at(300).node(3, Event::Reborn(Incarnation(2))).at(305).announces(3, 3, 3);
    assert_eq!(found(&reborn), Violated(305));
}

#[test]
fn a_leader_that_makes_way_does_so_once() {
    let way = succeeded().at(200).program(2, Program::AskedBack { epoch: 2 }).at(210).announces(3, 3, 3);
    assert_eq!(found(&way), Holds);
    assert_eq!(found(&way.at(220).announces(3, 3, 4)), Violated(220));
}

#[test]
fn without_a_leader_there_is_nothing_to_judge() {
    assert_eq!(found(&Trace::started(3)), Vacuous);
    assert_eq!(found(&Trace::led(3)), Vacuous, "whom elections name is another matter");
}
