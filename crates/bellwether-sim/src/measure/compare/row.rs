//! The results of many runs of one algorithm in one cluster.

use bellwether_proto::election::Protocol;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::measure::observer::{Failover, Outcome};

/// The results of many runs of one algorithm in one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The algorithm.
    pub protocol: Protocol,
    /// How many nodes there were.
    pub nodes: u32,
    /// How many runs.
    pub runs: u32,
    /// All the time in which traffic was counted: in a campaign while nothing happened, in a scenario all of it.
    pub traffic: Outcome,
    /// The failover after each crash of a leader. In a campaign only crashes without other faults.
    pub failovers: Vec<Failover>,
    /// All the time in which leadership was looked at: in a campaign from the crash on, in a scenario all of it.
    pub trouble: Outcome,
    /// Properties that the algorithm promises, but not here, and the assumptions that are not kept.
    pub not_kept: Vec<(Property, String)>,
    /// The properties that were judged.
    pub judged: Vec<Judged>,
}

/// A property, and in how many runs it was judged and broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The property.
    pub property: Property,
    /// In how many runs it was judged.
    pub runs: u32,
    /// In how many of these it was broken.
    pub broken: u32,
}

impl Row {
    /// Messages sent in a second.
    pub fn messages_per_s(&self) -> f64 {
        ratio(self.traffic.messages, seconds(self.traffic.length))
    }

    /// Bytes sent in a second, as the wire format has them.
    pub fn bytes_per_s(&self) -> f64 {
        ratio(self.traffic.bytes, seconds(self.traffic.length))
    }

    /// How long each failover took, the shortest first. Those that did not end are not among them.
    pub fn times(&self) -> Vec<Span> {
        let mut times: Vec<_> = self.failovers.iter().filter_map(|failover| failover.took).collect();
        times.sort_unstable();
        times
    }

    /// How many failovers did not end while they were looked at, or had no leader to begin with.
    pub fn unsettled(&self) -> usize {
        self.failovers.iter().filter(|failover| failover.took.is_none()).count()
    }

    /// The time within which that many in a hundred failovers ended, in milliseconds; 0 is the shortest. `None` if there
    /// were none.
    pub fn failover_ms(&self, percent: usize) -> Option<f64> {
        percentile(&self.times(), percent).map(millis)
    }

    /// The messages that are sent from a crash until all agree, on average.
    pub fn messages_per_failover(&self) -> Option<f64> {
        self.per_failover(|failover| failover.messages)
    }

    /// Their bytes.
    pub fn bytes_per_failover(&self) -> Option<f64> {
        self.per_failover(|failover| failover.bytes)
    }

    /// Changes of leader in a minute.
    pub fn changes_per_min(&self) -> f64 {
        ratio(self.trouble.changes * 60, seconds(self.trouble.length))
    }

    /// Changes of leader in a minute by which one was ousted that was up.
    pub fn needless_per_min(&self) -> f64 {
        ratio(self.trouble.preemptions * 60, seconds(self.trouble.length))
    }

    /// For how many per cent of the time nobody led.
    pub fn leaderless_percent(&self) -> f64 {
        100.0 * ratio(self.trouble.leaderless.as_micros(), self.trouble.length.as_micros() as f64)
    }

    /// For how many per cent of the time two nodes or more led at once.
    pub fn split_percent(&self) -> f64 {
        100.0 * ratio(self.trouble.split.as_micros(), self.trouble.length.as_micros() as f64)
    }

    /// Everything by name, in a stable order: the columns of a CSV file, and the keys of a JSON object.
    pub fn fields(&self) -> Vec<(&'static str, Value)> {
        let not_kept = self.not_kept.iter().map(|(property, why)| format!("{property}: {why}"));
        let broken = self.judged.iter().filter(|judged| judged.broken > 0);
        let broken =
            broken.map(|judged| format!("{} in {} of {}", judged.property, judged.broken, judged.runs));
        vec![
            ("protocol", json!(self.protocol.name())),
            ("nodes", json!(self.nodes)),
            ("runs", json!(self.runs)),
            ("messages_per_s", rounded(Some(self.messages_per_s()))),
            ("bytes_per_s", rounded(Some(self.bytes_per_s()))),
            ("failovers", json!(self.failovers.len())),
            ("unsettled", json!(self.unsettled())),
            ("failover_min_ms", rounded(self.failover_ms(0))),
            ("failover_median_ms", rounded(self.failover_ms(50))),
            ("failover_p90_ms", rounded(self.failover_ms(90))),
            ("failover_p99_ms", rounded(self.failover_ms(99))),
            ("failover_max_ms", rounded(self.failover_ms(100))),
            ("messages_per_failover", rounded(self.messages_per_failover())),
            ("bytes_per_failover", rounded(self.bytes_per_failover())),
            ("observed_s", rounded(Some(seconds(self.trouble.length)))),
            ("leader_changes", json!(self.trouble.changes)),
            ("needless_changes", json!(self.trouble.preemptions)),
            ("leaderless_ms", rounded(Some(millis(self.trouble.leaderless)))),
            ("split_ms", rounded(Some(millis(self.trouble.split)))),
            ("not_kept", json!(not_kept.collect::<Vec<_>>().join("; "))),
            ("broken", json!(broken.collect::<Vec<_>>().join("; "))),
        ]
    }

    fn per_failover(&self, count: impl Fn(&Failover) -> u64) -> Option<f64> {
        let ended: Vec<_> = self.failovers.iter().filter(|failover| failover.took.is_some()).collect();
        let sum = ended.iter().map(|failover| count(failover)).sum();
        (!ended.is_empty()).then(|| ratio(sum, ended.len() as f64))
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields())
    }
}

/// The smallest value of a sorted list that this many in a hundred do not exceed.
fn percentile(sorted: &[Span], percent: usize) -> Option<Span> {
    sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

fn ratio(part: u64, whole: f64) -> f64 {
    if whole > 0.0 { part as f64 / whole } else { 0.0 }
}

fn seconds(span: Span) -> f64 {
    span.as_micros() as f64 / 1e6
}

fn millis(span: Span) -> f64 {
    span.as_micros() as f64 / 1e3
}

/// No more digits than a microsecond has in a millisecond.
fn rounded(number: Option<f64>) -> Value {
    number.map_or(Value::Null, |number| json!((number * 1e3).round() / 1e3))
}
