//! What happens to the writers, and when. It counts lines, not time: a slow machine has the same story.

use crate::fleet::control::{Order, Verb};

/// How many lines a writer writes before something happens to it.
const LINES_BEFORE: u64 = 15;
/// How many lines the next one writes before the one before is back.
const LINES_AFTER: u64 = 8;

/// What happens to whoever writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    Kill,
    Stop,
}

/// Who writes: with which token, and how many lines so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writing {
    pub(super) node: u32,
    pub(super) token: u64,
    pub(super) lines: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    /// What happens next; `None` if nothing happens by itself.
    next: Option<Harm>,
    /// Who is away since then.
    away: Option<(Harm, Writing)>,
}

impl Script {
    /// Writers are killed and stopped by turns.
    pub(super) fn by_turns() -> Self {
        Self { next: Some(Harm::Kill), away: None }
    }

    /// Nothing happens but what somebody does.
    pub(super) fn by_hand() -> Self {
        Self { next: None, away: None }
    }

    pub(super) fn next(&mut self, writing: Option<Writing>) -> Option<Order> {
        let (next, now) = (self.next?, writing?);
        match self.away {
            None if now.lines >= LINES_BEFORE => {
                self.away = Some((next, now));
                Some(Order { verb: next.done(), node: Some(now.node) })
            }
            Some((harm, away)) if now.token > away.token && now.lines >= LINES_AFTER => {
                (self.away, self.next) = (None, Some(next.other()));
                Some(Order { verb: harm.undone(), node: Some(away.node) })
            }
            None | Some(_) => None,
        }
    }
}

impl Harm {
    fn done(self) -> Verb {
        match self {
            Self::Kill => Verb::Kill,
            Self::Stop => Verb::Stop,
        }
    }

    fn undone(self) -> Verb {
        match self {
            Self::Kill => Verb::Start,
            Self::Stop => Verb::Cont,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Kill => Self::Stop,
            Self::Stop => Self::Kill,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_killed_and_the_next_one_stopped_and_both_come_back() {
        let mut script = Script::by_turns();
        let mut next = |node, token, lines| {
            let order = script.next(Some(Writing { node, token, lines }))?;
            Some((order.verb, order.node.unwrap()))
        };
        assert_eq!(next(1, 1, LINES_BEFORE - 1), None);
        assert_eq!(next(1, 1, LINES_BEFORE), Some((Verb::Kill, 1)));
        assert_eq!(next(1, 1, LINES_BEFORE + 1), None, "that is a line of the dead");
        assert_eq!(next(2, 2, LINES_AFTER), Some((Verb::Start, 1)));
        assert_eq!(next(2, 2, LINES_BEFORE), Some((Verb::Stop, 2)));
        assert_eq!(next(3, 3, LINES_AFTER - 1), None);
        assert_eq!(next(3, 3, LINES_AFTER), Some((Verb::Cont, 2)));
        assert_eq!(next(3, 3, LINES_BEFORE), Some((Verb::Kill, 3)));
        assert_eq!(Script::by_hand().next(Some(Writing { node: 1, token: 1, lines: 1_000 })), None);
    }
}
