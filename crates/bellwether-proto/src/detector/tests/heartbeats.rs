//! Heartbeat, and what is built on it.

use super::*;

#[test]
fn a_beat_of_an_old_watch_proves_nothing() {
    for kind in HEARTBEATS {
        let mut alone = Alone::new(DetectorConfig { reporters: 1, ..config(kind) }, 0);
        alone.start(1);
        alone.start(1);
        assert_eq!(alone.receive(1, DetectorMsg::Beat { no: WatchNo(1) }), []);
        assert_eq!(alone.downs_after(DELTA * 2), [1], "{kind:?}");
    }
}

/// C35.
#[test]
fn an_election_message_carries_the_beat_and_puts_it_off() {
    for kind in HEARTBEATS {
        let mut alone = Alone::new(config(kind), 0);
        assert_eq!(alone.detector.ride(alone.now, 1), None, "nobody asked");
        alone.receive(1, DetectorMsg::Subscribe { no: WatchNo(7), period: PERIOD });
        for _ in 0..5 {
            assert_eq!(alone.wake_after(PERIOD / 2), []);
            assert_eq!(alone.detector.ride(alone.now, 1), Some(WatchNo(7)));
        }
        assert_eq!(alone.wake_after(PERIOD), [(1, DetectorMsg::Beat { no: WatchNo(7) })]);
        alone.detector.play_dead();
        assert_eq!(alone.detector.ride(alone.now, 1), None, "the dead give no signs of life");
        assert_eq!(alone.wake_after(PERIOD), []);
        alone.detector.play_alive(alone.now);
        assert_eq!(alone.wake_after(Span::ZERO), [(1, DetectorMsg::Beat { no: WatchNo(7) })], "at once");
    }
}

#[test]
fn a_beat_that_nobody_asked_for_is_answered_with_unsubscribe() {
    for kind in HEARTBEATS {
        let mut alone = Alone::new(config(kind), 0);
        let no = WatchNo(3);
        assert_eq!(alone.receive(1, DetectorMsg::Beat { no }), [(1, DetectorMsg::Unsubscribe { no })]);
        alone.receive(1, DetectorMsg::Subscribe { no, period: PERIOD });
        alone.receive(1, DetectorMsg::Unsubscribe { no: WatchNo(2) });
        assert_eq!(alone.detector.ride(alone.now, 1), Some(no), "another watch's");
        alone.receive(1, DetectorMsg::Unsubscribe { no });
        assert_eq!(alone.detector.ride(alone.now, 1), None);
        assert_eq!(alone.wake_after(PERIOD * 3), []);
    }
}

/// The link does not keep detector messages in order; a subscription must not fall back to an older watch.
#[test]
fn a_subscribe_that_was_overtaken_is_void() {
    for kind in HEARTBEATS {
        let mut alone = Alone::new(config(kind), 0);
        alone.receive(1, DetectorMsg::Subscribe { no: WatchNo(2), period: PERIOD });
        alone.receive(1, DetectorMsg::Subscribe { no: WatchNo(1), period: PERIOD });
        assert_eq!(alone.detector.ride(alone.now, 1), Some(WatchNo(2)), "{kind:?}");
    }
}

/// What an earlier incarnation asked for is older than anything that this one asks.
#[test]
fn a_new_incarnation_numbers_its_watches_above_the_old_one() {
    let first_watch = |incarnation| {
        let mut watches = Watches::new(2, Incarnation(incarnation));
        watches.arm(1, Time::NEVER)
    };
    assert_eq!(first_watch(1), WatchNo(1));
    assert!(first_watch(2) > WatchNo(u64::from(u32::MAX)));
}

#[test]
fn no_subscriber_can_ask_for_a_flood() {
    for period in [Span::ZERO, Span::micros(1)] {
        let mut alone = Alone::new(config(DetectorKind::Heartbeat), 0);
        alone.receive(1, DetectorMsg::Subscribe { no: WatchNo(1), period });
        let mut beats = 0;
        for _ in 0..10_000 {
            beats += alone.wake_after(Span::micros(100)).len();
        }
        assert!(beats <= 12, "{beats} beats in a second");
    }
}

#[test]
fn a_subscriber_may_ask_for_a_period_beyond_the_end_of_time() {
    let mut alone = Alone::new(config(DetectorKind::Heartbeat), 0);
    let period = Span::micros(u64::MAX);
    alone.receive(1, DetectorMsg::Subscribe { no: WatchNo(1), period });
    assert_eq!(alone.wake_after(Span::secs(1_000_000)), []);
    assert_eq!(alone.detector.ride(alone.now, 1), None);
}

/// E-ST5: were the question repeated, a peer that was down when it was first asked, and with it whatever else was sent
/// to it then, could answer it in its next incarnation, and nobody would learn that it was ever gone.
#[test]
fn a_first_question_is_asked_once_and_a_peer_that_missed_it_is_reported() {
    let config = DetectorConfig { delta: PERIOD * 2, ..config(DetectorKind::Heartbeat) };
    let mut alone = Alone::new(config, 0);
    assert_eq!(alone.start(1), [(1, DetectorMsg::Subscribe { no: WatchNo(1), period: PERIOD })]);
    assert_eq!(alone.wake_after(PERIOD), []);
    alone.detector.probe(alone.now, 1, &mut Mail::new());
    assert_eq!(alone.downs_after(PERIOD * 3), [1], "four periods are a round trip here");
}

/// After a probe the question is open again; a new incarnation answers it, and then nobody asks on.
#[test]
fn a_watch_that_reported_a_new_incarnation_asks_no_more() {
    for kind in DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect) {
        let mut world = World::new(DetectorConfig { reporters: 1, ..config(kind) }, 2, 1);
        world.start(0, 1);
        world.run_until(ms(305));
        world.crash(1);
        world.restart(1);
        world.probe(0, 1);
        world.run_for(DELTA * 2);
        assert_eq!(world.reports(0, 1).len(), 1, "{kind:?}");
        world.run_for(Span::secs(1));
        let sent = world.sent.len();
        world.run_for(Span::secs(2));
        let late = world.sent[sent..].iter().filter(|(_, from, msg)| *from == 0 && msg.kind() != TOKEN);
        assert_eq!(late.count(), 0, "{kind:?}");
        assert_eq!(world.reports(0, 1).len(), 1, "{kind:?}: one report is enough");
    }
}

#[test]
fn what_is_nearly_due_goes_along_only_when_something_is_due() {
    let mut alone = Alone::new(config(DetectorKind::Heartbeat), 0);
    let (no, period) = (WatchNo(1), PERIOD);
    alone.receive(1, DetectorMsg::Subscribe { no, period });
    alone.wake_after(Span::millis(5));
    alone.receive(2, DetectorMsg::Subscribe { no, period });
    // The beat to the first rides just before it is due: the wake-up that was set for it finds nothing to do.
    alone.wake_after(Span::millis(94));
    alone.detector.ride(alone.now, 1);
    assert_eq!(alone.wake_after(Span::millis(1)), []);
    assert_eq!(alone.wake_after(Span::millis(5)), [(2, DetectorMsg::Beat { no })]);
    assert_eq!(
        alone.wake_after(Span::millis(94)),
        [(1, DetectorMsg::Beat { no }), (2, DetectorMsg::Beat { no })]
    );
}

// Adaptive.

#[test]
fn a_mistake_makes_an_adaptive_detector_more_patient() {
    let mut alone = Alone::new(config(DetectorKind::Adaptive), 0);
    alone.start(1);
    assert_eq!(alone.downs_after(DELTA * 2), [1]);
    alone.receive(1, DetectorMsg::Beat { no: WatchNo(1) });
    alone.start(1);
    assert_eq!(alone.downs_after(DELTA * 2), [], "the last mistake added a step");
    assert_eq!(alone.downs_after(config(DetectorKind::Adaptive).step), [1]);
}

#[test]
fn time_spent_not_watching_teaches_nothing() {
    let mut alone = Alone::new(config(DetectorKind::Adaptive), 0);
    alone.start(1);
    for _ in 0..20 {
        alone.receive(1, DetectorMsg::Beat { no: WatchNo(1) });
        alone.now = alone.now + PERIOD;
    }
    alone.stop(1);
    alone.now = alone.now + Span::secs(3_600);
    alone.start(1);
    alone.receive(1, DetectorMsg::Beat { no: WatchNo(2) });
    assert_eq!(alone.downs_after(PERIOD + DELTA), [1], "an hour off is no late beat");
}
