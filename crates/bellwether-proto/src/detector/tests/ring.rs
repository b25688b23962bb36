//! The token and the roll call.

use super::*;

/// C17.
#[test]
fn a_ring_costs_n_messages_a_round_however_many_watch() {
    for n in [2, 3, 5, 8] {
        let mut world = World::new(config(DetectorKind::Ring), n, 1);
        for watcher in 0..n {
            (0..n).filter(|subject| *subject != watcher).for_each(|subject| world.start(watcher, subject));
        }
        world.run_until(ms(1_050));
        let sent = world.sent.len();
        world.run_for(PERIOD * 20);
        assert_eq!(world.sent.len() - sent, 20 * n, "{n} nodes");
        assert_eq!(world.downs, []);
    }
}

#[test]
fn a_lost_token_costs_a_roll_call_and_nobody_is_slandered() {
    let mut world = World::new(config(DetectorKind::Ring), 5, 1);
    for watcher in 0..5 {
        (0..5).filter(|subject| *subject != watcher).for_each(|subject| world.start(watcher, subject));
    }
    for _ in 0..40 {
        world.run_for(Span::millis(77));
        let lost = world.flight.iter().position(|flight| flight.msg.kind() == TOKEN);
        if let Some(lost) = lost {
            world.flight.swap_remove(lost);
        }
    }
    world.run_for(Span::secs(2));
    assert_eq!(world.downs, []);
    let sent = world.sent.len();
    world.run_for(PERIOD * 10);
    assert_eq!(world.sent.len() - sent, 50, "the ring is whole again");
}

#[test]
fn the_ring_closes_over_a_dead_node_and_takes_a_recovered_one_back() {
    for n in [3, 5] {
        for dead in 0..n {
            let mut world = World::new(config(DetectorKind::Ring), n, 1);
            world.run_until(ms(500));
            world.crash(dead);
            world.run_for(Span::secs(3));
            let tokens = world.tokens_in(PERIOD * 10);
            assert!((10 * (n - 1)..=11 * (n - 1)).contains(&tokens), "{dead} of {n}: {tokens} without it");
            world.restart(dead);
            world.run_for(Span::secs(3));
            let tokens = world.tokens_in(PERIOD * 10);
            assert!((10 * n..=11 * n).contains(&tokens), "{dead} of {n}: {tokens} with it again");
            assert_eq!(world.downs, []);
        }
    }
}

/// A new origin counts its rounds from one: stamps that count another's rounds say nothing.
#[test]
fn stamps_of_another_origins_rounds_are_not_fresh() {
    let mut alone = Alone::new(config(DetectorKind::Ring), 3);
    alone.start(0);
    alone.receive(0, DetectorMsg::Pong { no: WatchNo(1), n: 1 });
    let stamps = vec![Stamp { node: NodeId(1), round: 500 }, Stamp { node: NodeId(2), round: 1 }];
    let token = |round, stamps: &[Stamp]| {
        DetectorMsg::Token(Box::new(Token {
            origin: NodeId(2),
            incarnation: Incarnation(1),
            round,
            stamps: stamps.to_vec(),
            absent: vec![],
        }))
    };
    let asked = alone.receive(1, token(1, &stamps)).iter().any(|(to, msg)| *to == 0 && msg.kind() == PING);
    assert!(asked, "node 1's stamp is of a round that has not been");
}

#[test]
fn a_new_origin_starts_a_new_list() {
    let mut alone = Alone::new(config(DetectorKind::Ring), 1);
    let stamps = vec![Stamp { node: NodeId(1), round: 1 }, Stamp { node: NodeId(4), round: 1 }];
    alone.receive(
        0,
        DetectorMsg::Token(Box::new(Token {
            origin: NodeId(1),
            incarnation: Incarnation(1),
            round: 1,
            stamps,
            absent: vec![],
        })),
    );
    // Node 1 falls silent: nobody answers the roll call but 3 and 4.
    let mut lists = Vec::new();
    for _ in 0..2_000 {
        for (to, msg) in alone.wake_after(Span::millis(1)) {
            match msg {
                DetectorMsg::Ping { no, n } if to > 1 => drop(alone.receive(to, DetectorMsg::Pong { no, n })),
                DetectorMsg::Token(token) => lists.push(token.stamps),
                _ => {}
            }
        }
    }
    assert_eq!(lists.first(), Some(&vec![Stamp { node: NodeId(2), round: 1 }]));
}

#[test]
fn hostile_tokens_are_harmless() {
    let mut alone = Alone::new(config(DetectorKind::Ring), 1);
    let token = |origin, round, stamps| {
        DetectorMsg::Token(Box::new(Token {
            origin: NodeId(origin),
            incarnation: Incarnation(u64::MAX),
            round,
            stamps,
            absent: vec![NodeId(2)],
        }))
    };
    let stamp = Stamp { node: NodeId(77), round: u64::MAX };
    assert_eq!(alone.receive(0, token(99, 1, vec![])), [], "of nobody");
    assert_eq!(alone.receive(0, token(1, u64::MAX, vec![stamp; STAMPS_MAX])), [], "longer than the roster");
    assert_eq!(alone.receive(0, token(1, u64::MAX, vec![stamp; 4])).len(), 1, "passed on");
    assert_eq!(alone.receive(0, token(1, u64::MAX, vec![stamp; 4])), [], "but not twice");
    assert_eq!(alone.receive(0, token(2, u64::MAX, vec![])), [], "not of this incarnation");
}

#[test]
fn a_round_ends_once_and_asks_only_for_those_who_are_watched() {
    let mut alone = Alone::new(config(DetectorKind::Ring), 0);
    let back = |round| {
        let (origin, incarnation) = (NodeId(1), Incarnation(1));
        DetectorMsg::Token(Box::new(Token { origin, incarnation, round, stamps: vec![], absent: vec![] }))
    };
    alone.start(1);
    alone.receive(1, DetectorMsg::Pong { no: WatchNo(1), n: 1 });
    alone.wake_after(Span::ZERO);
    let ping = DetectorMsg::Ping { no: WatchNo(1), n: 2 };
    assert_eq!(alone.receive(3, back(1)), [(1, ping)], "its stamp is missing");
    alone.receive(1, DetectorMsg::Pong { no: WatchNo(1), n: 2 });
    assert_eq!(alone.receive(3, back(1)), [], "it came back before");
    assert_eq!(alone.receive(3, back(2)), [], "it was never sent");
    alone.stop(1);
    alone.wake_after(PERIOD);
    assert_eq!(alone.receive(3, back(2)), [], "nobody is watched");
}

/// Sooner, and a slow but whole ring would be called up for nothing; later, and a broken one would stay so.
#[test]
fn a_token_is_missed_after_a_period_a_roll_call_and_two_trips() {
    let mut alone = Alone::new(config(DetectorKind::Ring), 2);
    let (origin, incarnation) = (NodeId(1), Incarnation(1));
    let token = Token { origin, incarnation, round: 1, stamps: vec![], absent: vec![] };
    alone.receive(1, DetectorMsg::Token(Box::new(token)));
    let calls = |mail: Mail| mail.iter().filter(|(_, msg)| msg.kind() == PING).count();
    let patience = PERIOD + DELTA * (2 * 4 + 4);
    assert_eq!(calls(alone.wake_after(Span::micros(patience.as_micros() - 1))), 0);
    assert_eq!(calls(alone.wake_after(Span::micros(1))), 3);
}
