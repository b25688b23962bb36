//! What the agent adds: handing over, and machines that stop.

use super::*;

/// Twice the bound on delays: later than that, and everybody has given a leader up.
const GIVEN_UP: Span = Span::millis(20);

#[test]
fn who_is_handed_leadership_contends_alone() {
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.message(2, heartbeat(0, 1));
    assert_eq!(rig.leader(), Some(1));
    rig.input(Input::HandOver(id(3)));
    assert_eq!((rig.leader(), rig.kept()), (Some(3), [].into()), "with the count that it has");
    assert_eq!(rig.sent(), [(0, heartbeat(1, 2))], "and says so at once");
}

/// It may have come up just before.
#[test]
fn who_is_handed_leadership_while_it_listens_takes_part() {
    let mut rig = Rig::<Fjr>::new(3, 3, Variant::Repaired, 4);
    rig.input(Input::HandOver(id(3)));
    assert_eq!((rig.leader(), rig.kept()), (Some(3), [5].into()));
    assert_eq!(rig.sent(), [(0, heartbeat(5, 1))]);
}

#[test]
fn the_others_listen_for_whom_leadership_was_handed_to() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::HandOver(id(3)));
    assert_eq!((rig.leader(), rig.did.len()), (None, 0), "it names nobody, and says nothing");
    rig.message(3, heartbeat(7, 1));
    assert_eq!((rig.leader(), rig.kept()), (Some(3), [8].into()), "it comes after whom it waited for");
    rig.message(1, heartbeat(9, 2));
    assert_eq!(rig.leader(), Some(3));
}

/// Its first heartbeat was faster than the word of it.
#[test]
fn whom_leadership_was_handed_to_may_have_been_heard_already() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.message(3, heartbeat(7, 1));
    rig.input(Input::HandOver(id(3)));
    assert_eq!((rig.leader(), rig.kept()), (Some(3), [8].into()));
}

#[test]
fn whoever_hands_over_stops_aloud_and_listens() {
    let mut rig = Rig::<Fjr>::repaired(1, 1);
    assert_eq!(rig.leader(), Some(1));
    rig.input(Input::HandOver(id(3)));
    assert_eq!((rig.leader(), rig.sent()), (None, [(0, stop(1, 1))].into()));
    rig.message(3, heartbeat(7, 1));
    assert_eq!((rig.leader(), rig.kept()), (Some(3), [8].into()));
}

/// Nothing comes of it: after a timeout all contend again, as if they had just come up.
#[test]
fn a_hand_over_to_one_that_does_not_take_it_delays_a_leader_by_a_timeout() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::HandOver(id(3)));
    rig.advance(Span::micros(119_999));
    assert_eq!(rig.leader(), None);
    rig.advance(Span::micros(1));
    assert_eq!((rig.leader(), rig.kept()), (Some(2), [2].into()), "one more than it had");
}

#[test]
fn whoever_is_next_after_a_resignation_leads_at_once() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: Some(id(2)) });
    assert_eq!((rig.leader(), rig.sent()), (Some(2), [(0, heartbeat(1, 2))].into()), "and suspects nobody");
}

#[test]
fn the_others_expect_whoever_is_next_after_a_resignation() {
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: Some(id(2)) });
    assert_eq!((rig.leader(), rig.did.len()), (Some(2), 0), "it need not be heard first");
    rig.message(2, heartbeat(1, 1));
    assert_eq!((rig.leader(), rig.did.len()), (Some(2), 0));
}

/// The books of the one that went were old.
#[test]
fn who_precedes_the_one_that_was_said_to_be_next_leads() {
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: Some(id(2)) });
    rig.message(2, heartbeat(7, 1));
    assert_eq!((rig.leader(), rig.sent()), (Some(3), [(0, heartbeat(1, 2))].into()));
}

/// It has not been heard, and its count is what it was long ago: with one more than that, this node might precede it.
#[test]
fn whom_leadership_was_handed_to_is_listened_for_if_it_was_only_said_to_be_next() {
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: Some(id(2)) });
    rig.input(Input::HandOver(id(2)));
    assert_eq!((rig.leader(), rig.did.len()), (Some(2), 0));
    rig.message(2, heartbeat(7, 1));
    assert_eq!((rig.leader(), rig.kept()), (Some(2), [8].into()));
}

#[test]
fn who_was_said_to_be_next_and_is_silent_is_given_up_like_any_leader() {
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: Some(id(2)) });
    rig.advance(PATIENCE);
    assert_eq!((rig.leader(), rig.sent()[0].1), (Some(3), suspicion_of(2, 1)));
}

#[test]
fn a_resignation_without_a_word_of_who_is_next_leaves_all_to_contend() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Resigned { who: id(1), next: None });
    assert_eq!((rig.leader(), rig.sent()), (Some(2), [(0, heartbeat(1, 2))].into()));
}

#[test]
fn a_leader_that_overslept_begins_another_incarnation() {
    let mut rig = Rig::<Fjr>::repaired(1, 1);
    let due = rig.election.beat_due;
    rig.now = due + GIVEN_UP;
    rig.input(Input::Deadline);
    assert_eq!(rig.sent(), [(0, heartbeat(1, 1))], "late, but nobody has given it up");
    rig.now = rig.election.beat_due + GIVEN_UP + Span::micros(1);
    rig.input(Input::Deadline);
    assert_eq!(rig.did, [Action::BeginIncarnation(Cause::Silent(id(1)))], "and says nothing in this one");
}

/// Whatever it wakes up for, be it what was waiting to be read.
#[test]
fn it_finds_that_it_overslept_at_the_first_thing_that_happens() {
    let inputs = [
        Input::Message { from: id(2), msg: heartbeat(0, 4) },
        Input::Gone(id(2)),
        Input::NewIncarnation(id(2)),
        Input::HandOver(id(2)),
        Input::Deadline,
    ];
    for input in inputs {
        let mut rig = Rig::<Fjr>::repaired(1, 1);
        rig.now = rig.now + TAU * 50;
        rig.input(input);
        assert_eq!(rig.did, [Action::BeginIncarnation(Cause::Silent(id(1)))]);
    }
}

#[test]
fn neither_followers_nor_the_printed_variant_oversleep() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.now = rig.now + TAU * 50;
    rig.input(Input::Deadline);
    assert!(
        !rig.did.contains(&Action::BeginIncarnation(Cause::Silent(id(1)))),
        "it was not waited for: {:?}",
        rig.did
    );
    let mut rig = Rig::<Fjr>::printed(1, 1);
    rig.now = rig.now + TAU * 50;
    rig.input(Input::Deadline);
    assert_eq!(rig.sent(), [(0, heartbeat(0, 1))]);
}

/// It is this node that was late, and what the other sent may be waiting to be read.
#[test]
fn a_timer_that_is_seen_late_is_set_anew_once() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    let expired = rig.election.members[&id(1)].timer;
    rig.now = expired + TAU + Span::micros(1);
    rig.input(Input::Deadline);
    assert_eq!((rig.leader(), rig.did.len()), (Some(1), 0), "nobody is suspected");
    assert_eq!(rig.election.members[&id(1)].timer, rig.now + PATIENCE);
    rig.advance(PATIENCE);
    assert_eq!((rig.leader(), rig.sent()[0].1), (Some(2), suspicion_of(1, 1)), "silent it was");
}

#[test]
fn a_timer_that_is_seen_a_little_late_says_what_it_says() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.now = rig.election.members[&id(1)].timer + TAU;
    rig.input(Input::Deadline);
    assert_eq!((rig.leader(), rig.sent()[0].1), (Some(2), suspicion_of(1, 1)));
}

/// What was set anew taught nothing: the next heartbeat finds as much patience as before.
#[test]
fn a_timer_that_was_seen_late_is_no_mistake_of_the_other() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.now = rig.now + TAU * 50;
    rig.input(Input::Deadline);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(rig.election.members[&id(1)].timer, rig.now + PATIENCE);
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let why = |input: Input<Msg>| {
        let mut rig = Rig::<Fjr>::repaired(3, 3);
        rig.message(1, heartbeat(0, 1));
        rig.message(2, heartbeat(0, 1));
        rig.input(input);
        assert_ne!(rig.leader(), Some(1));
        rig.why
    };
    let said = |from: u32, msg: Msg| Input::Message { from: id(from), msg };
    assert_eq!(why(Input::Gone(id(1))), Some(Cause::Gone(id(1))));
    assert_eq!(why(Input::NewIncarnation(id(1))), Some(Cause::Gone(id(1))));
    assert_eq!(why(Input::Resigned { who: id(1), next: None }), Some(Cause::Resigned(id(1))));
    assert_eq!(why(Input::HandOver(id(3))), Some(Cause::HandedOver(id(1), id(3))));
    assert_eq!(why(said(1, stop(0, 1))), Some(Cause::Outranked(id(1))));
    assert_eq!(why(said(1, heartbeat(4, 1))), Some(Cause::Silent(id(1))), "to others, who told it");

    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.advance(PATIENCE);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    rig.message(2, heartbeat(0, 1));
    assert_eq!((rig.leader(), rig.why), (Some(2), Some(Cause::Outranked(id(3)))), "whoever is met");

    let mut rig = Rig::<Fjr>::repaired(1, 3);
    rig.message(2, heartbeat(1, 1));
    rig.message(3, suspicion(1));
    assert_eq!((rig.leader(), rig.why), (Some(2), Some(Cause::Silent(id(1)))), "itself, to 3");
}
