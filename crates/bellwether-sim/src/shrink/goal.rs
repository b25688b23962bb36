//! What a scenario must do to count as showing the same thing.

use bellwether_proto::election::Variant;
use bellwether_proto::opinion::Status;
use bellwether_proto::promise::{Assumption, Property};

use super::blame::Blame;
use crate::environment::{keeps, promised, promises};
use crate::report::Report;
use crate::run;
use crate::scenario::{Bound, Expect, Scenario};

/// What a smaller scenario must have in common with the one that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What it breaks.
    pub broken: Broken,
    /// Assumptions of the promise that it may break.
    pub waived: Vec<Assumption>,
    /// Assumptions that it must keep, though the promise does not ask for them.
    pub kept: Vec<Assumption>,
    /// Whether the repaired algorithm must keep what the printed one breaks.
    pub contrast: bool,
    /// How it must end, if that matters. This distinguishes flaws that break the same property.
    pub ends: Option<Ends>,
    /// How many messages there must be.
    pub messages: Vec<(String, Bound)>,
    /// What is to blame: without it, nothing would be broken.
    pub blame: Option<Blame>,
}

/// Something that a run can break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A property that was promised.
    Property(Property),
    /// A bound on the messages of one kind in a run of this length.
    Cost(String, Bound),
}

/// The state in which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Some node that is up is organising an election.
    Electing,
    /// Some node that is up waits for the outcome of another's election.
    Waiting,
    /// Some node that is up waits for a group to be reorganized.
    Reorganizing,
    /// All nodes that are up are in normal operation.
    Normal,
}

impl Goal {
    /// The goal that the property is broken in a world in which it is promised.
    pub fn property(property: Property) -> Self {
        Self {
            broken: Broken::Property(property),
            waived: Vec::new(),
            kept: Vec::new(),
            contrast: false,
            ends: None,
            messages: Vec::new(),
            blame: None,
        }
    }

    /// Whether the scenario shows it. Plays it, and for a contrast also the repaired algorithm.
    pub fn reached(&self, scenario: &Scenario) -> bool {
        self.is_promised(scenario)
            && self.shown(&run::run(scenario))
            && self.is_repaired(scenario)
            && self.is_to_blame(scenario)
    }

    /// Whether this world keeps all assumptions of the promise except the waived ones. A world that keeps those too
    /// would show something else: that the promise itself is broken.
    pub fn is_promised(&self, scenario: &Scenario) -> bool {
        if !self.kept.iter().all(|assumption| keeps(scenario, *assumption)) {
            return false;
        }
        match &self.broken {
            Broken::Property(property) => {
                promised(scenario, *property, &self.waived)
                    && !self.waived.iter().any(|assumption| keeps(scenario, *assumption))
            }
            Broken::Cost(..) => true,
        }
    }

    /// The expectation of a scenario that shows it.
    pub fn expect(&self) -> Expect {
        match &self.broken {
            Broken::Property(property) => Expect { violates: vec![*property], ..Expect::default() },
            Broken::Cost(kind, bound) => {
                let opposite = bound.opposite().map(|bound| (kind.clone(), bound));
                Expect { messages: opposite.into_iter().collect(), ..Expect::default() }
            }
        }
    }

    /// How the run broke it, in a sentence.
    pub(super) fn story(&self, report: &Report) -> String {
        match &self.broken {
            Broken::Property(property) => {
                let judged = report.properties.iter().find(|judged| judged.property == *property);
                let violation = judged.and_then(|judged| judged.violation.as_deref()).unwrap_or_default();
                format!("{property} is broken {violation}.")
            }
            Broken::Cost(kind, bound) => {
                let sent = report.messages.by_kind.get(kind.as_str()).copied().unwrap_or(0);
                format!(
                    "{sent} messages {kind}, where {} {} are expected.",
                    bound.relation.symbol(),
                    bound.value
                )
            }
        }
    }

    /// Whether the promise speaks of what comes to be "in the end".
    pub(super) fn is_eventual(&self, scenario: &Scenario) -> bool {
        let Broken::Property(property) = self.broken else { return false };
        promises(scenario.protocol, scenario.variant, scenario.runs())
            .iter()
            .any(|promise| promise.property == property && promise.under.contains(&Assumption::QuietEnd))
    }

    fn shown(&self, report: &Report) -> bool {
        let count = |kind: &str| match kind {
            "total" => report.messages.sent,
            "protocol" => report.messages.protocol,
            "detector" => report.messages.detector,
            kind => report.messages.by_kind.get(kind).copied().unwrap_or(0),
        };
        let broken = match &self.broken {
            Broken::Property(property) => {
                report.properties.iter().any(|judged| judged.property == *property && !judged.holds)
            }
            Broken::Cost(kind, bound) => !bound.admits(count(kind)),
        };
        broken
            && self.ends.is_none_or(|ends| ends.fits(report))
            && self.messages.iter().all(|(kind, bound)| bound.admits(count(kind)))
    }

    /// Whether the repaired algorithm keeps it in the same scenario, if that is asked for.
    fn is_repaired(&self, scenario: &Scenario) -> bool {
        if !self.contrast || scenario.variant == Variant::Repaired {
            return true;
        }
        self.keeps(&Scenario { variant: Variant::Repaired, ..scenario.clone() })
    }

    /// Whether nothing would be broken without what is to blame, if the goal names something.
    fn is_to_blame(&self, scenario: &Scenario) -> bool {
        self.blame.as_ref().is_none_or(|blame| self.keeps(&blame.taken_out_of(scenario)))
    }

    /// Whether a scenario keeps the promise, and had an occasion to break it.
    pub fn keeps(&self, scenario: &Scenario) -> bool {
        let expect = match &self.broken {
            Broken::Property(property) => Expect { holds: vec![*property], ..Expect::default() },
            Broken::Cost(kind, bound) => {
                Expect { messages: vec![(kind.clone(), *bound)], ..Expect::default() }
            }
        };
        let report = run::run(&Scenario { expect, ..scenario.clone() });
        report.expectations.iter().all(|expectation| expectation.met)
    }
}

impl Broken {
    /// As a heading.
    pub fn words(&self) -> String {
        match self {
            Self::Property(property) => property.name().to_owned(),
            Self::Cost(kind, bound) => format!("{kind} {} {}", bound.relation.symbol(), bound.value),
        }
    }
}

impl Ends {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Electing, Self::Waiting, Self::Reorganizing, Self::Normal];

    /// The status that files write for it.
    pub const fn name(self) -> &'static str {
        self.status().name()
    }

    const fn status(self) -> Status {
        match self {
            Self::Electing => Status::Election,
            Self::Waiting => Status::Waiting,
            Self::Reorganizing => Status::Reorganizing,
            Self::Normal => Status::Normal,
        }
    }

    fn fits(self, report: &Report) -> bool {
        let mut up = report.last.iter().filter(|node| node.up);
        match self {
            Self::Electing | Self::Waiting | Self::Reorganizing => {
                up.any(|node| node.status == self.status())
            }
            Self::Normal => up.all(|node| node.status == self.status()),
        }
    }
}
