mod agent;

use super::super::raynal::rig::{PATIENCE, Rig, STEP, TAU, id};
use super::*;

fn heartbeat(count: u64, np_sn: u64) -> Msg {
    Msg::Heartbeat { count, np_sn }
}

fn stop(count: u64, np_sn: u64) -> Msg {
    Msg::StopLeader { count, np_sn }
}

fn suspicion(silent: u32) -> Msg {
    Msg::Suspicion { count: 0, silent: id(silent) }
}

/// (401)–(403): one broadcast per η, the first at once, all of one period.
#[test]
fn who_knows_nobody_leads_itself_and_says_so_every_period() {
    let mut rig = Rig::<Fjr>::printed(2, 2);
    assert_eq!((rig.leader(), rig.sent()), (Some(2), [(0, heartbeat(0, 1))].into()));
    rig.advance(TAU);
    assert_eq!(rig.sent(), [(0, heartbeat(0, 1))]);
}

/// (404): and again (402) with a new number.
#[test]
fn who_finds_a_better_leader_stops_aloud() {
    let mut rig = Rig::<Fjr>::printed(2, 2);
    rig.message(1, heartbeat(0, 1));
    assert_eq!((rig.leader(), rig.sent()), (Some(1), [(0, stop(0, 1))].into()));
    rig.message(1, stop(0, 1));
    assert_eq!((rig.leader(), rig.sent()), (Some(2), [(0, heartbeat(0, 2))].into()));
}

/// (405) (406): suspected once, then the timer rests until the next heartbeat, which finds more patience.
#[test]
fn a_silent_leader_is_suspected_once() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.advance(PATIENCE);
    assert_eq!(rig.sent(), [(0, suspicion_of(1, 1)), (0, heartbeat(1, 2))]);
    rig.advance(TAU);
    assert_eq!(rig.sent(), [(0, heartbeat(1, 2))]);
    rig.message(1, heartbeat(0, 1));
    assert!(rig.election.members[&id(1)].timer > rig.now + PATIENCE + STEP);
}

/// One lost heartbeat is enough to learn that heartbeats are lost; an outage adds a lesson, however long it was.
#[test]
fn a_mistake_teaches_how_long_the_silence_was_up_to_a_lesson() {
    let timeout = |rig: &Rig<Fjr>| rig.election.members[&id(1)].timer.since(rig.now);
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.advance(TAU * 2);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(
        timeout(&rig),
        PATIENCE + STEP + TAU,
        "half a period more than the silence would be more than a period more"
    );
    rig.advance(TAU * 2);
    assert_eq!(rig.leader(), Some(1), "the next lost heartbeat does no harm");
    rig.advance(TAU * 100);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(timeout(&rig), PATIENCE + STEP * 2 + TAU * 2);
    let mut rig = Rig::<Fjr>::printed(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.advance(TAU * 2);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(timeout(&rig), TAU + STEP, "(405)");
}

/// A network that is late for one is late for others: not every pair has to make the mistake.
#[test]
fn what_one_peer_taught_counts_for_all_up_to_three_first_timeouts() {
    let timeout = |rig: &Rig<Fjr>, of: u32| rig.election.members[&id(of)].timer.since(rig.now);
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    rig.advance(TAU * 2);
    rig.message(1, heartbeat(0, 1));
    rig.message(2, heartbeat(0, 1));
    assert_eq!(timeout(&rig, 2), timeout(&rig, 1));
    for _ in 0..10 {
        rig.advance(TAU * 100);
        rig.message(1, heartbeat(0, 1));
    }
    rig.message(2, heartbeat(0, 1));
    assert_eq!(timeout(&rig, 2), PATIENCE * 3, "but who is late alone is waited for alone");
    assert!(timeout(&rig, 1) > PATIENCE * 3);
}

#[test]
fn another_who_is_mistaken_teaches_patience_too() {
    let timeout = |rig: &Rig<Fjr>| rig.election.members[&id(1)].timer.since(rig.now);
    let mut rig = Rig::<Fjr>::repaired(3, 3);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(timeout(&rig), PATIENCE);
    rig.message(2, suspicion(1));
    rig.message(1, stop(1, 1));
    rig.message(1, heartbeat(1, 2));
    assert_eq!(timeout(&rig), PATIENCE + lesson(&rig.election.setup));
    rig.message(1, heartbeat(1, 2));
    assert_eq!(timeout(&rig), PATIENCE + lesson(&rig.election.setup), "once for each mistake");
    let mut leader = Rig::<Fjr>::repaired(1, 1);
    leader.message(2, suspicion(1));
    assert_eq!(leader.election.least, Span::ZERO, "this is about a time before it led");
    (0..2).for_each(|_| leader.advance(TAU));
    leader.message(2, suspicion(1));
    leader.message(3, suspicion(1));
    assert_eq!(
        leader.election.least,
        PATIENCE + lesson(&leader.election.setup),
        "who was there itself knows, once"
    );
    // It was right, or the leader cannot be heard here either.
    rig.message(2, suspicion(1));
    rig.input(Input::NewIncarnation(id(1)));
    rig.message(1, heartbeat(0, 1));
    assert_eq!(timeout(&rig), PATIENCE + lesson(&rig.election.setup));
    rig.message(2, suspicion(1));
    rig.advance(PATIENCE);
    rig.message(1, heartbeat(0, 1));
    assert_eq!(timeout(&rig), PATIENCE + lesson(&rig.election.setup));
}

fn suspicion_of(silent: u32, count: u64) -> Msg {
    Msg::Suspicion { count, silent: id(silent) }
}

/// (417), C56.
#[test]
fn only_suspicions_of_oneself_raise_ones_count() {
    let mut rig = Rig::<Fjr>::repaired(1, 1);
    rig.message(2, suspicion(3));
    rig.message(2, heartbeat(50, 1));
    assert_eq!(rig.election.count, 1);
    rig.message(2, suspicion(1));
    assert_eq!((rig.election.count, rig.kept()), (2, [2].into()));
}

/// (411) (412): the smallest (count, id) of those that contend.
#[test]
fn the_least_suspected_contender_leads() {
    let mut rig = Rig::<Fjr>::printed(3, 3);
    rig.message(3, heartbeat(9, 9)); // Its own: ignored.
    rig.message(4, heartbeat(0, 1));
    assert_eq!(rig.leader(), Some(3));
    rig.message(2, heartbeat(0, 1));
    assert_eq!(rig.leader(), Some(2));
    rig.message(2, suspicion_of(9, 1));
    assert_eq!(rig.leader(), Some(3), "any message tells the sender's count");
}

/// C55, (412) (414) (415).
#[test]
fn what_is_older_than_a_stop_is_ignored() {
    let mut rig = Rig::<Fjr>::printed(2, 2);
    rig.message(1, stop(0, 2));
    for np_sn in [1, 2] {
        rig.message(1, heartbeat(0, np_sn));
        assert_eq!(rig.leader(), Some(2));
    }
    rig.message(1, heartbeat(0, 3));
    rig.message(1, stop(0, 2));
    assert_eq!(rig.leader(), Some(1), "an old stop does not end a new period");
}

/// E-RA6, the printed form: both halves of what a restart breaks.
#[test]
fn as_printed_who_comes_back_is_ignored_and_ignorant() {
    let mut peer = Rig::<Fjr>::printed(2, 2);
    peer.message(1, heartbeat(5, 1));
    peer.message(1, stop(5, 1));
    peer.message(1, heartbeat(0, 1));
    assert_eq!(peer.leader(), Some(2), "its periods begin at 1 again");
    peer.message(1, heartbeat(0, 2));
    assert_eq!(peer.leader(), Some(2), "and its count is still known to be 5");
    let mut reborn = Rig::<Fjr>::printed(1, 2);
    reborn.message(2, heartbeat(3, 9));
    assert_eq!(reborn.leader(), Some(1), "while it takes itself for the least suspected");
}

#[test]
fn a_new_incarnation_is_taken_at_its_word() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 3));
    assert_eq!(rig.leader(), Some(1));
    rig.input(Input::NewIncarnation(id(1)));
    assert_eq!(rig.leader(), Some(2), "the incarnation that led is over");
    rig.message(1, heartbeat(0, 1));
    assert_eq!((rig.leader(), rig.election.deadline()), (Some(1), rig.now + PATIENCE));
}

#[test]
fn patience_learned_from_a_real_crash_is_taken_back_and_other_patience_kept() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    rig.advance(PATIENCE); // A mistake, as the next heartbeat shows.
    rig.message(1, heartbeat(0, 1));
    let learned = rig.election.members[&id(1)].timer.since(rig.now);
    rig.advance(learned); // No mistake.
    rig.input(Input::NewIncarnation(id(1)));
    rig.message(1, heartbeat(0, 1));
    assert_eq!(rig.election.members[&id(1)].timer, rig.now + learned);
}

/// The rule of rejoining.
#[test]
fn who_comes_back_returns_below_the_leader_it_hears() {
    let mut rig = Rig::<Fjr>::new(1, 1, Variant::Repaired, 0);
    assert_eq!((rig.leader(), rig.did.len()), (None, 0), "it listens");
    rig.message(9, suspicion(4));
    rig.message(9, stop(0, 1));
    assert_eq!((rig.leader(), rig.did.len()), (None, 0));
    rig.message(2, heartbeat(1, 4));
    assert_eq!((rig.leader(), rig.kept()), (Some(2), [2].into()), "not ousted: (1, 2) comes before (2, 1)");
    let mut rig = Rig::<Fjr>::new(1, 1, Variant::Repaired, 7);
    rig.message(2, heartbeat(1, 4));
    assert_eq!(rig.kept(), [8]);
}

#[test]
fn who_hears_nobody_contends_after_a_timeout() {
    let mut rig = Rig::<Fjr>::new(1, 1, Variant::Repaired, 7);
    rig.advance(Span::micros(119_999));
    assert_eq!(rig.leader(), None);
    rig.advance(Span::micros(1));
    assert_eq!(rig.leader(), Some(1));
    let did = [Action::Note { count: 8 }, Action::Broadcast(heartbeat(8, 1))];
    assert_eq!(rig.did, did, "durable before it is told");
}

#[test]
fn evidence_of_a_crash_counts_as_silence_without_growing_the_timeout() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.sent(), [], "of nobody that contends");
    rig.message(1, heartbeat(0, 1));
    rig.input(Input::Gone(id(1)));
    assert_eq!((rig.leader(), rig.sent()[0].1), (Some(2), suspicion_of(1, 1)));
    rig.message(1, heartbeat(0, 1));
    assert_eq!(rig.election.members[&id(1)].timer, rig.now + PATIENCE);
}

#[test]
fn counters_saturate() {
    let mut rig = Rig::<Fjr>::new(1, 1, Variant::Repaired, u64::MAX);
    rig.message(2, heartbeat(u64::MAX, u64::MAX));
    assert_eq!((rig.leader(), rig.election.count), (Some(1), u64::MAX), "ids decide");
    rig.message(2, suspicion(1));
    assert_eq!(rig.election.count, u64::MAX);
    rig.election.np_sn = u64::MAX;
    rig.message(2, stop(0, u64::MAX));
    rig.message(2, heartbeat(0, u64::MAX));
    assert_eq!(rig.leader(), Some(1), "a period after the last there is not");
}

/// However many ids are made up, memory is bounded, and whoever contends is kept.
#[test]
fn nothing_that_strangers_say_makes_memory_grow_without_bound() {
    let mut rig = Rig::<Fjr>::repaired(5, 5);
    rig.message(1, heartbeat(0, 1));
    let many = 2 * ACQUAINTANCES_MAX as u32;
    rig.crowd(10..10 + many, &suspicion(4));
    assert_eq!(rig.election.members.len(), ACQUAINTANCES_MAX);
    assert_eq!(rig.leader(), Some(1));
    rig.crowd(100_000..100_000 + many, &heartbeat(9, 1));
    assert_eq!(rig.election.members.len(), ACQUAINTANCES_MAX);
    assert_eq!(rig.election.contenders.len(), ACQUAINTANCES_MAX, "all that contend; the rest must wait");
    rig.advance(PATIENCE);
    rig.message(200_000, heartbeat(0, 1));
    assert!(rig.election.contenders.contains(&id(200_000)), "those that fell silent made room");
}

#[test]
fn each_invariant_can_be_broken_and_is_then_named() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(0, 1));
    let broken = |harm: &dyn Fn(&mut Fjr)| {
        let mut election = rig.election.clone();
        harm(&mut election);
        election.breach(&rig.election)
    };
    let member = rig.election.members[&id(1)];
    assert_eq!(broken(&|_| {}), None);
    assert_eq!(broken(&|fjr| fjr.members.clear()), Some("contenders_i is a subset of members_i"));
    assert_eq!(broken(&|fjr| fjr.count = 0), Some("count_i[i] and np_sn_i do not shrink"));
    assert_eq!(broken(&|fjr| fjr.np_sn = 0), Some("count_i[i] and np_sn_i do not shrink"));
    let idle = Member { timer: Time::NEVER, ..member };
    let stopped = |fjr: &mut Fjr| fjr.members.extend([(id(1), idle)]);
    assert_eq!(broken(&stopped), Some("timer_i[k] is set if and only if k contends"));
    let itself = Some("i keeps no account of itself as of another");
    assert_eq!(broken(&|fjr| fjr.members.extend([(id(2), idle)])), itself);
    assert_eq!(broken(&|fjr| fjr.next_period = true), Some("i is in a period if and only if it leads"));
    let crowd =
        |fjr: &mut Fjr| fjr.members.extend((100..100 + ACQUAINTANCES_MAX as u32).map(|k| (id(k), idle)));
    assert_eq!(broken(&crowd), Some("memory for members is bounded"));
}

/// Else no state of a node that leads would ever come back, and a search would have no end.
#[test]
fn how_long_ago_a_beat_was_is_soon_forgotten_in_the_canonical_form() {
    let mut rig = Rig::<Fjr>::repaired(2, 2);
    rig.message(1, heartbeat(9, 1));
    let mut form_after = |span| {
        rig.advance(span);
        let mut form = Form::new();
        rig.election.canonical(rig.now, &mut form);
        form.timed()
    };
    form_after(Span::secs(1));
    assert_eq!(form_after(TAU), form_after(TAU));
}
