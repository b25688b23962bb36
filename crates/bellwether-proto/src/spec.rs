//! The facts about an algorithm. The rest of the code asks only here: it never matches on a
//! [`Protocol`](crate::election::Protocol), and never infers one of these facts from another.

use crate::detector::DetectorKind;
use crate::kind::Kind;
use crate::link::Peers;
use crate::members::Members;
use crate::promise::Promise;
use crate::roster::Priority;

/// The facts about an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name in files and commands.
    pub name: &'static str,
    /// The document and figure it comes from.
    pub document: &'static str,
    /// What it assumes.
    pub assumes: &'static str,
    /// What its user may rely on.
    pub guarantees: &'static str,
    /// What it costs.
    pub messages: &'static str,
    /// Whether it is fit for an agent on a real network, and if not, why.
    pub in_agent: InAgent,
    /// What a leader needs, and so what its users may rely on when the cluster is split.
    pub mode: Mode,
    /// Which nodes are preferred as leaders.
    pub priority: Priority,
    /// Whether a working leader gives way to a preferred node that comes back.
    pub gives_way: GivesWay,
    /// The detector it gets unless told otherwise; `None` for an algorithm with timers of its own, which gets none.
    pub detector: Option<DetectorKind>,
    /// Which peers its nodes speak with.
    pub peers: Peers,
    /// What it needs of its channels.
    pub channels: Channels,
    /// Whether its nodes agree on views, which name their members, before anybody leads (Franceschetti and Bruck).
    pub views: bool,
    /// Whether its groups are reorganized (Garcia-Molina).
    pub reorganizes: bool,
    /// Whether its leader can hand over to a node of its choice. With fixed priorities it cannot.
    pub hands_over: bool,
    /// The kinds of its messages.
    pub kinds: &'static [Kind],
    /// What the repaired variant promises: ours.
    pub repaired: &'static [Promise],
    /// What the printed variant promises: the paper's claims.
    pub printed: &'static [Promise],
}

impl Spec {
    /// The largest cluster that can run it, if there is a limit: views name their members.
    pub const fn nodes_max(&self) -> Option<usize> {
        if self.views { Some(Members::MAX) } else { None }
    }

    /// Whether groups that each have a leader find each other and merge, so that agreeing on one leader takes a while.
    /// With views, all have agreed when there is one.
    pub const fn merges(&self) -> bool {
        self.reorganizes && !self.views
    }

    /// Whether a leader learns only by asking, once a period, that a weaker node does not follow it (Stoller's Norm?). So it is
    /// where nodes watch only those on which they depend.
    pub const fn asks_around(&self) -> bool {
        self.detector.is_some()
    }

    /// Whether the algorithm itself makes a preferred node lead, whatever the settings say.
    pub fn preempts(&self) -> bool {
        self.gives_way != GivesWay::Never
    }

    /// Whether it can be run by an agent on a real network.
    pub fn runs_in_agent(&self) -> bool {
        self.in_agent == InAgent::Yes
    }

    /// What that variant promises.
    pub fn promises(&self, variant: Variant) -> &'static [Promise] {
        match variant {
            Variant::Repaired => self.repaired,
            Variant::Printed => self.printed,
        }
    }
}

/// What an algorithm needs of the channels between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Messages in the order in which they were sent, none twice. The link layer refuses the others.
    InOrder,
    /// Nothing: messages may overtake each other and come twice.
    AnyOrder,
    /// Consistent links: both ends see the same ups and downs, and while a link is up it carries everything in
    /// order and exactly once (Franceschetti and Bruck). Both variants have them, because the paper assumes them.
    Consistent,
}

impl Channels {
    /// Whether there are links that go up and down in the same order at both ends.
    pub fn are_consistent(self) -> bool {
        self == Self::Consistent
    }
}

/// What a leader needs of the other members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: any survivor may lead.
    AnySurvivor,
    /// More than half of all members. (In the laboratory [`Primary`](crate::election::Primary) may waive that.)
    Majority,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AnySurvivor, Self::Majority];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnySurvivor => "any-survivor",
            Self::Majority => "majority",
        }
    }

    /// The mode of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// How many of that many members a leader needs, itself included.
    pub const fn needs(self, of: usize) -> usize {
        match self {
            Self::AnySurvivor => 1,
            Self::Majority => of / 2 + 1,
        }
    }

    /// What a cluster of agents may rely on, and what not, in plain words.
    pub const fn guarantee(self) -> &'static str {
        match self {
            Self::AnySurvivor => {
                "Every set of members that can reach each other has a leader. While the network is split, each side has \
                 one. Epochs grow within such a set; across a split they are not unique."
            }
            Self::Majority => {
                "Only a part with more than half of all members has a leader: they can all reach each other and agree on \
                 who failed. Other members have none. A leader that is cut off steps down when it misses too many of \
                 them; that may be a moment after the others have a new one."
            }
        }
    }
}

/// Whether a working leader gives way to a preferred node that comes back, because the algorithm has an order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesWay {
    /// It stays.
    Never,
    /// As soon as it hears of it.
    AtOnce,
    /// When its view changes next.
    WithNextView,
}

/// Whether an algorithm is fit for a real network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InAgent {
    /// It is.
    Yes,
    /// It is not, for this reason.
    No(&'static str),
}

/// Two readings of an algorithm where its paper is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// With the repairs of `docs/concepts/divergence.md`. The default.
    Repaired,
    /// What the paper says: slips of the pen are corrected, real flaws are kept. For the laboratory.
    Printed,
}

impl Variant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Repaired, Self::Printed];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Printed => "printed",
        }
    }

    /// The variant of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::Protocol;

    /// Facts that must fit together. Reach is counted by consistent links.
    #[test]
    fn no_spec_contradicts_itself() {
        for protocol in Protocol::ALL {
            let (name, spec) = (protocol.name(), protocol.spec());
            let has_views = spec.views || spec.gives_way != GivesWay::WithNextView;
            assert!(has_views, "{name}: a view that never is cannot change");
            assert!(!spec.views || spec.channels.are_consistent(), "{name}: views are agreed on over links");
            assert!(
                spec.mode == Mode::AnySurvivor || spec.views,
                "{name}: a view says who is in the majority"
            );
            let chooses = !spec.hands_over || spec.gives_way == GivesWay::Never;
            assert!(chooses, "{name}: whoever is handed leadership would have to give way");
        }
    }

    #[test]
    fn modes_have_names_and_needs() {
        assert!(Mode::ALL.iter().all(|mode| Mode::by_name(mode.name()) == Some(*mode)));
        assert_eq!([4, 5].map(|of| Mode::Majority.needs(of)), [3, 3]);
        assert_eq!(Mode::AnySurvivor.needs(5), 1);
    }
}
