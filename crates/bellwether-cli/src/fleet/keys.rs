//! Which keys mean which order.

use super::control::{Order, Verb};

/// Which keys there are, for the last line of a board.
pub(crate) const KEYS: &str = "select: k kill  s stop  c continue  r restart    l kill the leader  q quit";

/// Which node keys are about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    pub(crate) selected: Option<u32>,
}

/// What a key means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// Nothing that is not done already.
    Nothing,
    /// It is to end.
    End,
    /// Something is to be done.
    Do(Order),
    /// It cannot be meant now.
    Problem(&'static str),
}

impl Keys {
    /// Takes a key, among nodes that are numbered from 1.
    pub(crate) fn press(&mut self, key: char, nodes: u32, leader: Option<u32>) -> Pressed {
        let (verb, node) = match key {
            'q' => return Pressed::End,
            '1'..='9' => {
                self.selected = key.to_digit(10).filter(|node| *node <= nodes).or(self.selected);
                return Pressed::Nothing;
            }
            'l' => (Verb::Kill, leader),
            'k' => (Verb::Kill, self.selected),
            's' => (Verb::Stop, self.selected),
            'c' => (Verb::Cont, self.selected),
            'r' => (Verb::Start, self.selected),
            _ => return Pressed::Nothing,
        };
        match node {
            Some(_) => Pressed::Do(Order { verb, node }),
            None if key == 'l' => Pressed::Problem("nobody leads"),
            None => Pressed::Problem("no node is selected: press its number first"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_selected_before_anything_is_done_to_it() {
        let mut keys = Keys::default();
        assert!(matches!(keys.press('k', 3, None), Pressed::Problem(_)));
        assert_eq!(keys.press('2', 3, None), Pressed::Nothing);
        assert_eq!(keys.press('7', 3, None), Pressed::Nothing, "there is none, and the selection stays");
        assert_eq!(keys.press('s', 3, None), Pressed::Do(Order { verb: Verb::Stop, node: Some(2) }));
        assert_eq!(keys.press('l', 3, None), Pressed::Problem("nobody leads"));
        assert_eq!(keys.press('l', 3, Some(1)), Pressed::Do(Order { verb: Verb::Kill, node: Some(1) }));
        assert_eq!(keys.press('q', 3, None), Pressed::End);
    }
}
