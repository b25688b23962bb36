//! Reporters that must agree.

use super::*;

/// C20.
#[test]
fn fewer_than_k_reporters_report_nothing() {
    let config = config(DetectorKind::Cooperative);
    let mut world = World::new(config, 3, 1);
    world.start(0, 2);
    world.run_until(ms(300));
    world.cut(2, 0);
    world.run_for(Span::secs(2));
    assert_eq!(world.downs, [], "node 1 still hears from it");
    world.cut(2, 1);
    world.run_for(config.latency(3));
    assert_eq!(world.reports(0, 2).len(), 1, "now two do not");
    let mut alone = World::new(config, 2, 1);
    alone.start(0, 1);
    alone.run_until(ms(300));
    alone.crash(1);
    alone.run_for(Span::secs(2));
    assert_eq!(alone.downs, [], "there is no second reporter");
}

#[test]
fn votes_of_an_older_watch_or_for_another_suspect_do_not_count() {
    let mut alone = Alone::new(config(DetectorKind::Cooperative), 0);
    alone.start(1);
    alone.start(1);
    assert_eq!(alone.downs_after(DELTA * 2), [], "the poll is open");
    let suspect = NodeId(2);
    let votes = [
        DetectorMsg::Vote { no: WatchNo(1), poll: 1, suspect, unreachable: true },
        DetectorMsg::Vote { no: WatchNo(2), poll: 1, suspect, unreachable: false },
        DetectorMsg::Vote { no: WatchNo(2), poll: 7, suspect, unreachable: true },
        DetectorMsg::Vote { no: WatchNo(2), poll: 1, suspect: NodeId(4), unreachable: true },
        DetectorMsg::Vote { no: WatchNo(2), poll: 1, suspect: NodeId(99), unreachable: true },
        DetectorMsg::Vote { no: WatchNo(2), poll: 1, suspect: NodeId(1), unreachable: true },
    ];
    for vote in votes {
        alone.receive(2, vote);
        assert_eq!(alone.downs_after(Span::ZERO), []);
    }
    alone.receive(2, DetectorMsg::Vote { no: WatchNo(2), poll: 1, suspect, unreachable: true });
    assert_eq!(alone.downs_after(Span::ZERO), [1]);
}

#[test]
fn one_reporter_has_one_vote() {
    let mut alone = Alone::new(DetectorConfig { reporters: 3, ..config(DetectorKind::Cooperative) }, 0);
    alone.start(1);
    alone.downs_after(DELTA * 2);
    let vote = DetectorMsg::Vote { no: WatchNo(1), poll: 1, suspect: NodeId(2), unreachable: true };
    alone.receive(2, vote.clone());
    alone.receive(2, vote.clone());
    assert_eq!(alone.downs_after(Span::ZERO), []);
    alone.receive(3, vote);
    assert_eq!(alone.downs_after(Span::ZERO), [1]);
}

#[test]
fn a_reporter_runs_one_errand_for_each_watcher_and_suspect() {
    let mut alone = Alone::new(config(DetectorKind::Cooperative), 0);
    for no in 0..10_000 {
        alone.receive(1, DetectorMsg::Poll { no: WatchNo(no), poll: no, suspect: NodeId(3) });
        alone.receive(1, DetectorMsg::Poll { no: WatchNo(no), poll: no, suspect: NodeId(99) });
        alone.receive(1, DetectorMsg::Poll { no: WatchNo(no), poll: no, suspect: NodeId(1) });
    }
    let vote = DetectorMsg::Vote { no: WatchNo(9_999), poll: 9_999, suspect: NodeId(3), unreachable: true };
    assert_eq!(alone.wake_after(DELTA * 2), [(1, vote)]);
    assert_eq!(alone.wake_after(DELTA * 2), []);
}

#[test]
fn a_beat_closes_the_poll_and_its_votes_are_forgotten() {
    let mut alone = Alone::new(DetectorConfig { reporters: 3, ..config(DetectorKind::Cooperative) }, 0);
    alone.start(1);
    alone.downs_after(DELTA * 2);
    let vote = DetectorMsg::Vote { no: WatchNo(1), poll: 1, suspect: NodeId(2), unreachable: true };
    alone.receive(2, vote.clone());
    alone.receive(1, DetectorMsg::Beat { no: WatchNo(1) });
    alone.receive(3, vote.clone());
    assert_eq!(alone.downs_after(PERIOD + DELTA), [], "silent again: a new poll");
    alone.receive(3, vote.clone());
    alone.receive(2, vote);
    assert_eq!(alone.downs_after(Span::ZERO), [], "votes of the first poll, which is closed");
}

/// A peer that restarts forgets who subscribed. Everybody finds it reachable, so no poll can ever report it: the
/// watcher must ask again for its beats, and thereby learns of the new incarnation.
#[test]
fn a_poll_that_finds_the_peer_alive_gets_its_beats_back() {
    for repaired in [true, false] {
        let config =
            DetectorConfig { reports_new_incarnations: repaired, ..config(DetectorKind::Cooperative) };
        let mut world = World::new(config, 3, 1);
        world.start(0, 2);
        world.run_until(ms(305));
        world.crash(2);
        world.restart(2);
        world.run_for(Span::secs(1));
        assert_eq!(world.reports(0, 2).len(), usize::from(repaired));
        let sent = world.sent.len();
        world.run_for(Span::secs(1));
        let polls = world.sent[sent..].iter().filter(|(_, _, msg)| msg.kind() == POLL).count();
        assert_eq!(polls, 0, "no poll for ever");
    }
}

#[test]
fn a_poll_without_a_bound_on_delay_does_not_spin() {
    let mut alone = Alone::new(DetectorConfig { delta: Span::ZERO, ..config(DetectorKind::Cooperative) }, 0);
    alone.start(1);
    assert_eq!(alone.downs_after(Span::ZERO), []);
    assert!(alone.detector.deadline() > alone.now);
}
