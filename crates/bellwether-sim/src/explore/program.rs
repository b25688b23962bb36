//! The program that an agent serves: it works while its node leads, it is told who does, and it asks for things.

use bellwether_proto::canonical::Form;
use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure::{Command, Hold, Tenure};
use bellwether_proto::time::{Span, Time};

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
    patience: Span,
}

/// What a program does as the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing.
    None,
    /// It works.
    Going,
    /// It works and is to stop, and has time until then.
    AskedBack { until: Time },
    /// It works although its node does not lead any more: nobody waits for that.
    Lost,
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
    pub(super) fn new(met: Time, patience: Span) -> Self {
        Self { work: Work::None, unanswered: 0, leader: None, met, patience }
    }

    /// What it may do has changed. It begins to work as soon as it may, and stops in its own time.
    pub(super) fn told(&mut self, now: Time, tenure: Tenure) {
        self.work = match (tenure, self.work) {
            (Tenure::Held { .. }, _) => Work::Going,
            (_, Work::None) => Work::None,
            (Tenure::AskedBack { .. }, Work::Going) => Work::AskedBack { until: now + self.patience },
            // It was told to stop before, and has begun nothing since: that it is told again gives it no more time.
            (Tenure::AskedBack { .. }, told) => told,
            (Tenure::None, _) => Work::Lost,
        };
    }

    /// Whether it works, and leadership must not be given back yet.
    pub(super) fn is_protected(&self, now: Time) -> bool {
        match self.work {
            Work::None | Work::Lost => false,
            Work::Going => true,
            Work::AskedBack { until } => now < until,
        }
    }

    pub(super) fn may_finish(&self) -> bool {
        matches!(self.work, Work::AskedBack { .. } | Work::Lost)
    }

    /// Whether its node has been there for long enough to be asked.
    pub(super) fn is_met(&self, now: Time) -> bool {
        self.met <= now
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        let (work, until) = match self.work {
            Work::None => (0, Time::NEVER),
            Work::Going => (1, Time::NEVER),
            Work::AskedBack { until } => (2, until),
            Work::Lost => (3, Time::NEVER),
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
