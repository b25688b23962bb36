//! Situations that must occur in some plans: a search that never reaches them proves nothing.
//!
//! What must be reached follows from what the algorithm promises, the messages it has and the faults that may be drawn;
//! nothing here knows an algorithm by name. Each is recognised in the trace (`spotter.rs`).

mod spotter;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use bellwether_proto::election::{Protocol, Spec, Variant};
use bellwether_proto::promise::{Assumption, Property};

use crate::plan::{FaultClass, Limits};
use crate::scenario::Runs;

pub use spotter::Spotter;

/// A situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Situation {
    /// After somebody had led, two nodes organised elections at once.
    ConcurrentElections,
    /// A node crashed while it organised an election.
    OrganiserCrashed,
    /// One that did came back before a detector had to notice.
    OrganiserBack,
    /// A node crashed that another's election had halted.
    HaltedCrashed,
    /// In one and the same election a node was asked again.
    AskedAgain,
    /// The leader crashed.
    LeaderCrashed,
    /// A leader that stayed up ceased to lead.
    LeaderDemoted,
    /// Two nodes led at once.
    TwoLeaders,
    /// They did, and could not hear each other.
    SplitBrain,
    /// The cut between two leaders was mended.
    SplitHealed,
    /// Three nodes led at once, and later followed one leader.
    ThreeMerged,
    /// A node came back while another led.
    JoinedRunning,
    /// Nobody was up.
    AllDown,
    /// A node crashed after it had written to disk and before it had sent what follows from that.
    CrashAfterPersist,
    /// A watched node crashed and came back before a detector had to notice.
    QuickRestart,
    /// A detector reported a node that was up all the time.
    FalseSuspicion,
    /// A node was paused for longer than others wait.
    PausedLong,
    /// A message was lost.
    Lost,
    /// A message arrived twice.
    Duplicated,
    /// A message overtook another between the same two nodes.
    Overtaken,
    /// A message took longer than δ.
    Late,
    /// A message of a former incarnation of its sender was refused.
    OldIncarnationRefused,
    /// Another leader than before was announced to an application.
    AnnouncedAnother,
    /// A leader resigned.
    Resigned,
    /// A leader handed over to another.
    HandedOver,
    /// A leader was to make way although nobody had asked it to do anything.
    MadeWay,
    /// A leader's work did not end in time.
    WorkGivenUp,
    /// A node left.
    Left,
    /// A connection ended with a goodbye.
    Unlinked,
    /// A message of that kind was received.
    Received(&'static str),
}

impl Situation {
    /// All but the kinds of message received, which depend on the algorithm.
    pub const COMMON: [Self; 29] = [
        Self::ConcurrentElections,
        Self::OrganiserCrashed,
        Self::OrganiserBack,
        Self::HaltedCrashed,
        Self::AskedAgain,
        Self::LeaderCrashed,
        Self::LeaderDemoted,
        Self::TwoLeaders,
        Self::SplitBrain,
        Self::SplitHealed,
        Self::ThreeMerged,
        Self::JoinedRunning,
        Self::AllDown,
        Self::CrashAfterPersist,
        Self::QuickRestart,
        Self::FalseSuspicion,
        Self::PausedLong,
        Self::Lost,
        Self::Duplicated,
        Self::Overtaken,
        Self::Late,
        Self::OldIncarnationRefused,
        Self::AnnouncedAnother,
        Self::Resigned,
        Self::HandedOver,
        Self::MadeWay,
        Self::WorkGivenUp,
        Self::Left,
        Self::Unlinked,
    ];

    /// A few words for it; of a kind of message, the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConcurrentElections => "concurrent elections",
            Self::OrganiserCrashed => "organiser crashed",
            Self::OrganiserBack => "organiser back unnoticed",
            Self::HaltedCrashed => "halted node crashed",
            Self::AskedAgain => "asked again in one election",
            Self::LeaderCrashed => "leader crashed",
            Self::LeaderDemoted => "leader demoted",
            Self::TwoLeaders => "two leaders at once",
            Self::SplitBrain => "a leader on each side of a cut",
            Self::SplitHealed => "two leaders meet again",
            Self::ThreeMerged => "three groups merged",
            Self::JoinedRunning => "joined a running system",
            Self::AllDown => "all down at once",
            Self::CrashAfterPersist => "crash between persist and send",
            Self::QuickRestart => "restart unnoticed",
            Self::FalseSuspicion => "false suspicion",
            Self::PausedLong => "pause longer than a timeout",
            Self::Lost => "message lost",
            Self::Duplicated => "message duplicated",
            Self::Overtaken => "message overtaken",
            Self::Late => "message late",
            Self::OldIncarnationRefused => "old incarnation refused",
            Self::AnnouncedAnother => "another leader announced",
            Self::Resigned => "leader resigned",
            Self::HandedOver => "leader handed over",
            Self::MadeWay => "leader made way",
            Self::WorkGivenUp => "work given up",
            Self::Left => "node left",
            Self::Unlinked => "connection ended with a goodbye",
            Self::Received(kind) => kind,
        }
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Received(kind) => write!(f, "{kind} received"),
            common => f.pad(common.name()),
        }
    }
}

/// What must be reached in a search of many plans within these limits.
pub fn required(protocol: Protocol, variant: Variant, limits: &Limits) -> Vec<Situation> {
    let mix = Mix::new(protocol, variant, limits);
    let common = Situation::COMMON.into_iter().filter(|situation| mix.must_reach(*situation));
    common.chain(kinds(protocol.spec())).collect()
}

fn kinds(spec: &'static Spec) -> impl Iterator<Item = Situation> {
    spec.kinds.iter().map(|kind| Situation::Received(kind.name()))
}

/// An algorithm, and the faults that may happen.
struct Mix {
    spec: &'static Spec,
    variant: Variant,
    runs: Runs,
    classes: BTreeSet<FaultClass>,
}

impl Mix {
    fn new(protocol: Protocol, variant: Variant, limits: &Limits) -> Self {
        let classes = limits.classes(protocol, variant);
        Self { spec: protocol.spec(), variant, runs: limits.runs, classes }
    }

    fn must_reach(&self, situation: Situation) -> bool {
        use FaultClass::{Crash, Delay, Duplicate, Loss, Partition, Pause, Recover};
        let has = |class| self.classes.contains(&class);
        let restarts = has(Crash) && has(Recover);
        let splits = has(Partition) && !self.presumes(Assumption::AccurateDetector) && self.may_split();
        let any_order = !self.presumes(Assumption::Fifo);
        match situation {
            Situation::ConcurrentElections | Situation::OrganiserCrashed | Situation::HaltedCrashed => {
                self.organises() && has(Crash)
            }
            Situation::OrganiserBack => self.organises() && self.watches() && restarts,
            // As printed nobody asks twice, and where nothing is lost nobody needs to.
            Situation::AskedAgain => {
                let asks = self.variant == Variant::Repaired && !self.presumes(Assumption::Reliable);
                self.organises() && asks && has(Loss)
            }
            Situation::LeaderCrashed => has(Crash),
            Situation::LeaderDemoted | Situation::TwoLeaders => splits,
            Situation::SplitBrain | Situation::SplitHealed => splits,
            Situation::ThreeMerged => splits && self.forms_groups(),
            Situation::JoinedRunning | Situation::AllDown | Situation::CrashAfterPersist => restarts,
            Situation::QuickRestart => self.watches() && restarts,
            Situation::FalseSuspicion => {
                let reasons = has(Loss) || has(Delay) || has(Pause) || has(Partition);
                self.watches() && !self.presumes(Assumption::AccurateDetector) && reasons
            }
            Situation::PausedLong => has(Pause),
            Situation::Lost => has(Loss),
            Situation::Duplicated => has(Duplicate) && any_order,
            Situation::Overtaken => has(Delay) && any_order,
            Situation::Late => has(Delay),
            // Where order is kept, what a former incarnation sent comes before the new one. As printed, messages do not
            // tell one incarnation from another.
            Situation::OldIncarnationRefused => {
                restarts && has(Delay) && any_order && self.variant == Variant::Repaired
            }
            Situation::AnnouncedAnother | Situation::Resigned => self.runs != Runs::Elections,
            // Work of exclusive leadership ends with its validity, in time or not.
            Situation::WorkGivenUp => self.runs == Runs::Agents,
            Situation::HandedOver | Situation::MadeWay => self.runs == Runs::Agents && self.spec.hands_over,
            Situation::Left => self.runs != Runs::Elections && restarts,
            Situation::Unlinked => self.runs != Runs::Elections && has(Partition),
            Situation::Received(_) => true,
        }
    }

    /// Whether a node shows when it holds an election, as opposed to naming somebody at all times.
    fn organises(&self) -> bool {
        self.promises(|property| match property {
            Property::A1 | Property::A2 => true,
            Property::A4 | Property::A4Prime | Property::GroupOnce => true,
            Property::A3 => false, // Of views, too, which are agreed on while the old one works.
            Property::Sle1 | Property::Sle2 | Property::Ale1 | Property::Ale2 | Property::Ale2Prime => true,
            Property::Omega | Property::SingleSender | Property::Settled | Property::Epoch => false,
            Property::EpochGrows | Property::EpochOnce | Property::AnnouncedOnce => false,
            Property::LeadsAlone => false,
            Property::WorkEndsFirst | Property::Answered | Property::Led => false,
            Property::AnswerTrue | Property::TakenOver | Property::Preferred => false,
            Property::TokenGrows | Property::TokenOnce => false,
            Property::OneHolder | Property::Freed | Property::Granted => false,
            Property::History | Property::RestrictedOnce => false,
            Property::FdComplete | Property::FdAccurate | Property::FdLatency => false,
            Property::LinkHistory | Property::ViewAgree | Property::OneLeaderPerView => false,
            Property::OneViewOrDead | Property::FakeClean => false,
        })
    }

    /// Whether several may lead at once while the network is split.
    fn may_split(&self) -> bool {
        !self.promises(|property| matches!(property, Property::Sle1 | Property::OneLeaderPerView))
    }

    fn forms_groups(&self) -> bool {
        use Property::{A3, A4, A4Prime, Ale1, Ale2, Ale2Prime};
        self.promises(|property| matches!(property, A3 | A4 | A4Prime | Ale1 | Ale2 | Ale2Prime))
    }

    fn watches(&self) -> bool {
        self.spec.detector.is_some()
    }

    fn promises(&self, of_kind: impl Fn(Property) -> bool) -> bool {
        self.spec.promises(self.variant).iter().any(|promise| of_kind(promise.property))
    }

    fn presumes(&self, assumption: Assumption) -> bool {
        self.spec.repaired.iter().any(|promise| promise.under.contains(&assumption))
    }
}

/// The situations that occurred in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    common: u64,
    /// By place in the algorithm's list of kinds.
    kinds: u32,
    protocol: Protocol,
}

impl Reached {
    fn nothing(protocol: Protocol) -> Self {
        Self { common: 0, kinds: 0, protocol }
    }

    fn add(&mut self, situation: Situation) {
        let place = Situation::COMMON.iter().position(|common| *common == situation);
        self.common |= 1 << place.expect("kinds of message are added by their place");
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = Situation> + use<> {
        let Self { common, kinds: received, protocol } = *self;
        let common = Situation::COMMON.into_iter().enumerate().filter(move |(at, _)| common >> at & 1 == 1);
        let received = kinds(protocol.spec()).enumerate().filter(move |(at, _)| received >> at & 1 == 1);
        common.chain(received).map(|(_, situation)| situation)
    }
}
