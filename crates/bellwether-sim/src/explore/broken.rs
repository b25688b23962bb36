//! What a search can find broken.

use bellwether_proto::promise::Property;

/// What was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A property that was promised.
    Property(Property),
    /// An invariant of the algorithm, or of a layer above it.
    Invariant(&'static str),
}

impl Broken {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Property(property) => property.name(),
            Self::Invariant(_) => "INVARIANT",
        }
    }
}

/// Something broken, and in which way.
#[derive(Clone, Debug)]
pub struct Breach {
    /// What.
    pub broken: Broken,
    /// For people: how.
    pub what: String,
}

impl Breach {
    pub(super) fn of_invariant(what: &'static str) -> Self {
        Self { broken: Broken::Invariant(what), what: format!("{what} does not hold") }
    }

    pub(super) fn of(property: Property, what: String) -> Self {
        Self { broken: Broken::Property(property), what }
    }
}
