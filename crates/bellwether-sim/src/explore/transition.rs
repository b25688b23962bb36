//! What can happen next, small enough to be kept for every state.

use std::fmt;

use bellwether_proto::ident::NodeId;

use super::program::Ask;

/// One step of a search. Nodes are given by index, an id less one. `nth` counts the messages of a channel.
///
/// `cut`, if not 0: the node crashes in the middle of the step, after it has written or sent that many things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "said above")]
pub enum Transition {
    /// A message arrives; one at a node that is down is gone.
    Deliver { from: u8, to: u8, nth: u8, cut: u8 },
    /// A message arrives, and a copy of it is still on its way.
    Repeat { from: u8, to: u8, nth: u8, cut: u8 },
    /// A message is lost.
    Lose { from: u8, to: u8, nth: u8 },
    /// The node's earliest deadline is reached.
    Expire { node: u8, cut: u8 },
    /// The node's clock runs on to just before that.
    Wait { node: u8 },
    /// Time passes for all nodes and messages until something is due, or half of that.
    Pass { halfway: bool },
    /// The node crashes between two steps.
    Crash { node: u8 },
    /// The node comes back.
    Recover { node: u8, cut: u8 },
    /// The failure detector of `to` learns how things are with `about`.
    Tell { to: u8, about: u8, cut: u8 },
    /// The failure detector of `to` reports `about` wrongly.
    Lie { to: u8, about: u8, cut: u8 },
    /// The program of an agent asks for something.
    Ask { node: u8, what: Ask, cut: u8 },
    /// The work of a leader ends.
    Finish { node: u8, cut: u8 },
}

impl Transition {
    /// The same step, whole or cut short.
    pub(super) fn cut_after(self, deeds: u8) -> Self {
        match self {
            Self::Deliver { from, to, nth, .. } => Self::Deliver { from, to, nth, cut: deeds },
            Self::Repeat { from, to, nth, .. } => Self::Repeat { from, to, nth, cut: deeds },
            Self::Expire { node, .. } => Self::Expire { node, cut: deeds },
            Self::Recover { node, .. } => Self::Recover { node, cut: deeds },
            Self::Tell { to, about, .. } => Self::Tell { to, about, cut: deeds },
            Self::Lie { to, about, .. } => Self::Lie { to, about, cut: deeds },
            Self::Ask { node, what, .. } => Self::Ask { node, what, cut: deeds },
            Self::Finish { node, .. } => Self::Finish { node, cut: deeds },
            whole => whole,
        }
    }

    pub(super) fn cut(self) -> u8 {
        match self {
            Self::Deliver { cut, .. }
            | Self::Repeat { cut, .. }
            | Self::Expire { cut, .. }
            | Self::Recover { cut, .. }
            | Self::Tell { cut, .. }
            | Self::Lie { cut, .. }
            | Self::Ask { cut, .. }
            | Self::Finish { cut, .. } => cut,
            Self::Lose { .. } | Self::Wait { .. } | Self::Pass { .. } | Self::Crash { .. } => 0,
        }
    }

    /// For people, where what is told or lied about is a link.
    pub(super) fn of_links(self) -> String {
        let id = |index: u8| NodeId(u32::from(index) + 1);
        match self.cut_after(0) {
            Self::Tell { to, about, .. } => {
                format!("{}'s link to {} turns", id(to), id(about)) + &self.cut_in_words()
            }
            Self::Lie { to, about, .. } => {
                format!("{}'s link to {} fails", id(to), id(about)) + &self.cut_in_words()
            }
            _ => self.to_string(),
        }
    }

    fn cut_in_words(self) -> String {
        match self.cut() {
            0 => String::new(),
            deeds => format!("; it crashes in the middle, after {deeds} of what it had to write and send"),
        }
    }

    /// The step in 32 bits: what it is, two nodes of at most 16, the message, the cut.
    pub(super) fn pack(self) -> u32 {
        let (kind, a, b, nth, cut) = match self {
            Self::Deliver { from, to, nth, cut } => (0, from, to, nth, cut),
            Self::Repeat { from, to, nth, cut } => (1, from, to, nth, cut),
            Self::Lose { from, to, nth } => (2, from, to, nth, 0),
            Self::Expire { node, cut } => (3, node, 0, 0, cut),
            Self::Wait { node } => (4, node, 0, 0, 0),
            Self::Crash { node } => (5, node, 0, 0, 0),
            Self::Recover { node, cut } => (6, node, 0, 0, cut),
            Self::Tell { to, about, cut } => (7, to, about, 0, cut),
            Self::Lie { to, about, cut } => (8, to, about, 0, cut),
            Self::Pass { halfway } => (9, u8::from(halfway), 0, 0, 0),
            Self::Ask { node, what, cut } => (10, node, 0, what.code(), cut),
            Self::Finish { node, cut } => (11, node, 0, 0, cut),
        };
        kind << 28 | u32::from(a) << 24 | u32::from(b) << 20 | u32::from(nth) << 10 | u32::from(cut)
    }

    pub(super) fn unpack(packed: u32) -> Self {
        let low = |bits: u32| (packed >> bits & 0xff) as u8;
        let (a, b, nth, cut) = (low(24) & 15, low(20) & 15, low(10), low(0));
        match packed >> 28 {
            0 => Self::Deliver { from: a, to: b, nth, cut },
            1 => Self::Repeat { from: a, to: b, nth, cut },
            2 => Self::Lose { from: a, to: b, nth },
            3 => Self::Expire { node: a, cut },
            4 => Self::Wait { node: a },
            5 => Self::Crash { node: a },
            6 => Self::Recover { node: a, cut },
            7 => Self::Tell { to: a, about: b, cut },
            8 => Self::Lie { to: a, about: b, cut },
            10 => Self::Ask { node: a, what: Ask::by_code(nth), cut },
            11 => Self::Finish { node: a, cut },
            _ => Self::Pass { halfway: a == 1 },
        }
    }
}

/// For people, without what a message says: that depends on where in a path the step is.
impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |index: u8| NodeId(u32::from(index) + 1);
        match *self {
            Self::Deliver { from, to, .. } => write!(f, "{} -> {} arrives", id(from), id(to)),
            Self::Repeat { from, to, .. } => {
                write!(f, "{} -> {} arrives, and will again", id(from), id(to))
            }
            Self::Lose { from, to, .. } => write!(f, "{} -> {} is lost", id(from), id(to)),
            Self::Expire { node, .. } => write!(f, "{}'s deadline expires", id(node)),
            Self::Wait { node } => write!(f, "{} waits until just before its deadline", id(node)),
            Self::Pass { halfway: false } => f.write_str("time passes until something is due"),
            Self::Pass { halfway: true } => f.write_str("time passes, half of that until something is due"),
            Self::Crash { node } => write!(f, "{} crashes", id(node)),
            Self::Recover { node, .. } => write!(f, "{} recovers", id(node)),
            Self::Tell { to, about, .. } => {
                write!(f, "{}'s detector finds out how {} is", id(to), id(about))
            }
            Self::Lie { to, about, .. } => write!(f, "{}'s detector reports {} wrongly", id(to), id(about)),
            Self::Ask { node, what: Ask::Resign, .. } => write!(f, "{} is asked to resign", id(node)),
            Self::Ask { node, what: Ask::Stand, .. } => write!(f, "{} is asked to stand again", id(node)),
            Self::Ask { node, what: Ask::Leave, .. } => write!(f, "{} is asked to leave", id(node)),
            Self::Ask { node, what: Ask::Transfer(to), .. } => {
                write!(f, "{} is asked to hand over to {}", id(node), id(to))
            }
            Self::Finish { node, .. } => write!(f, "{}'s work ends", id(node)),
        }?;
        f.write_str(&self.cut_in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_packing() {
        let (from, to, nth, cut, node, about) = (2, 15, 200, 9, 7, 11);
        let steps = [
            Transition::Deliver { from, to, nth, cut },
            Transition::Repeat { from, to, nth, cut },
            Transition::Lose { from, to, nth },
            Transition::Expire { node, cut },
            Transition::Wait { node },
            Transition::Pass { halfway: false },
            Transition::Pass { halfway: true },
            Transition::Crash { node },
            Transition::Recover { node, cut },
            Transition::Tell { to, about, cut },
            Transition::Lie { to, about, cut },
            Transition::Ask { node, what: Ask::Resign, cut },
            Transition::Ask { node, what: Ask::Stand, cut },
            Transition::Ask { node, what: Ask::Leave, cut },
            Transition::Ask { node, what: Ask::Transfer(to), cut },
            Transition::Finish { node, cut },
        ];
        for step in steps {
            assert_eq!(Transition::unpack(step.pack()), step);
            assert_eq!(step.cut_after(3).cut(), if step.cut() == 0 { 0 } else { 3 });
        }
    }
}
