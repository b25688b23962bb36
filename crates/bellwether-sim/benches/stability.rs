//! How stable leaders are: an hour of churn for every algorithm, and the failover of the default.
//!
//! Run: cargo bench -p bellwether-sim --bench stability
//!
//! All figures are of simulated time, and the same on every machine.

#![allow(clippy::print_stdout, reason = "a report for people")]

use bellwether_proto::election::Protocol;
use bellwether_proto::time::Span;
use bellwether_sim::measure::churn::{self, Churn};
use bellwether_sim::measure::failover;
use bellwether_sim::measure::figures::Figures;
use bellwether_sim::scenario::Latency;

const SEEDS: u64 = 3;

fn main() {
    let churn = Churn::default();
    println!(
        "churn: {} nodes for {}, each up for {} and down for {} on average, links 1ms, period 50ms; seeds 1 to {SEEDS}",
        churn.nodes, churn.length, churn.up, churn.down
    );
    println!(
        "{:<12}{:>8}{:>15}{:>9}{:>13}{:>13}",
        "", "crashes", "leader crashes", "changes", "pre-emptions", "leaderless"
    );
    for protocol in Protocol::ALL {
        for seed in 1..=SEEDS {
            let outcome = churn::measure(protocol, &churn, seed);
            println!(
                "{:<12}{:>8}{:>15}{:>9}{:>13}{:>11.1} s",
                protocol.name(),
                outcome.crashes,
                outcome.leader_crashes,
                outcome.changes,
                outcome.preemptions,
                outcome.leaderless.as_micros() as f64 / 1e6
            );
        }
    }
    let (latency, period, crashes) = (Span::millis(1), Span::millis(50), 1_000);
    let figures = Figures::new(5, Latency::constant(latency), period);
    println!(
        "\nfailover after the leader's crash: 5 nodes, links {latency}, period {period}, {crashes} moments of a period"
    );
    println!("{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "min", "median", "p90", "p99", "max");
    for protocol in Protocol::ALL {
        let mut times = failover::measure(protocol, &figures, crashes);
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_micros() as f64 / 1e3;
        println!(
            "{:<12}{:>7.1} ms{:>7.1} ms{:>7.1} ms{:>7.1} ms{:>7.1} ms",
            protocol.name(),
            at(0),
            at(50),
            at(90),
            at(99),
            at(100)
        );
    }
}
