//! Promises about single links and single messages.

use super::*;

/// Everybody sends to everybody this often.
const PERIOD: Span = Span::millis(50);

#[derive(Clone, Copy, Debug)]
struct Flight {
    sent: Time,
    from: usize,
    to: usize,
    arrival: Option<Time>,
}

impl Flight {
    fn is_timely(&self) -> bool {
        self.arrival.is_some_and(|at| at.since(self.sent) <= DELTA)
    }
}

fn flights(kind: ModelKind, seed: u64) -> Vec<Flight> {
    let mut rig = Rig::new(kind, seed);
    let instants = (0..END.as_micros()).step_by(PERIOD.as_micros() as usize).map(Time::from_micros);
    let links = |sent| (0..NODES).flat_map(move |from| others(from).map(move |to| (sent, from, to)));
    instants
        .flat_map(links)
        .map(|(sent, from, to)| Flight {
            sent,
            from,
            to,
            arrival: rig.arrival(sent, from, to, Part::Neither),
        })
        .collect()
}

fn promised_time(flights: &[Flight]) -> impl Iterator<Item = &Flight> {
    flights.iter().filter(|flight| flight.sent >= GST)
}

/// How many links from the source are timely for good.
fn timely_links(flights: &[Flight]) -> usize {
    let always = |to| {
        promised_time(flights)
            .filter(|flight| (flight.from, flight.to) == (SOURCE, to))
            .all(Flight::is_timely)
    };
    others(SOURCE).filter(|to| always(*to)).count()
}

/// How many receive a broadcast of the source in time, when it is least.
fn least_reached(flights: &[Flight]) -> usize {
    let broadcasts: Vec<_> = promised_time(flights).filter(|flight| flight.from == SOURCE).collect();
    let reached = broadcasts
        .chunk_by(|one, other| one.sent == other.sent)
        .map(|broadcast| broadcast.iter().filter(|flight| flight.is_timely()).count());
    reached.min().expect("it did broadcast")
}

fn all_timely(flights: &[Flight]) -> bool {
    promised_time(flights).all(Flight::is_timely)
}

fn nothing_lost(flights: &[Flight]) -> bool {
    flights.iter().all(|flight| flight.arrival.is_some())
}

#[test]
fn after_gst_every_message_is_timely() {
    for seed in SEEDS {
        let run = flights(ModelKind::Gst, seed);
        assert!(all_timely(&run));
        assert!(!run.iter().all(Flight::is_timely), "not before");
        assert!(flights(ModelKind::Synchronous, seed).iter().all(Flight::is_timely));
        assert!(
            !all_timely(&flights(ModelKind::Kcs, seed)) && !all_timely(&flights(ModelKind::TSource, seed))
        );
    }
}

#[test]
fn a_source_has_t_timely_links_for_good_and_no_more() {
    for seed in SEEDS {
        assert_eq!(timely_links(&flights(ModelKind::TSource, seed)), T);
        assert_eq!(timely_links(&flights(ModelKind::Kcs, seed)), NODES - 1);
        assert_eq!(timely_links(&flights(ModelKind::TMovingSource, seed)), 0);
        assert_eq!(timely_links(&flights(ModelKind::Mp, seed)), 0, "D grows beyond δ");
    }
    let chosen = |seed| {
        let run = flights(ModelKind::TSource, seed);
        others(SOURCE)
            .map(|to| run.iter().filter(|flight| flight.to == to && flight.is_timely()).count())
            .collect::<Vec<_>>()
    };
    assert_ne!(chosen(1), chosen(2), "another seed, another Q");
}

#[test]
fn a_moving_source_reaches_t_others_at_every_instant() {
    for seed in SEEDS {
        assert!(least_reached(&flights(ModelKind::TMovingSource, seed)) >= T);
        assert!(least_reached(&flights(ModelKind::TAccessible, seed)) >= T);
        assert!(least_reached(&flights(ModelKind::TSource, seed)) >= T, "one that does not move is one, too");
        assert!(least_reached(&flights(ModelKind::Mp, seed)) < T);
        assert!(least_reached(&flights(ModelKind::Combined, seed)) < T);
    }
}

/// The longest time without a message from the source at `to`, in the first and in the last third.
fn droughts(flights: &[Flight], to: usize) -> [Span; 2] {
    let from_source = flights.iter().filter(|flight| (flight.from, flight.to) == (SOURCE, to));
    let mut arrivals: Vec<_> = from_source.filter_map(|flight| flight.arrival).collect();
    arrivals.sort_unstable();
    let gaps: Vec<_> = arrivals.windows(2).map(|pair| (pair[1], pair[1].since(pair[0]))).collect();
    thirds(&gaps).map(|gaps| gaps.into_iter().max().unwrap_or_default())
}

#[test]
fn a_moving_source_starves_everybody_for_ever_longer() {
    for seed in SEEDS {
        let run = flights(ModelKind::TMovingSource, seed);
        for to in others(SOURCE) {
            let [first, last] = droughts(&run, to);
            assert!(last > first && first > Span::secs(1), "seed {seed}, node {to}: {first} and {last}");
        }
        let run = flights(ModelKind::TSource, seed);
        let spared = others(SOURCE).filter(|to| droughts(&run, *to)[1] <= PERIOD + DELTA).count();
        assert_eq!(spared, T, "one that does not move spares its own");
    }
}

#[test]
fn reliable_models_lose_nothing_and_a_fair_link_some() {
    for kind in ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Adversary) {
        assert_eq!(nothing_lost(&flights(kind, 1)), kind != ModelKind::Kcs, "{}", kind.name());
    }
    for seed in SEEDS {
        let run = flights(ModelKind::Kcs, seed);
        assert!(
            promised_time(&run).filter(|flight| flight.from == SOURCE).all(|flight| flight.arrival.is_some())
        );
        for from in others(SOURCE) {
            for to in others(from) {
                let lost: Vec<bool> = run
                    .iter()
                    .filter(|flight| (flight.from, flight.to) == (from, to))
                    .map(|flight| flight.arrival.is_none())
                    .collect();
                let rate = lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64;
                assert!((0.25..0.35).contains(&rate), "from {from} to {to}: {rate}");
                let row =
                    lost.chunk_by(|one, other| one == other).filter(|row| row[0]).map(<[bool]>::len).max();
                assert!(row.is_some_and(|row| row < 20), "from {from} to {to}: {row:?} in a row");
            }
        }
    }
}

#[test]
fn hostile_delays_grow_and_messages_overtake_one_another() {
    let hostile = [ModelKind::TSource, ModelKind::TMovingSource, ModelKind::TAccessible, ModelKind::Kcs];
    for (kind, seed) in hostile.into_iter().flat_map(|kind| SEEDS.map(move |seed| (kind, seed))) {
        let run = flights(kind, seed);
        let (from, to) = (0, 1);
        let link = || run.iter().filter(|flight| (flight.from, flight.to) == (from, to));
        let delays: Vec<_> =
            link().filter_map(|flight| Some((flight.sent, flight.arrival?.since(flight.sent)))).collect();
        let [first, last] = thirds(&delays).map(|delays| delays.into_iter().max().unwrap_or_default());
        assert!(last > first && last > Span::secs(4), "{}, seed {seed}: {first} and {last}", kind.name());
        let [early, late] = thirds(&delays).map(|delays| delays.into_iter().min().unwrap_or(Span::secs(9)));
        assert!(early.max(late) < Span::millis(204), "{}, seed {seed}: now and then it is open", kind.name());
        let arrivals: Vec<_> = link().filter_map(|flight| flight.arrival).collect();
        assert!(!arrivals.is_sorted(), "{}, seed {seed}", kind.name());
    }
}
