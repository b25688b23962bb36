//! The program that an agent serves: it works while its node leads, it is told who does, and it asks for things.

use bellwether_proto::canonical::Form;
use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure::{Command, Hold, Tenure};
use bellwether_proto::time::{Span, Time};

use crate::check;

/// What is known of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) work: Work,
    /// How many of its commands have not been answered.
    pub(super) unanswered: u8,
    /// Who leads, as it was told last.
    pub(super) leader: Option<NodeId>,
    /// From then on its node counts as one that could have been asked which epochs it has seen.
    met: Time,
    /// How long its work may take to end.
    release_timeout: Span,
}

/// What a program does as the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing.
    None,
    /// It works.
    Going,
    /// It works and is to stop, because leadership was asked back, or lost.
    Ending { since: Time },
}

/// What a program can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// To resign, and to stand aside for as long as the settings say.
    Resign,
    /// To stand again.
    Stand,
    /// To leave.
    Leave,
    /// To hand over to the node of that index.
    Transfer(u8),
}

impl Program {
    pub(super) fn new(met: Time, release_timeout: Span) -> Self {
        Self { work: Work::None, unanswered: 0, leader: None, met, release_timeout }
    }

    /// What it may do has changed. It begins to work as soon as it may, and stops in its own time. That it is told again to
    /// stop gives it no more time.
    pub(super) fn told(&mut self, now: Time, tenure: Tenure) {
        self.work = match (tenure, self.work) {
            (Tenure::Held { .. }, _) => Work::Going,
            (_, Work::Going) => Work::Ending { since: now },
            (_, work) => work,
        };
    }

    /// What is wrong if a node announces now that this one has given leadership back.
    pub(super) fn work_goes_on(&self, now: Time, told_by: NodeId, giver: NodeId) -> Option<String> {
        let passed = match self.work {
            Work::None => return None,
            Work::Going => None,
            Work::Ending { since } => Some(now.since(since)),
        };
        let has_had_its_time = passed.is_some_and(|passed| passed >= self.release_timeout);
        (!has_had_its_time).then(|| check::goes_on(told_by, giver, passed, self.release_timeout))
    }

    pub(super) fn may_finish(&self) -> bool {
        matches!(self.work, Work::Ending { .. })
    }

    /// Whether its node has been there for long enough to be asked.
    pub(super) fn is_met(&self, now: Time) -> bool {
        self.met <= now
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        let (work, until) = match self.work {
            Work::None => (0, Time::NEVER),
            Work::Going => (1, Time::NEVER),
            Work::Ending { since } => (2, since + self.release_timeout),
        };
        form.number(work);
        form.deadline(now, until);
        form.number(u64::from(self.unanswered));
        form.option(self.leader, Form::node);
        form.deadline(now, self.met);
    }
}

impl Ask {
    /// All that can be asked of one of so many nodes.
    pub(super) fn of(node: u8, nodes: u8) -> impl Iterator<Item = Self> {
        let transfers = (0..nodes).filter(move |to| *to != node).map(Self::Transfer);
        [Self::Resign, Self::Stand, Self::Leave].into_iter().chain(transfers)
    }

    pub(super) fn command(self) -> Command {
        match self {
            Self::Resign => Command::Resign { hold: Hold::Default },
            Self::Stand => Command::Stand,
            Self::Leave => Command::Leave,
            Self::Transfer(to) => Command::Transfer { to: NodeId(u32::from(to) + 1) },
        }
    }

    /// Different for different things.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Resign => 0,
            Self::Stand => 1,
            Self::Leave => 2,
            Self::Transfer(to) => 3 + to,
        }
    }

    pub(super) fn by_code(code: u8) -> Self {
        match code {
            0 => Self::Resign,
            1 => Self::Stand,
            2 => Self::Leave,
            to => Self::Transfer(to - 3),
        }
    }
}
