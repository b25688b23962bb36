//! How long a cluster is without its leader after a crash.

use bellwether_proto::election::{AnyElection, Protocol};
use bellwether_proto::time::{Span, Time};

use super::figures::Figures;
use super::observer::{self, Handle, Outcome};
use crate::run;
use crate::scenario::Fault;
use crate::world::World;

/// From the crash until all that are left name one live leader: once for each of `crashes` moments, spread evenly over
/// one period of the leader. `None` if that never happened: some algorithms bear no crash.
///
/// # Panics
/// If there is no leader to crash. Every algorithm has one if nothing is lost or late.
pub fn measure(protocol: Protocol, figures: &Figures, crashes: u64) -> Vec<Option<Span>> {
    let one = |n| {
        let at = figures.settling() + figures.period * n / crashes;
        let scenario = figures.scenario(protocol, 1, at + figures.settling());
        let (mut world, observer) = observer::watched(&scenario, run::world_unjudged);
        world.run_until(Time::ZERO + at);
        let after = crash_leader(&mut world, &observer, scenario.until).expect("there is a leader");
        after.failovers[0].took
    };
    (0..crashes).map(one).collect()
}

/// Crashes the leader, and measures what follows up to `until`. `None` if there is no leader by then.
pub(super) fn crash_leader(
    world: &mut World<'_, AnyElection>,
    observer: &Handle,
    until: Time,
) -> Option<Outcome> {
    while observer.leader().is_none() && world.next_at().is_some_and(|at| at <= until) {
        world.step();
    }
    let leader = observer.leader()?;
    observer.take(world.now());
    world.befall(&Fault::Crash(vec![leader]));
    world.run_until(until);
    Some(observer.take(until))
}
