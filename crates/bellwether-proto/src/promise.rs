//! What an algorithm promises, and under which assumptions. The promises choose the checkers.

mod property;

pub use property::Property;

/// What a promise assumes about the world.
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
    /// What a node writes is on its disk before anybody is tired of waiting for that: within half of the time that a successor has to
    /// take over.
    QuickDisks,
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
    /// Clocks run at speeds that differ by no more than the cluster trusts them to: ρ.
    TrustedClocks,
    /// Nobody crashes.
    NoCrashes,
    /// Nobody that crashed comes back.
    NoRecoveries,
    /// Nothing goes wrong in the second half of the run, and earlier faults are over.
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
    pub const ALL: [Self; 20] = [
        Self::Reliable,
        Self::Fifo,
        Self::NoDuplicates,
        Self::BoundedDelay,
        Self::NoPauses,
        Self::QuickDisks,
        Self::AccurateDetector,
        Self::ReportsCrashes,
        Self::ReportsUnreachable,
        Self::ClocksAgree,
        Self::NoDrift,
        Self::TrustedClocks,
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
            Self::QuickDisks => "quick disks",
            Self::AccurateDetector => "accurate detector",
            Self::ReportsCrashes => "detector reports crashes",
            Self::ReportsUnreachable => "detector reports the unreachable",
            Self::ClocksAgree => "clocks agree",
            Self::NoDrift => "clocks do not drift",
            Self::TrustedClocks => "clocks within the trusted drift",
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

/// A property, and the assumptions under which it holds.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// What is promised.
    pub property: Property,
    /// Under which assumptions.
    pub under: &'static [Assumption],
}
