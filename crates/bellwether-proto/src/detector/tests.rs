//! Detectors driven by hand, and in a small world with a virtual clock, a network and crashes.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::message::*;
use super::*;
use crate::ident::NodeId;
use crate::roster::Priority;

mod cooperative;
mod harness;
mod heartbeats;
mod ring;

use harness::{Alone, World, config, ms};

const DELTA: Span = Span::millis(10);
const PERIOD: Span = Span::millis(100);
const HEARTBEATS: [DetectorKind; 3] =
    [DetectorKind::Heartbeat, DetectorKind::Adaptive, DetectorKind::Cooperative];

// What every detector promises.

/// What the mechanisms' documents come to. A latency that is declared too long is kept by any detector, and costs every
/// algorithm that waits for it.
#[test]
fn the_declared_latencies_are_these() {
    let declared = |kind, period, delta| {
        let (period, delta) = (Span::millis(period), Span::millis(delta));
        DetectorConfig { period, delta, ..config(kind) }.latency(4)
    };
    for (kind, plain, short_period) in [
        (DetectorKind::Ping, 110, 200),
        (DetectorKind::Heartbeat, 110, 110),
        (DetectorKind::Adaptive, 845, 530),
        (DetectorKind::Cooperative, 130, 450),
        (DetectorKind::Ring, 300, 1_020),
        (DetectorKind::Perfect, 100, 10),
    ] {
        assert_eq!(declared(kind, 100, 5), Span::millis(plain), "{kind:?}");
        assert_eq!(declared(kind, 10, 50), Span::millis(short_period), "{kind:?}");
    }
}

#[test]
fn a_silent_peer_is_reported_within_the_declared_latency_and_not_before_it_is_down() {
    for kind in DetectorKind::ALL {
        for seed in 0..300 {
            let mut world = World::new(config(kind), 4, seed);
            let subject = world.random(4);
            let watchers: Vec<usize> = (0..4).filter(|rank| *rank != subject).collect();
            let crash = ms(500) + Span::micros(world.random(1_000_000) as u64);
            let mut starts = [Time::NEVER; 4];
            for watcher in &watchers {
                starts[*watcher] = ms(1) + Span::micros(world.random(2_000_000) as u64);
            }
            let mut schedule: Vec<Time> =
                starts.iter().copied().filter(|start| *start != Time::NEVER).collect();
            schedule.push(crash);
            schedule.sort_unstable();
            for at in schedule {
                world.run_until(at);
                for watcher in &watchers {
                    if starts[*watcher] == at {
                        world.start(*watcher, subject);
                    }
                }
                if crash == at {
                    world.crash(subject);
                }
            }
            world.run_until(ms(5_000));
            for watcher in watchers {
                let owed = starts[watcher].max(crash) + config(kind).latency(4);
                let reports = world.reports(watcher, subject);
                assert_eq!(reports.len(), 1, "{kind:?} seed {seed}: {watcher} of {subject}: {reports:?}");
                assert!(
                    crash <= reports[0] && reports[0] <= owed,
                    "{kind:?} seed {seed}: {watcher} reported {subject} at {}, crashed at {crash}, owed by {owed}",
                    reports[0]
                );
            }
        }
    }
}

#[test]
fn a_live_peer_is_never_reported_while_delays_keep_their_bound() {
    for kind in DetectorKind::ALL {
        for seed in 0..200 {
            let mut world = World::new(config(kind), 4, seed);
            for _ in 0..60 {
                let (watcher, subject) = world.random_pair();
                match world.random(4) {
                    0 => world.stop(watcher, subject),
                    _ => world.start(watcher, subject),
                }
                let pause = Span::micros(world.random(60_000) as u64);
                world.run_for(pause);
            }
            world.run_for(Span::secs(2));
            assert_eq!(world.downs, [], "{kind:?} seed {seed}");
        }
    }
}

/// Periods as short as a round trip, or shorter, are odd but not forbidden.
#[test]
fn short_periods_neither_hide_a_crash_nor_slander_the_living() {
    for kind in DetectorKind::ALL {
        for period in [Span::millis(1), DELTA, DELTA * 2, DELTA * 3] {
            for seed in 0..20 {
                let config = DetectorConfig { period, ..config(kind) };
                let mut world = World::new(config, 3, seed);
                world.start(0, 2);
                world.start(1, 2);
                world.run_for(Span::secs(1));
                assert_eq!(world.downs, [], "{kind:?} {period} seed {seed}: nobody is down");
                let crash = world.now;
                world.crash(2);
                world.run_for(config.latency(3));
                for watcher in [0, 1] {
                    assert_eq!(world.reports(watcher, 2).len(), 1, "{kind:?} {period} seed {seed}, {crash}");
                }
            }
        }
    }
}

/// Stoller, section 2: a crash at 45 and a Start at 50 with latency 3 give a report by 53.
#[test]
fn the_latency_counts_from_the_later_of_crash_and_start() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.run_until(ms(450));
        world.crash(2);
        world.run_until(ms(500));
        world.start(0, 2);
        world.run_for(config(kind).latency(3));
        assert_eq!(world.reports(0, 2).len(), 1, "{kind:?}");
    }
}

/// C16.
#[test]
fn start_voids_what_the_old_watch_was_about_to_say() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.start(0, 2);
        world.run_until(ms(300));
        world.crash(2);
        // Just before the report is due, the peer is back and the watch begins anew.
        while world.reports(0, 2).is_empty() {
            let step = world.clone();
            world.run_for(Span::millis(1));
            if !world.reports(0, 2).is_empty() {
                world = step;
                break;
            }
        }
        world.restart(2);
        // The oracle tells of the recovery at once; the others cannot know.
        let before = world.reports(0, 2).len();
        assert_eq!(before, usize::from(kind == DetectorKind::Perfect));
        world.start(0, 2);
        world.run_for(Span::secs(1));
        assert_eq!(world.reports(0, 2).len(), before, "{kind:?}: it has been up ever since the Start");
    }
}

/// E-ST4.
#[test]
fn one_report_is_enough_until_the_next_start() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.start(0, 2);
        world.run_until(ms(300));
        world.crash(2);
        world.run_for(Span::secs(2));
        world.restart(2);
        world.run_for(Span::secs(2));
        world.crash(2);
        world.run_for(Span::secs(2));
        assert_eq!(world.reports(0, 2).len(), 1, "{kind:?}");
        world.start(0, 2);
        world.run_for(config(kind).latency(3));
        assert_eq!(world.reports(0, 2).len(), 2, "{kind:?}: Start arms it again");
    }
}

#[test]
fn stop_silences() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 4, 1);
        world.start(0, 1);
        world.start(0, 2);
        world.run_until(ms(300));
        world.crash(1);
        world.crash(2);
        world.stop(0, 2);
        world.run_for(Span::secs(2));
        assert_eq!((world.reports(0, 1).len(), world.reports(0, 2).len()), (1, 0), "{kind:?}");
        world.start(0, 1);
        world.start(0, 2);
        world.step(0, |node, now, mail| node.stop_all(now, mail));
        world.run_for(Span::secs(2));
        assert_eq!((world.reports(0, 1).len(), world.reports(0, 2).len()), (1, 0), "{kind:?}");
    }
}

/// E-ST5.
#[test]
fn a_new_incarnation_is_reported_once_and_only_by_the_repaired_detector() {
    for kind in DetectorKind::ALL {
        for repaired in [true, false] {
            let config = DetectorConfig { reports_new_incarnations: repaired, ..config(kind) };
            let mut world = World::new(config, 3, 1);
            world.start(0, 2);
            world.run_until(ms(305));
            world.crash(2);
            world.restart(2);
            // The new incarnation shows itself before silence could.
            world.show_life(2, 0);
            world.run_for(DELTA);
            assert_eq!(world.reports(0, 2).len(), usize::from(repaired), "{kind:?} repaired: {repaired}");
            world.run_for(Span::secs(3));
            let most = if repaired { 1 } else { usize::from(world.forgets_subscriptions()) };
            assert_eq!(world.reports(0, 2).len(), most, "{kind:?} repaired: {repaired}");
        }
    }
}

#[test]
fn an_incarnation_that_began_before_the_watch_heard_of_it_is_not_news() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.run_until(ms(100));
        world.crash(2);
        world.restart(2);
        world.start(0, 2);
        world.show_life(2, 0);
        world.run_for(Span::secs(1));
        assert_eq!(world.downs, [], "{kind:?}");
    }
}

/// C19, E-ST9.
#[test]
fn only_the_weaker_see_a_node_play_dead() {
    for kind in DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect) {
        let mut world = World::new(config(kind), 4, 1);
        world.start(0, 1);
        world.start(2, 1);
        world.start(3, 1);
        world.run_until(ms(300));
        world.node(1).play_dead();
        world.run_for(config(kind).latency(4));
        assert_eq!(world.reports(0, 1), [], "{kind:?}: the stronger sees it alive");
        assert_eq!((world.reports(2, 1).len(), world.reports(3, 1).len()), (1, 1), "{kind:?}");
        let now = world.now;
        world.node(1).play_alive(now);
        world.start(2, 1);
        world.start(3, 1);
        world.run_for(Span::secs(2));
        assert_eq!((world.reports(2, 1).len(), world.reports(3, 1).len()), (1, 1), "{kind:?}: alive again");
    }
}

/// Whatever a machine is configured with: an algorithm with timers of its own pays for no detector.
#[test]
fn one_that_is_idle_has_nothing_to_do() {
    for kind in DetectorKind::ALL {
        let roster = Roster::new(NodeId(1), (1..=3).map(NodeId), Priority::LowestId);
        let mut idle = Detector::idle(config(kind), roster, Incarnation(1), Time::ZERO);
        assert_eq!(idle.deadline(), Time::NEVER, "{kind:?}");
        let mut mail = Mail::new();
        idle.wake(ms(1_000), &mut mail);
        idle.probe(ms(1_000), 1, &mut mail);
        assert!(mail.is_empty() && idle.deadline() == Time::NEVER, "{kind:?}");
    }
}

#[test]
fn gone_is_weighed_by_probing() {
    for kind in DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect) {
        let config = DetectorConfig { reporters: 1, ..config(kind) };
        let mut world = World::new(config, 3, 1);
        world.start(0, 1);
        world.start(0, 2);
        world.run_until(ms(305));
        world.crash(2);
        world.probe(0, 1);
        world.probe(0, 2);
        world.run_for(DELTA * 2);
        assert_eq!(world.reports(0, 2).len(), 1, "{kind:?}: found within a round trip");
        world.run_for(Span::secs(2));
        assert_eq!(world.reports(0, 1), [], "{kind:?}: not believed blindly");
    }
}

/// However often there is evidence: a peer that is silent is reported when it would have been without any.
#[test]
fn gone_never_puts_a_report_off() {
    for kind in DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect) {
        let config = DetectorConfig { reporters: 1, ..config(kind) };
        for probes_every in [1, 4, 7, 30] {
            let mut world = World::new(config, 3, 1);
            world.start(0, 2);
            world.run_until(ms(305));
            world.crash(2);
            let crashed = world.now;
            while world.reports(0, 2).is_empty() && world.now < crashed + Span::secs(5) {
                world.probe(0, 2);
                world.run_for(Span::millis(probes_every));
            }
            let at = world.reports(0, 2).first().copied();
            let latency = config.latency(3).min(DELTA * 2);
            assert!(at.is_some_and(|at| at.since(crashed) <= latency), "{kind:?}, {probes_every} ms: {at:?}");
        }
    }
}

/// Nor does it make a report of a peer that answers in time: what was asked before the evidence came still counts.
#[test]
fn gone_does_not_void_an_answer_that_is_on_its_way() {
    for kind in DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect) {
        let config = DetectorConfig { reporters: 1, ..config(kind) };
        for seed in 1..=200 {
            let mut world = World::new(config, 3, seed);
            world.start(0, 1);
            for _ in 0..100 {
                world.run_for(Span::millis(3));
                world.probe(0, 1);
            }
            assert_eq!(world.downs, [], "{kind:?}, seed {seed}");
        }
    }
}

/// The peer says itself that it is to be taken for gone.
#[test]
fn who_retires_is_reported_once_and_its_watch_is_over() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.start(0, 2);
        world.run_until(ms(305));
        assert!(!world.node(0).retire(1), "{kind:?}: nobody watches it");
        assert!(world.node(0).retire(2), "{kind:?}: its client is to be told");
        assert!(!world.node(0).retire(2), "{kind:?}: once");
        world.run_for(Span::secs(3));
        assert_eq!(world.downs, [], "{kind:?}: silence has nothing to add");
        world.crash(2);
        world.start(0, 2);
        world.run_for(config(kind).latency(3));
        assert_eq!(world.reports(0, 2).len(), 1, "{kind:?}: Start arms it again");
    }
}

#[test]
fn wakes_that_are_early_late_or_repeated_are_harmless() {
    for kind in DetectorKind::ALL {
        let mut world = World::new(config(kind), 3, 1);
        world.start(0, 1);
        for _ in 0..2_000 {
            world.run_for(Span::micros(700));
            let sent = world.sent.len();
            world.wake(0);
            world.wake(0);
            assert!(world.sent.len() <= sent + 1, "{kind:?}");
        }
        assert_eq!(world.downs, [], "{kind:?}");
    }
}

// Ping.

#[test]
fn a_pong_of_an_old_watch_or_an_old_question_proves_nothing() {
    let mut alone = Alone::new(config(DetectorKind::Ping), 0);
    let first = alone.start(1);
    let second = alone.start(1);
    assert_eq!(first, [(1, DetectorMsg::Ping { no: WatchNo(1), n: 1 })]);
    assert_eq!(second, [(1, DetectorMsg::Ping { no: WatchNo(2), n: 2 })]);
    alone.receive(1, DetectorMsg::Pong { no: WatchNo(1), n: 1 });
    alone.receive(1, DetectorMsg::Pong { no: WatchNo(2), n: 1 });
    alone.receive(1, DetectorMsg::Pong { no: WatchNo(1), n: 2 });
    assert_eq!(alone.downs_after(DELTA * 2), [1]);
    assert_eq!(alone.wake_after(PERIOD), []);
    assert_eq!(alone.detector.deadline(), Time::NEVER, "nothing is owed any more");
}

// Perfect.

#[test]
fn the_oracle_may_repeat_itself() {
    let mut alone = Alone::new(config(DetectorKind::Perfect), 0);
    alone.start(1);
    alone.detector.oracle(alone.now, 1, true);
    assert_eq!(alone.downs_after(Span::secs(1)), [], "it was never down");
    alone.detector.oracle(alone.now, 1, false);
    assert_eq!(alone.downs_after(PERIOD / 2), []);
    alone.detector.oracle(alone.now, 1, false);
    assert_eq!(alone.downs_after(PERIOD / 2), [1], "a repetition puts nothing off");
}
