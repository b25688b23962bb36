//! Promises about queries and their responses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;

/// How a process behaves that waits for responses.
#[derive(Clone, Copy, Debug)]
enum Patience {
    /// Asks once.
    Waits,
    /// Asks again this often until it has n − t responses.
    AsksAgain(Span),
}

/// One round of queries: who asked when, and when whose first response came.
#[derive(Clone, Debug)]
struct Round {
    asker: usize,
    asked: Time,
    responses: Vec<(usize, Time)>,
}

impl Round {
    fn wins(&self, from: usize) -> bool {
        // The asker's own response comes first.
        self.responses.iter().take(NODES - T - 1).any(|(node, _)| *node == from)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Ask { node: usize },
    AskAgain { round: usize },
    Query { round: usize, at: usize },
    Response { round: usize, from: usize },
}

/// Everybody asks everybody, round after round, each answers at once.
struct Game {
    rig: Rig,
    patience: Patience,
    rounds: Vec<Round>,
    queue: BinaryHeap<Reverse<(Time, usize, Due)>>,
    created: usize,
}

impl Game {
    fn play(kind: ModelKind, seed: u64, patience: Patience) -> Vec<Round> {
        let rig = Rig::new(kind, seed);
        let mut game = Self { rig, patience, rounds: Vec::new(), queue: BinaryHeap::new(), created: 0 };
        (0..NODES).for_each(|node| game.push(Time::ZERO, Due::Ask { node }));
        while let Some(Reverse((now, _, due))) = game.queue.pop() {
            if now >= END {
                break;
            }
            game.happen(now, due);
        }
        game.rounds
    }

    fn happen(&mut self, now: Time, due: Due) {
        match due {
            Due::Ask { node } => {
                self.rounds.push(Round { asker: node, asked: now, responses: Vec::new() });
                self.ask(now, self.rounds.len() - 1);
            }
            Due::AskAgain { round } => {
                if self.rounds[round].responses.len() < NODES - T - 1 {
                    self.ask(now, round);
                }
            }
            Due::Query { round, at } => {
                let asker = self.rounds[round].asker;
                if let Some(arrival) = self.rig.arrival(now, at, asker, Part::Response) {
                    self.push(arrival, Due::Response { round, from: at });
                }
            }
            Due::Response { round, from } => self.take(now, round, from),
        }
    }

    fn ask(&mut self, now: Time, round: usize) {
        let asker = self.rounds[round].asker;
        for at in others(asker) {
            if let Some(arrival) = self.rig.arrival(now, asker, at, Part::Query) {
                self.push(arrival, Due::Query { round, at });
            }
        }
        if let Patience::AsksAgain(every) = self.patience {
            self.push(now + every, Due::AskAgain { round });
        }
    }

    /// With enough responses the next round begins: at once or after a while, as it comes.
    fn take(&mut self, now: Time, round: usize, from: usize) {
        let Round { asker, responses, .. } = &mut self.rounds[round];
        if responses.iter().any(|(node, _)| *node == from) {
            return;
        }
        responses.push((from, now));
        if responses.len() == NODES - T - 1 {
            let (node, pause) = (*asker, [0, 1, 20, 300][round % 4]);
            self.push(now + Span::millis(pause), Due::Ask { node });
        }
    }

    fn push(&mut self, at: Time, due: Due) {
        self.created += 1;
        self.queue.push(Reverse((at, self.created, due)));
    }
}

/// The rounds that the promise is about, as far as they are over.
fn judged(rounds: &[Round]) -> impl Iterator<Item = &Round> + Clone {
    rounds.iter().filter(|round| round.asked >= GST && round.responses.len() >= NODES - T - 1)
}

/// Those to whose queries the source always gives a winning response.
fn served(rounds: &[Round]) -> Vec<usize> {
    others(SOURCE)
        .filter(|q| {
            let mut own = judged(rounds).filter(|round| round.asker == *q).peekable();
            own.peek().is_some() && own.all(|round| round.wins(SOURCE))
        })
        .collect()
}

const PATIENCES: [Patience; 3] =
    [Patience::Waits, Patience::AsksAgain(Span::millis(10)), Patience::AsksAgain(Span::millis(70))];

#[test]
fn the_source_of_a_message_pattern_wins_with_t_others() {
    for (patience, seed) in PATIENCES.into_iter().flat_map(|patience| SEEDS.map(move |seed| (patience, seed)))
    {
        let rounds = Game::play(ModelKind::Mp, seed, patience);
        let served = served(&rounds);
        assert!(served.len() >= T, "seed {seed}, {patience:?}: {served:?}");
        let many = served.iter().filter(|q| judged(&rounds).filter(|round| round.asker == **q).count() > 300);
        assert!(many.count() >= T, "seed {seed}, {patience:?}: they asked often");
    }
}

#[test]
fn bounded_delays_alone_are_no_message_pattern() {
    for (kind, seed) in [ModelKind::Gst, ModelKind::TSource, ModelKind::TAccessible]
        .into_iter()
        .flat_map(|kind| SEEDS.map(move |seed| (kind, seed)))
    {
        assert!(served(&Game::play(kind, seed, Patience::Waits)).len() < T, "{}, seed {seed}", kind.name());
    }
}

#[test]
fn a_message_pattern_bounds_no_delay() {
    for seed in SEEDS {
        let rounds = Game::play(ModelKind::Mp, seed, Patience::Waits);
        for q in served(&rounds) {
            let own = judged(&rounds).filter(|round| round.asker == q);
            let waits: Vec<_> = own
                .filter_map(|round| {
                    let (_, at) = round.responses.iter().find(|(from, _)| *from == SOURCE)?;
                    Some((round.asked, at.since(round.asked)))
                })
                .collect();
            let [first, last] = thirds(&waits).map(|waits| waits.into_iter().max().unwrap_or_default());
            assert!(last > first && last > DELTA * 10, "seed {seed}, node {q}: {first} and {last}");
        }
    }
}

/// Who answers besides the source is not always the same, or a pattern would be a set of timely links.
#[test]
fn the_other_winners_change() {
    let rounds = Game::play(ModelKind::Mp, 1, Patience::Waits);
    for q in served(&rounds) {
        for other in others(SOURCE).filter(|node| *node != q) {
            let mut own = judged(&rounds).filter(|round| round.asker == q);
            assert!(own.clone().any(|round| round.wins(other)), "{other} never wins with {q}");
            assert!(!own.all(|round| round.wins(other)), "{other} always wins with {q}");
        }
    }
}

/// Those to whom every message of the source's takes δ at most.
fn linked(kind: ModelKind, seed: u64) -> Vec<usize> {
    let mut rig = Rig::new(kind, seed);
    let mut linked = [true; NODES];
    for at in (GST.as_micros()..END.as_micros()).step_by(100_000).map(Time::from_micros) {
        for to in others(SOURCE) {
            linked[to] &=
                rig.arrival(at, SOURCE, to, Part::Neither).is_some_and(|arrival| arrival.since(at) <= DELTA);
        }
    }
    others(SOURCE).filter(|to| linked[*to]).collect()
}

#[test]
fn a_combined_model_gives_each_of_q_one_or_the_other() {
    for seed in SEEDS {
        // Q is drawn before anything happens, so that both see the same.
        let linked = linked(ModelKind::Combined, seed);
        let served = served(&Game::play(ModelKind::Combined, seed, Patience::AsksAgain(Span::millis(30))));
        assert_eq!((served.len(), linked.len()), (1, 1), "neither promise is made to t, seed {seed}");
        assert_ne!(served, linked, "seed {seed}");
    }
}

/// How many answer a broadcast of the source in time, when it is least.
fn least_answers(rounds: &[Round]) -> usize {
    let own = judged(rounds).filter(|round| round.asker == SOURCE);
    own.map(|round| round.responses.iter().filter(|(_, at)| at.since(round.asked) <= DELTA).count())
        .min()
        .expect("it did ask")
}

#[test]
fn an_accessible_source_has_t_answers_in_time() {
    for seed in SEEDS {
        let answers = |kind| least_answers(&Game::play(kind, seed, Patience::Waits));
        assert!(answers(ModelKind::TAccessible) >= T, "seed {seed}");
        assert!(answers(ModelKind::TSource) < T, "it hears nobody in time, seed {seed}");
        assert!(answers(ModelKind::TMovingSource) < T, "seed {seed}");
    }
}

#[test]
fn those_that_answer_an_accessible_source_in_time_change() {
    let rounds = Game::play(ModelKind::TAccessible, 1, Patience::Waits);
    for q in others(SOURCE) {
        let late = judged(&rounds).filter(|round| {
            let in_time = |(from, at): &(usize, Time)| *from == q && at.since(round.asked) <= DELTA;
            round.asker == SOURCE && !round.responses.iter().any(in_time)
        });
        let late = late.count();
        assert!(late > 20, "{q} is late {late} times");
    }
}
