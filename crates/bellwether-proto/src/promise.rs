//! What an algorithm promises, and under which assumptions. The promises choose the checkers.

use core::fmt;

/// A property of a run that a checker can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// Garcia-Molina, section III: reorganizing or normal nodes never disagree on the coordinator, nor normal ones on the
    /// task.
    A1,
    /// Garcia-Molina, section III: if nothing fails, one node is in the end normal and coordinates, and all are normal under
    /// it.
    A2,
    /// Stoller, section 3: nodes in normal operation never disagree on the leader.
    Sle1,
    /// Stoller, section 3: without failures for a time c, all are normal with a leader that is up, and stay so.
    Sle2,
    /// Stoller, section 5: nodes in normal operation in one group never disagree on its leader.
    Ale1,
    /// Stoller, section 5: as ALE2', and no more groups than cliques are needed to cover the network.
    Ale2,
    /// Stoller, section 5: in a stable system, in bounded time, all are normal, led by one who is up in their group.
    Ale2Prime,
    /// Garcia-Molina, assertion 3: those of one group that are reorganizing or normal name one coordinator, and those that
    /// are normal have one task.
    A3,
    /// Garcia-Molina, assertion 4: in a stable system, in bounded time, all who can speak with each other are in one group.
    A4,
    /// Souto, assertion 4': in a stable system, in bounded time, all are normal, in the group of a coordinator that they can
    /// reach, and there are no more groups than cliques needed to cover the network.
    A4Prime,
    /// Garcia-Molina, section IV.A: no group number is used twice: of a number there is one coordinator and one task.
    GroupOnce,
    /// Raynal, section 1: after some time all nodes that are up name one leader, which is up, for ever.
    Omega,
    /// Raynal, section 8.3: after some time a single node sends messages of the algorithm, for ever.
    SingleSender,
    /// As OMEGA, of the leaders that were announced to the application.
    Settled,
    /// Every leadership that is announced has an epoch above all that its leader had seen.
    Epoch,
    /// Garcia-Molina, section IV.B: the graph of groups has no cycles and one root, and one record for each number.
    History,
    /// Garcia-Molina, section IV.B: no restricted operation is committed in two groups.
    RestrictedOnce,
    /// Stoller, section 2, (1): a watched node that is down is reported.
    FdComplete,
    /// Stoller, section 2, (2), and section 6: only a node that was down, or seemed so, is reported.
    FdAccurate,
    /// Stoller, section 2: it is reported within the declared latency.
    FdLatency,
    /// Franceschetti and Bruck, section 2: both ends of a link see the same ups and downs, neither far ahead of the other.
    LinkHistory,
    /// Franceschetti and Bruck, section 1: all who are in a view agree on who is in it and who leads it, and it was fit to be one.
    ViewAgree,
    /// Franceschetti and Bruck, theorems 3.1 and 3.2: of those who are in a view, one leads, and no view has two leaders.
    OneLeaderPerView,
    /// Franceschetti and Bruck, section 1: a node is part of a component or dead, and goes from one to the next in order.
    OneViewOrDead,
    /// Franceschetti and Bruck, theorem 3.3: failures that only some perceive, and that pass, leave no trace.
    FakeClean,
}

impl Property {
    /// Every property.
    pub const ALL: [Self; 25] = [
        Self::A1,
        Self::A2,
        Self::Sle1,
        Self::Sle2,
        Self::Ale1,
        Self::Ale2,
        Self::Ale2Prime,
        Self::A3,
        Self::A4,
        Self::A4Prime,
        Self::GroupOnce,
        Self::Omega,
        Self::SingleSender,
        Self::Settled,
        Self::Epoch,
        Self::History,
        Self::RestrictedOnce,
        Self::FdComplete,
        Self::FdAccurate,
        Self::FdLatency,
        Self::LinkHistory,
        Self::ViewAgree,
        Self::OneLeaderPerView,
        Self::OneViewOrDead,
        Self::FakeClean,
    ];

    /// The name used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A1 => "A1",
            Self::A2 => "A2",
            Self::Sle1 => "SLE1",
            Self::Sle2 => "SLE2",
            Self::Ale1 => "ALE1",
            Self::Ale2 => "ALE2",
            Self::Ale2Prime => "ALE2'",
            Self::A3 => "A3",
            Self::A4 => "A4",
            Self::A4Prime => "A4'",
            Self::GroupOnce => "GROUP-ONCE",
            Self::Omega => "OMEGA",
            Self::SingleSender => "SINGLE-SENDER",
            Self::Settled => "SETTLED",
            Self::Epoch => "EPOCH",
            Self::History => "HISTORY",
            Self::RestrictedOnce => "RESTRICTED-ONCE",
            Self::FdComplete => "FD-COMPLETE",
            Self::FdAccurate => "FD-ACCURATE",
            Self::FdLatency => "FD-LATENCY",
            Self::LinkHistory => "LINK-HISTORY",
            Self::ViewAgree => "VIEW-AGREE",
            Self::OneLeaderPerView => "ONE-LEADER-PER-VIEW",
            Self::OneViewOrDead => "ONE-VIEW-OR-DEAD",
            Self::FakeClean => "FAKE-CLEAN",
        }
    }

    /// The property of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a promise takes for granted about the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// What is sent to a node that is up arrives.
    Reliable,
    /// Messages between two nodes keep their order.
    Fifo,
    /// Nothing arrives twice.
    NoDuplicates,
    /// What arrives does so within δ.
    BoundedDelay,
    /// A node that is up keeps running.
    NoPauses,
    /// The failure detector never reports a node that was not down.
    AccurateDetector,
    /// The failure detector reports every watched node that is down.
    ReportsCrashes,
    /// The failure detector reports every watched node that is down, cut off or playing dead.
    ReportsUnreachable,
    /// Clocks drift no further apart between two signs of life than there is slack in δ.
    ClocksAgree,
    /// Clocks do not drift at all.
    NoDrift,
    /// Nobody crashes.
    NoCrashes,
    /// Nobody that crashed comes back.
    NoRecoveries,
    /// Nothing befalls the system in the second half of the run, and what befell it before is over.
    QuietEnd,
    /// At most t nodes are down at the end (Raynal, section 2).
    FewCrashes,
    /// From some time on, what the strongest live node sends arrives in time (Raynal, section 5.3).
    StrongestReachesAll,
    /// From some time on, what some live node sends arrives in time (Raynal, section 8.1).
    OneReachesAll,
    /// From some time on, t links of some live node are timely (Raynal, section 6.1).
    TSource,
    /// From some time on, some live node's responses to t others are among the first n - t (Raynal, section 7.1).
    MessagePattern,
}

impl Assumption {
    /// Every assumption.
    pub const ALL: [Self; 18] = [
        Self::Reliable,
        Self::Fifo,
        Self::NoDuplicates,
        Self::BoundedDelay,
        Self::NoPauses,
        Self::AccurateDetector,
        Self::ReportsCrashes,
        Self::ReportsUnreachable,
        Self::ClocksAgree,
        Self::NoDrift,
        Self::NoCrashes,
        Self::NoRecoveries,
        Self::QuietEnd,
        Self::FewCrashes,
        Self::StrongestReachesAll,
        Self::OneReachesAll,
        Self::TSource,
        Self::MessagePattern,
    ];

    /// The assumption of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|assumption| assumption.name() == name)
    }

    /// The words used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reliable => "no loss",
            Self::Fifo => "FIFO",
            Self::NoDuplicates => "no duplicates",
            Self::BoundedDelay => "delay within delta",
            Self::NoPauses => "no pauses",
            Self::AccurateDetector => "accurate detector",
            Self::ReportsCrashes => "detector reports crashes",
            Self::ReportsUnreachable => "detector reports the unreachable",
            Self::ClocksAgree => "clocks agree",
            Self::NoDrift => "clocks do not drift",
            Self::NoCrashes => "nobody crashes",
            Self::NoRecoveries => "nobody recovers",
            Self::QuietEnd => "a second half without faults and loss",
            Self::FewCrashes => "at most t down",
            Self::StrongestReachesAll => "a strongest live node that reaches all in time by half-time",
            Self::OneReachesAll => "a live node that reaches all in time by half-time",
            Self::TSource => "a t-source by half-time",
            Self::MessagePattern => "the message pattern MP by half-time",
        }
    }
}

/// A property, and what must be so for it to hold.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// What is promised.
    pub property: Property,
    /// Under which assumptions.
    pub under: &'static [Assumption],
}
