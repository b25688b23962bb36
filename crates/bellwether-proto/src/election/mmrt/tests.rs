use super::super::raynal::rig::{Rig, TAU, id};
use super::*;
use crate::cause::Cause;
use crate::election::{Action, SuspicionCount};

const INCARNATION: Incarnation = Incarnation(2);

fn response(incarnation: u64, sn: u64, from: &[u32]) -> Msg {
    Msg::Response(
        QueryNo { incarnation: Incarnation(incarnation), sn },
        RecFrom::of(from.iter().copied().map(NodeId)),
    )
}

fn query(counts: [u64; 3]) -> Msg {
    let counts =
        SuspicionCounts::of(counts.map(|count| SuspicionCount { incarnation: Incarnation(1), count }));
    Msg::QueryAlive(QueryNo { incarnation: INCARNATION, sn: 9 }, counts)
}

/// (302)–(306) with n = 3, t = 1: oneself and one more.
#[test]
fn the_first_responses_decide_who_is_counted() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    assert_eq!(rig.sent().len(), 2);
    rig.message(3, response(0, 1, &[2, 3]));
    assert_eq!(rig.leader(), Some(1), "rec_from is Π at first, so nobody is missing yet");
    rig.message(1, response(0, 1, &[1]));
    assert_eq!(rig.election.rec_from, BTreeSet::from([1, 2]), "a losing response is discarded");
    rig.advance(TAU);
    rig.message(3, response(0, 2, &[2, 3]));
    assert_eq!((rig.election.count.get(0), rig.leader()), (1, Some(2)), "1 is in neither set");
}

/// E-RA3: T2 sees what line 306 assigns.
#[test]
fn responses_carry_the_winners_of_the_last_query() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    rig.message(3, response(0, 1, &[2, 3]));
    rig.message(1, query([0; 3]));
    let no = QueryNo { incarnation: INCARNATION, sn: 9 };
    assert_eq!(rig.sent(), [(1, Msg::Response(no, RecFrom::of([id(2), id(3)])))]);
}

#[test]
fn only_the_open_querys_responses_count_each_sender_once() {
    let mut rig = Rig::<Mmrt>::printed(2, 5); // n - t = 4
    rig.message(1, response(0, 0, &[1]));
    rig.message(1, response(0, 2, &[1]));
    rig.message(9, response(0, 1, &[1]));
    for _ in 0..3 {
        rig.message(1, response(0, 1, &[1]));
    }
    assert!(rig.election.query.is_open);
    rig.message(3, response(0, 1, &[3]));
    rig.message(4, response(0, 1, &[4, 77]));
    assert!(!rig.election.query.is_open);
}

/// E-RA7: as printed a lost message blocks it for ever; repaired it asks again those that have not answered.
#[test]
fn an_open_query_is_sent_again() {
    let mut printed = Rig::<Mmrt>::printed(2, 5);
    assert_eq!(printed.election.deadline(), Time::NEVER);
    printed.advance(TAU);
    let mut repaired = Rig::<Mmrt>::new(2, 5, Variant::Repaired, 0);
    repaired.message(3, response(2, 1, &[3]));
    repaired.advance(TAU);
    let again: Vec<u32> = repaired.sent().iter().map(|(to, _)| *to).collect();
    assert_eq!(again, [1, 4, 5]);
    assert!(matches!(repaired.sent()[0].1, Msg::QueryAlive(QueryNo { incarnation: INCARNATION, sn: 1 }, _)));
}

#[test]
fn a_response_to_an_earlier_incarnation_is_not_taken() {
    let mut rig = Rig::<Mmrt>::new(2, 3, Variant::Repaired, 0);
    rig.message(3, response(1, 1, &[3]));
    assert!(rig.election.query.is_open);
    rig.message(3, response(2, 1, &[3]));
    assert!(!rig.election.query.is_open);
}

/// C50: a period passes between two queries, and a late end delays the next.
#[test]
fn queries_keep_their_pace() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    rig.now = rig.now + TAU / 2;
    rig.message(3, response(0, 1, &[3]));
    assert_eq!(rig.election.deadline(), Time::ZERO + TAU);
    rig.advance(TAU / 2);
    rig.now = rig.now + TAU * 3;
    rig.message(3, response(0, 2, &[3]));
    assert_eq!(rig.election.deadline(), rig.now);
}

#[test]
fn who_comes_back_names_nobody_until_it_has_heard_a_query_and_returns_below_the_leader() {
    let mut rig = Rig::<Mmrt>::new(1, 3, Variant::Repaired, 4);
    assert_eq!((rig.leader(), rig.kept()), (None, [5].into()), "persisted before the first query");
    assert!(matches!(rig.did[0], Action::Note { .. }));
    rig.message(2, query([4, 6, 8]));
    assert_eq!([0, 1, 2].map(|rank| rig.election.count.get(rank)), [6, 6, 8]);
    assert!(matches!(rig.did[0], Action::Note { count: 6 }), "before the response: {:?}", rig.did);
    assert_eq!(rig.leader(), Some(1));
    let mut rig = Rig::<Mmrt>::new(1, 3, Variant::Repaired, 4);
    rig.message(2, query([4, 3, 8]));
    assert_eq!((rig.leader(), rig.election.count.get(0)), (Some(2), 5));
}

#[test]
fn who_hears_no_query_names_a_leader_after_two_rounds() {
    let mut rig = Rig::<Mmrt>::new(1, 3, Variant::Repaired, 0);
    rig.message(2, response(2, 1, &[1, 2, 3]));
    assert_eq!(rig.leader(), None);
    rig.advance(TAU);
    rig.message(2, response(2, 2, &[1, 2, 3]));
    assert_eq!(rig.leader(), Some(2), "which has not been counted, while this node has");
}

#[test]
fn counters_saturate() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    rig.message(1, query([u64::MAX; 3]));
    rig.message(3, response(0, 1, &[]));
    rig.advance(TAU);
    rig.message(3, response(0, 2, &[]));
    assert_eq!((rig.leader(), rig.election.count.get(0)), (Some(1), u64::MAX));
}

#[test]
fn each_invariant_can_be_broken_and_is_then_named() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    rig.message(1, query([1; 3]));
    let broken = |harm: &dyn Fn(&mut Mmrt)| {
        let mut election = rig.election.clone();
        harm(&mut election);
        election.breach(&rig.election)
    };
    assert_eq!(broken(&|_| {}), None);
    assert_eq!(broken(&|mmrt| mmrt.count.set(0, Incarnation(0), 0)), Some("counts do not shrink"));
    assert_eq!(broken(&|mmrt| mmrt.rec_from.retain(|rank| *rank == 0)), Some("|rec_from_i| >= n - t"));
    assert_eq!(
        broken(&|mmrt| mmrt.query.no.sn += 1),
        Some("a new query is issued only when the previous one has terminated")
    );
}

#[test]
fn the_canonical_form_tells_how_long_it_listens_and_whether_its_query_is_open() {
    let rig = Rig::<Mmrt>::repaired(1, 3);
    let mut forms = Vec::new();
    for listening in 0..3 {
        for is_open in [false, true] {
            let mut election = Mmrt { listening, ..rig.election.clone() };
            election.query.is_open = is_open;
            let mut form = Form::new();
            election.canonical(rig.now, &mut form);
            forms.push(form.timed());
        }
    }
    let all = forms.len();
    forms.sort();
    forms.dedup();
    assert_eq!(forms.len(), all);
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = Rig::<Mmrt>::printed(2, 3);
    rig.message(3, response(0, 1, &[2, 3]));
    rig.advance(TAU);
    rig.message(3, response(0, 2, &[2, 3]));
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    rig.message(3, query([9, 9, 0]));
    assert_eq!((rig.leader(), rig.why), (Some(3), Some(Cause::Silent(id(2)))), "to others");
}
