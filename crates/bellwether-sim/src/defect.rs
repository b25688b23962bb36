//! Defects of the leadership layer that are known and not mended yet, each with a scenario that shows it.
//!
//! A search of nodes that are run as an agent runs them tells these apart from what is new: what breaks a property that is
//! listed here for its algorithm is counted and reported as known. A test holds the list to the files in `defects/`: each
//! must still show what it says. Whoever mends a defect deletes its file and its line.

use bellwether_proto::election::Protocol;
use bellwether_proto::promise::Property;

/// A defect that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The algorithm with which it shows.
    pub protocol: Protocol,
    /// What it breaks.
    pub property: Property,
    /// The scenario that shows it, in the folder `defects`.
    pub file: &'static str,
}

/// Every defect that is known.
pub const KNOWN: &[Defect] = &[
    known(Protocol::Lfa, Property::EpochGrows, "lfa-returns-with-a-used-epoch.toml"),
    known(Protocol::Lfa, Property::AnnouncedOnce, "lfa-returns-with-a-used-epoch.toml"),
    known(Protocol::AsyncBully, Property::EpochGrows, "async-bully-two-lead-one-epoch.toml"),
    known(Protocol::AsyncBully, Property::EpochOnce, "async-bully-two-lead-one-epoch.toml"),
    known(Protocol::AsyncBully, Property::AnnouncedOnce, "async-bully-returns-and-leads.toml"),
    known(Protocol::Adft, Property::Led, "adft-slow-after-a-pause.toml"),
    known(Protocol::Fjr, Property::EpochGrows, "fjr-two-lead-one-epoch.toml"),
    known(Protocol::Fjr, Property::Led, "fjr-silent-and-preferred.toml"),
    known(Protocol::FbOmega, Property::EpochOnce, "fb-omega-epoch-repeats.toml"),
];

/// The known defect by which that algorithm breaks that property, if there is one.
pub fn by(protocol: Protocol, property: Property) -> Option<&'static Defect> {
    KNOWN.iter().find(|defect| defect.protocol == protocol && defect.property == property)
}

const fn known(protocol: Protocol, property: Property, file: &'static str) -> Defect {
    Defect { protocol, property, file }
}
