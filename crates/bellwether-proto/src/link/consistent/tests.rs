//! Two ends and a network between them that loses, repeats, reorders and is cut, in one direction or both.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::roster::Priority;
use crate::wire::tests::Random;

const TIMING: Timing = Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(10) };

/// How badly the network behaves, in percent, and whether each direction is cut.
#[derive(Clone, Copy, Default)]
struct Weather {
    loss: u64,
    repeats: u64,
    cut: [bool; 2],
}

/// What each end has said, by the incarnations of both and the transition.
type Lists = [BTreeMap<(u64, u64, u64), Vec<u32>>; 2];

struct Pair {
    now: Time,
    random: Random,
    weather: Weather,
    ends: [Option<ConsistentLinks<u32>>; 2],
    incarnations: [u64; 2],
    /// On its way: when it arrives, to whom, from which incarnation.
    mail: Vec<(Time, usize, Incarnation, ConsistentMsg<u32>)>,
    /// What each incarnation of each end has seen, with which incarnation of the other.
    seen: [BTreeMap<(u64, u64), u64>; 2],
    /// What each end has sent and taken, by incarnation and transition.
    sent: Lists,
    taken: Lists,
    next: u32,
    turns: u64,
    /// What each end was told of how the other stands, besides with transitions.
    stands: [Vec<Membership>; 2],
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut pair = Self {
            now: Time::ZERO,
            random: Random(seed),
            weather: Weather::default(),
            ends: [None, None],
            incarnations: [0, 0],
            mail: Vec::new(),
            seen: Default::default(),
            sent: Default::default(),
            taken: Default::default(),
            next: 0,
            turns: 0,
            stands: Default::default(),
        };
        pair.restart(0);
        pair.restart(1);
        pair
    }

    fn restart(&mut self, at: usize) {
        self.incarnations[at] += 1;
        let roster = Roster::new(id(at), [id(0), id(1)], Priority::LowestId);
        self.ends[at] = Some(ConsistentLinks::new(&roster, Incarnation(self.incarnations[at]), TIMING));
        self.act(at, |end, now| end.start(now));
    }

    fn act(&mut self, at: usize, act: impl FnOnce(&mut ConsistentLinks<u32>, Time)) {
        let Some(end) = &mut self.ends[at] else { return };
        act(end, self.now);
        for action in end.drain().collect::<Vec<_>>() {
            match action {
                Action::Send(_, msg) => self.launch(at, &msg),
                Action::News(News::Turned { incarnation, seen, .. }) => self.turned(at, incarnation.0, seen),
                Action::News(News::Stands(_, membership)) => self.stands[at].push(membership),
                Action::News(News::Deliver(_, what)) => self.record(at, what, |pair| &mut pair.taken),
            }
        }
    }

    /// Each history alternates by one, and neither end is further ahead than is allowed.
    fn turned(&mut self, at: usize, incarnation: u64, seen: u64) {
        let before = self.seen[at].insert((self.incarnations[at], incarnation), seen);
        assert_eq!(before.unwrap_or(0) + 1, seen, "one transition at a time");
        let other = self.seen[1 - at].get(&(incarnation, self.incarnations[at])).copied().unwrap_or(0);
        assert!(seen <= other + SKEW, "end {at} has seen {seen}, the other {other}");
        self.turns += 1;
    }

    fn record(&mut self, at: usize, what: u32, list: fn(&mut Self) -> &mut Lists) {
        let up = self.up(at).expect("only what is up carries anything");
        list(self)[at].entry(up).or_default().push(what);
    }

    /// The incarnations of both and the transition, seen from the first, if the end is up.
    fn up(&self, at: usize) -> Option<(u64, u64, u64)> {
        let links = self.ends[at].as_ref()?;
        let end = &links.ends[1 - at];
        let incarnations = if at == 0 {
            (self.incarnations[0], end.incarnation.0)
        } else {
            (end.incarnation.0, self.incarnations[1])
        };
        end.is_up().then_some((incarnations.0, incarnations.1, end.seen))
    }

    fn launch(&mut self, from: usize, msg: &ConsistentMsg<u32>) {
        if self.weather.cut[from] || self.random.below(100) < self.weather.loss {
            return;
        }
        let copies = 1 + u64::from(self.random.below(100) < self.weather.repeats);
        for _ in 0..copies {
            let at = self.now + Span::micros(500 + self.random.below(9_500));
            self.mail.push((at, 1 - from, Incarnation(self.incarnations[from]), msg.clone()));
        }
    }

    fn send(&mut self, from: usize) {
        if self.up(from).is_some() {
            self.next += 1;
            let what = self.next;
            self.record(from, what, |pair| &mut pair.sent);
            self.act(from, |end, now| end.send(now, id(1 - from), what));
        }
    }

    fn run(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            let mail = self.mail.iter().map(|(at, ..)| *at).min().unwrap_or(Time::NEVER);
            let deadline = |end: &Option<ConsistentLinks<u32>>| {
                end.as_ref().map_or(Time::NEVER, ConsistentLinks::deadline)
            };
            let deadlines: Vec<Time> = self.ends.iter().map(deadline).collect();
            let next = mail.min(deadlines[0]).min(deadlines[1]);
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            if mail <= next {
                let place = self.mail.iter().position(|(at, ..)| *at == mail).expect("it is the earliest");
                let (_, to, incarnation, msg) = self.mail.remove(place);
                self.act(to, |end, now| end.handle(now, id(1 - to), incarnation, msg));
            } else {
                let at = usize::from(deadlines[0] > next);
                self.act(at, |end, now| end.wake(now));
            }
        }
    }

    /// What was taken in an up is what was sent in it, in order, up to some point; all of it if the link is still up.
    fn check_carried(&self) {
        for (to, taken) in self.taken.iter().enumerate() {
            for (up, taken) in taken {
                let sent = self.sent[1 - to].get(up).expect("it was sent in the same up");
                assert!(sent.starts_with(taken), "sent {sent:?}, taken {taken:?}");
            }
        }
    }
}

fn id(at: usize) -> NodeId {
    NodeId(at as u32 + 1)
}

#[test]
fn a_link_between_two_who_can_speak_goes_up_once_and_stays_up() {
    let mut pair = Pair::new(1);
    pair.run(Span::secs(20));
    assert_eq!(pair.turns, 2, "one transition at each end");
    assert_eq!((pair.up(0), pair.up(1)), (Some((1, 1, 1)), Some((1, 1, 1))));
}

#[test]
fn a_link_that_is_cut_in_one_direction_goes_down_at_both_ends_and_stays_down() {
    for direction in [0, 1] {
        let mut pair = Pair::new(2);
        pair.run(Span::secs(1));
        pair.weather.cut[direction] = true;
        pair.run(Pace::of(TIMING).settles());
        assert_eq!((pair.up(0), pair.up(1)), (None, None));
        let turns = pair.turns;
        pair.run(Span::secs(60));
        assert_eq!(pair.turns, turns, "hearing is not enough");
    }
}

#[test]
fn a_restart_that_is_quicker_than_the_patience_is_seen_at_the_other_end() {
    let mut pair = Pair::new(3);
    pair.run(Span::secs(1));
    pair.restart(1);
    pair.run(Span::secs(1));
    assert_eq!(
        pair.seen[0],
        BTreeMap::from([((1, 1), 2), ((1, 2), 1)]),
        "down with the old incarnation, up with the new"
    );
    assert_eq!(pair.up(1), Some((1, 2, 1)));
}

/// Loss, repetition, reordering, cuts and restarts; in the end both ends have seen the same and are up.
#[test]
fn histories_agree_whatever_the_network_does() {
    let (mut turns, mut carried) = (0, 0);
    for seed in 0..300 {
        let mut pair = Pair::new(seed);
        for _ in 0..60 {
            let cut = [pair.random.below(4) == 0, pair.random.below(4) == 0];
            let [loss, repeats] = [0, 0].map(|_: u64| [0, 10, 40][pair.random.below(3) as usize]);
            pair.weather = Weather { loss, repeats, cut };
            if pair.random.below(12) == 0 {
                let at = pair.random.below(2) as usize;
                pair.restart(at);
            }
            for _ in 0..pair.random.below(4) {
                let from = pair.random.below(2) as usize;
                pair.send(from);
                let pause = pair.random.below(50);
                pair.run(Span::millis(pause));
            }
            let pause = pair.random.below(900);
            pair.run(Span::millis(pause));
        }
        pair.weather = Weather::default();
        pair.run(Pace::of(TIMING).settles());
        assert!(
            pair.up(0).is_some() && pair.up(0) == pair.up(1),
            "seed {seed}: {:?} {:?}",
            pair.up(0),
            pair.up(1)
        );
        pair.check_carried();
        turns += pair.turns;
        carried += pair.taken.iter().flat_map(BTreeMap::values).map(Vec::len).sum::<usize>();
    }
    assert!(turns > 3_000 && carried > 3_000, "{turns} transitions, {carried} carried");
}

#[test]
fn what_is_sent_over_a_link_that_stays_up_all_arrives() {
    let mut pair = Pair::new(4);
    pair.run(Span::secs(1));
    pair.weather.loss = 10;
    for _ in 0..50 {
        pair.send(0);
        pair.run(Span::millis(20));
    }
    pair.weather.loss = 0;
    pair.run(Span::secs(1));
    let up = pair.up(0).expect("one beat in ten does not bring it down");
    assert_eq!(up.2, 1, "it was up all the time");
    assert_eq!(pair.taken[1][&up], pair.sent[0][&up]);
    assert_eq!(pair.taken[1][&up].len(), 50);
}

#[test]
fn a_link_that_falls_behind_goes_down_and_memory_stays_bounded() {
    let mut pair = Pair::new(5);
    pair.run(Span::secs(1));
    pair.weather.cut = [true, true];
    (0..=OUTSTANDING_MAX).for_each(|_| pair.send(0));
    assert_eq!(pair.up(0), None);
    for _ in 0..1_000 {
        pair.weather.cut = [pair.random.below(2) == 0; 2];
        pair.send(0);
        pair.run(Span::millis(300));
    }
    assert!(pair.turns > 100, "it flaps");
    let end = pair.ends[0].as_ref().expect("it is there");
    let mut form = Form::new();
    end.canonical(pair.now, &mut form, |what, form| form.number(u64::from(*what)));
    assert!(form.timed().len() < 80, "what it remembers does not grow");
}

/// Numbers that no peer can have reached have no effect: nobody is made to count to them.
#[test]
fn what_the_other_end_cannot_have_seen_is_ignored() {
    let mut pair = Pair::new(6);
    pair.run(Span::secs(1));
    let turns = pair.turns;
    for (seen, echo) in [(u64::MAX, 0), (1 + SKEW + 1, 0), (2, u64::MAX)] {
        let membership = Membership::default();
        let msg =
            ConsistentMsg { to: Incarnation(1), seen, no: 1_000, echo, taken: 0, membership, carries: None };
        pair.act(0, |end, now| end.handle(now, id(1), Incarnation(1), msg));
    }
    assert_eq!(pair.turns, turns);
    let lies = vec![u64::MAX, 0];
    for no in lies {
        let membership = Membership { dead: true, view: None };
        let msg = ConsistentMsg {
            to: Incarnation(7),
            seen: 9,
            no,
            echo: 0,
            taken: u64::MAX,
            membership,
            carries: None,
        };
        pair.act(0, |end, now| end.handle(now, id(1), Incarnation(1), msg));
    }
    assert_eq!(pair.turns, turns, "it speaks of another incarnation");
}

/// With a transition it is told anyway; after that, whenever it changes and not with every beat.
#[test]
fn how_the_other_stands_is_told_when_it_changes() {
    let mut pair = Pair::new(3);
    let dead = Membership { dead: true, ..Membership::default() };
    pair.act(0, |end, now| end.stand(now, dead));
    pair.run(Span::secs(5));
    assert_eq!(pair.stands, [vec![], vec![]], "told with the transition, or has not changed");
    let alive = Membership::default();
    pair.act(0, |end, now| end.stand(now, alive));
    pair.run(Span::secs(5));
    assert_eq!(pair.stands, [vec![], vec![alive]]);
}

/// An oracle only chooses when: both ends go through the same, and none goes up that could not.
#[test]
fn links_that_an_oracle_drives_follow_the_same_rule() {
    let mut pair = Pair::new(7);
    pair.mail.clear();
    for at in [0, 1] {
        pair.ends[at] = pair.ends[at].take().map(ConsistentLinks::told);
        pair.act(at, |end, now| end.start(now));
    }
    pair.act(0, |end, now| end.oracle(now, id(1), true));
    assert_eq!(pair.up(0), None, "it has not heard of the other");
    arrive(&mut pair);
    assert_eq!(
        pair.ends[0].as_ref().map(ConsistentLinks::deadline),
        Some(Time::NEVER),
        "nothing is ever due"
    );
    pair.act(0, |end, now| end.oracle(now, id(1), true));
    assert!(pair.up(0).is_some() && pair.up(1).is_none());
    pair.send(0);
    arrive(&mut pair);
    assert_eq!((pair.up(0), pair.up(1)), (Some((1, 1, 1)), Some((1, 1, 1))));
    pair.act(1, |end, now| end.oracle(now, id(0), false));
    pair.act(1, |end, now| end.oracle(now, id(0), true));
    assert_eq!(pair.up(1), None, "the other has not seen that it was down");
    pair.send(0);
    arrive(&mut pair);
    assert_eq!((pair.up(0), pair.up(1)), (None, None));
    pair.act(1, |end, now| end.oracle(now, id(0), true));
    arrive(&mut pair);
    assert_eq!((pair.up(0), pair.up(1)), (Some((1, 1, 3)), Some((1, 1, 3))));
    assert_eq!(pair.taken[1].values().flatten().count(), 1, "what was sent into a down is gone");
}

/// All that is on its way arrives, in order, and whatever comes of it.
fn arrive(pair: &mut Pair) {
    while !pair.mail.is_empty() {
        let (_, to, incarnation, msg) = pair.mail.remove(0);
        pair.act(to, |end, now| end.handle(now, id(1 - to), incarnation, msg));
    }
}
