//! How stable leaders are: an hour of churn for every algorithm, and how long each takes to replace a leader.
//!
//! All figures are of simulated time, and the same on every machine.

use bellwether_proto::election::Protocol;
use bellwether_proto::time::Span;
use bellwether_sim::measure::churn::{self, Churn};
use bellwether_sim::measure::failover;
use bellwether_sim::measure::figures::Figures;
use bellwether_sim::scenario::Latency;

use super::Effort;
use super::figure::{Better, keep};

pub(crate) fn churn(effort: Effort) {
    let hour = Churn::default();
    let churn = Churn { length: effort.of(hour.length, Span::secs(60)), ..hour };
    let seeds = effort.of(3, 1);
    println!(
        "churn: {} nodes for {}, each up for {} and down for {} on average, links 1ms, period 50ms; seeds 1 to {seeds}",
        churn.nodes, churn.length, churn.up, churn.down
    );
    println!(
        "{:<18}{:>8}{:>15}{:>9}{:>13}{:>13}",
        "", "crashes", "leader crashes", "changes", "pre-emptions", "leaderless"
    );
    for protocol in Protocol::ALL {
        let mut leaderless = 0.0;
        for seed in 1..=seeds {
            let outcome = churn::measure(protocol, &churn, seed);
            println!(
                "{:<18}{:>8}{:>15}{:>9}{:>13}{:>11.1} s",
                protocol.name(),
                outcome.crashes,
                outcome.leader_crashes,
                outcome.changes,
                outcome.preemptions,
                outcome.leaderless.as_micros() as f64 / 1e6
            );
            leaderless += outcome.leaderless.as_micros() as f64 / 1e6;
        }
        let mean = leaderless / seeds as f64;
        keep(&format!("churn, {}: without a leader", protocol.name()), mean, "s/h", Better::Lower);
    }
}

pub(crate) fn failover(effort: Effort) {
    let (latency, period, crashes) = (Span::millis(1), Span::millis(50), effort.of(1_000, 2));
    let figures = Figures::new(5, Latency::constant(latency), period);
    println!(
        "failover after the leader's crash: 5 nodes, links {latency}, period {period}, {crashes} moments of a period"
    );
    println!(
        "{:<18}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "milliseconds", "min", "median", "p90", "p99", "max", "never"
    );
    for protocol in Protocol::ALL {
        let outcomes = failover::measure(protocol, &figures, crashes);
        let mut times: Vec<Span> = outcomes.iter().copied().flatten().collect();
        times.sort_unstable();
        print!("{:<18}", protocol.name());
        for percent in [0, 50, 90, 99, 100] {
            let at = times.len().saturating_sub(1) * percent / 100;
            match times.get(at) {
                Some(time) => print!("{:>10.1}", time.as_micros() as f64 / 1e3),
                None => print!("{:>10}", "-"),
            }
        }
        println!("{:>10}", outcomes.len() - times.len());
        if let Some(median) = times.get(times.len() / 2) {
            let millis = median.as_micros() as f64 / 1e3;
            keep(&format!("failover, {}: median, simulated", protocol.name()), millis, "ms", Better::Lower);
        }
    }
}
