//! What a model promises is kept; what it does not promise does not happen to be so.
//!
//! Each check is of the promise as the paper words it, against what arrived when: it knows nothing of how the promise
//! is kept. For each there is a model that fails it.

mod links;
mod rounds;

use rand_core::SeedableRng;

use super::*;

/// Few enough that Q is a small part of them, enough that Q can move.
const NODES: usize = 6;

const GST: Time = Time::from_micros(10_000_000);

/// Long enough for hostile delays to exceed a hundred τ.
const END: Time = Time::from_micros(310_000_000);

const DELTA: Span = Span::millis(8);

const SEEDS: std::ops::Range<u64> = 1..6;

/// The models' p: neither first nor last.
const SOURCE: usize = 2;

const T: usize = 2;

/// A model at work, without a world.
struct Rig {
    behaviour: Behaviour,
    rng: ChaCha8Rng,
}

impl Rig {
    /// `source`, `t`, `gst` and `delta` as above, if the kind reads them.
    fn new(kind: ModelKind, seed: u64) -> Self {
        let keys = kind.keys().iter().map(|key| match key.name() {
            "source" => format!("source = {}\n", SOURCE + 1),
            "t" => format!("t = {T}\n"),
            "gst" => format!("gst = \"{}\"\n", GST.since(Time::ZERO)),
            "delta" => format!("delta = \"{DELTA}\"\n"),
            _ => "loss = 0.3\n".to_owned(),
        });
        let text = format!(
            "protocol = \"async-bully\"\nnodes = {NODES}\nuntil = \"1h\"\n[network]\nlatency = [\"1ms\", \"5ms\"]\n\
             [network.model]\nkind = \"{}\"\n{}",
            kind.name(),
            keys.collect::<String>()
        );
        let scenario = Scenario::parse("x.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let behaviour = Behaviour::new(&scenario, &mut rng).expect("it concerns links");
        Self { behaviour, rng }
    }

    fn arrival(&mut self, now: Time, from: usize, to: usize, part: Part) -> Option<Time> {
        let arrival = self.behaviour.arrival(now, from, to, part, &mut self.rng);
        assert!(arrival.is_none_or(|at| at >= now + Span::millis(1)), "quicker than light");
        arrival
    }
}

/// Of a list in order of time, the first and the last third of what happened after `GST`.
fn thirds<T: Copy>(list: &[(Time, T)]) -> [Vec<T>; 2] {
    let third = END.since(GST) / 3;
    let within = |from: Time, to: Time| {
        list.iter().filter(move |(at, _)| (from..to).contains(at)).map(|(_, item)| *item).collect()
    };
    [within(GST, GST + third), within(END - third, END)]
}

fn others(than: usize) -> impl Iterator<Item = usize> {
    (0..NODES).filter(move |node| *node != than)
}

#[test]
fn drawing_gives_different_ones_each_as_often() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut times = [0; 5];
    for _ in 0..1_000 {
        let mut three = drawn(3, (0..5).collect(), &mut rng);
        three.iter().for_each(|node| times[*node] += 1);
        three.sort_unstable();
        three.dedup();
        assert_eq!(three.len(), 3);
    }
    assert!(times.iter().all(|times| (540..660).contains(times)), "{times:?}");
}
