//! Defects of the leadership layer that are known and not mended yet, each with a scenario that shows it.
//!
//! A search of nodes that are run as an agent runs them tells these apart from what is new: what breaks a property that is
//! listed here for its algorithm is counted and reported as known. A test holds the list to the files in `defects/`: each
//! must still show what it says. Whoever mends a defect deletes its file and its line.

use bellwether_proto::election::Protocol;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;

use crate::scenario::{Fault, Scenario};

/// A defect that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The algorithm with which it shows.
    pub protocol: Protocol,
    /// What it breaks.
    pub property: Property,
    /// What it takes.
    pub takes: Takes,
    /// The scenario that shows it, in the folder `defects`.
    pub file: &'static str,
}

/// Without what a defect does not show: what breaks the property all the same is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It may show anywhere.
    Nothing,
    /// Somebody is paused.
    Pauses,
    /// Somebody's disk is slow.
    SlowDisks,
}

/// Every defect that is known.
pub const KNOWN: &[Defect] = &[
    on_slow_disks(Protocol::AsyncBully, Property::EpochGrows, "async-bully-slow-disk-repeats-an-epoch.toml"),
    after_a_pause(Protocol::Adft, Property::Led, "adft-slow-after-a-pause.toml"),
    known(Protocol::Fjr, Property::EpochGrows, "fjr-two-lead-one-epoch.toml"),
];

/// The known defect by which that scenario breaks that property, if there is one.
pub fn of(scenario: &Scenario, property: Property) -> Option<&'static Defect> {
    let is_there = |takes: Takes| match takes {
        Takes::Nothing => true,
        Takes::SlowDisks => scenario.longest_write() > Span::ZERO,
        Takes::Pauses => scenario.events.iter().any(|planned| matches!(planned.fault, Fault::Pause(_))),
    };
    let mut known = KNOWN.iter().filter(|defect| scenario.agent && is_there(defect.takes));
    known.find(|defect| defect.protocol == scenario.protocol && defect.property == property)
}

const fn known(protocol: Protocol, property: Property, file: &'static str) -> Defect {
    Defect { protocol, property, takes: Takes::Nothing, file }
}

const fn after_a_pause(protocol: Protocol, property: Property, file: &'static str) -> Defect {
    Defect { protocol, property, takes: Takes::Pauses, file }
}

const fn on_slow_disks(protocol: Protocol, property: Property, file: &'static str) -> Defect {
    Defect { protocol, property, takes: Takes::SlowDisks, file }
}
