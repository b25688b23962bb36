//! One step of a model.

/// What happens. Numbers are those of voters, coordinators, agents, names and messages, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message arrives.
    Deliver(usize),
    /// A message arrives, and stays under way.
    Duplicate(usize),
    /// A message is lost. Searches need no such step: what is lost never arrives.
    Lose(usize),
    /// Time passes.
    Tick,
    /// A coordinator whose deadline has passed wakes up.
    WakeCoordinator(usize),
    /// An agent whose deadline has passed wakes up.
    WakeAgent(usize),
    /// The next change is on a voter's disk.
    Write(usize),
    /// All changes are.
    WriteAll(usize),
    /// A voter restarts.
    RestartVoter(usize),
    /// A voter restarts with an empty store.
    Amnesia(usize),
    /// A coordinator restarts.
    RestartCoordinator(usize),
    /// A coordinator restarts, and has forgotten its incarnation.
    ForgetCoordinator(usize),
    /// An agent restarts.
    RestartAgent(usize),
    /// An agent restarts, and has forgotten its incarnation.
    ForgetAgent(usize),
    /// An agent begins to campaign for a name.
    Campaign(usize, usize),
    /// An agent gives a name back, or ends its wait.
    Release(usize, usize),
    /// The same, for the agent after it.
    Transfer(usize, usize),
    /// A coordinator takes an agent for gone.
    Part(usize, usize),
    /// A coordinator can speak with an agent again.
    Meet(usize, usize),
    /// A coordinator is asked to let a voter vote, or to remove it if it does.
    Change(usize, usize),
    /// An agent asks for a name to be forgotten.
    Delete(usize, usize),
    /// An agent asks which names there are.
    List(usize),
}

impl Step {
    /// Whether somebody wants something that was not wanted before, or an agent forgets what it wanted.
    pub(super) fn begins(self) -> bool {
        matches!(
            self,
            Self::Campaign(..)
                | Self::Release(..)
                | Self::Transfer(..)
                | Self::Change(..)
                | Self::Delete(..)
                | Self::RestartAgent(_)
                | Self::ForgetAgent(_)
        )
    }

    pub(super) fn pack(self) -> u32 {
        let (kind, a, b) = self.parts();
        kind << 24 | (a as u32 & 0xfff) << 12 | (b as u32 & 0xfff)
    }

    pub(super) fn unpack(packed: u32) -> Self {
        let (a, b) = ((packed >> 12 & 0xfff) as usize, (packed & 0xfff) as usize);
        match packed >> 24 {
            0 => Self::Deliver(a),
            1 => Self::Duplicate(a),
            2 => Self::Tick,
            3 => Self::WakeCoordinator(a),
            4 => Self::WakeAgent(a),
            5 => Self::Write(a),
            6 => Self::WriteAll(a),
            7 => Self::RestartVoter(a),
            8 => Self::Amnesia(a),
            9 => Self::RestartCoordinator(a),
            10 => Self::ForgetCoordinator(a),
            11 => Self::RestartAgent(a),
            12 => Self::ForgetAgent(a),
            13 => Self::Campaign(a, b),
            14 => Self::Release(a, b),
            15 => Self::Transfer(a, b),
            16 => Self::Part(a, b),
            17 => Self::Meet(a, b),
            19 => Self::Change(a, b),
            20 => Self::Delete(a, b),
            21 => Self::List(a),
            _ => Self::Lose(a),
        }
    }

    const fn parts(self) -> (u32, usize, usize) {
        match self {
            Self::Deliver(a) => (0, a, 0),
            Self::Duplicate(a) => (1, a, 0),
            Self::Tick => (2, 0, 0),
            Self::WakeCoordinator(a) => (3, a, 0),
            Self::WakeAgent(a) => (4, a, 0),
            Self::Write(a) => (5, a, 0),
            Self::WriteAll(a) => (6, a, 0),
            Self::RestartVoter(a) => (7, a, 0),
            Self::Amnesia(a) => (8, a, 0),
            Self::RestartCoordinator(a) => (9, a, 0),
            Self::ForgetCoordinator(a) => (10, a, 0),
            Self::RestartAgent(a) => (11, a, 0),
            Self::ForgetAgent(a) => (12, a, 0),
            Self::Campaign(a, b) => (13, a, b),
            Self::Release(a, b) => (14, a, b),
            Self::Transfer(a, b) => (15, a, b),
            Self::Part(a, b) => (16, a, b),
            Self::Meet(a, b) => (17, a, b),
            Self::Lose(a) => (18, a, 0),
            Self::Change(a, b) => (19, a, b),
            Self::Delete(a, b) => (20, a, b),
            Self::List(a) => (21, a, 0),
        }
    }
}
