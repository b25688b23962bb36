//! What is still to be told of one election.
//!
//! While a hook runs, more may happen. Then only how things stand is told next, but nobody is told twice to begin who was not told to stop
//! in between: a lost leadership that was told of is never left out.

use super::{Event, Happening};

/// What was told, and what is to be.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The leadership of this node that was told last, if its end was not.
    leads: Option<Happening>,
    /// The end of it.
    lost: Option<Happening>,
    /// What happened last, if it was not told: this node leads, or another.
    last: Option<Happening>,
}

impl Queue {
    /// Something happened.
    pub(super) fn add(&mut self, happening: Happening) {
        match happening.event {
            Event::Became | Event::Other => {
                // Whoever tells of one leadership after another need not say that the first is over.
                self.give_up(happening.leader);
                self.last = Some(happening);
            }
            Event::Lost => {
                // One that was not told has come and gone.
                self.last = self.last.take().filter(|last| last.event == Event::Other);
                if self.leads.is_some() {
                    self.lost.get_or_insert(happening);
                }
            }
        }
    }

    /// Nothing more will happen. Whoever was told that this node leads is told that it does no more.
    pub(super) fn end(&mut self) {
        self.last = None;
        self.give_up(None);
    }

    /// What is to be told next. From then on it counts as told.
    pub(super) fn next(&mut self) -> Option<Happening> {
        if let Some(lost) = self.lost.take() {
            self.leads = None;
            return Some(lost);
        }
        let last = self.last.take()?;
        if last.event == Event::Became {
            self.leads = Some(last.clone());
        }
        Some(last)
    }

    /// Whether there is nothing to be told.
    pub(super) fn is_empty(&self) -> bool {
        self.lost.is_none() && self.last.is_none()
    }

    /// Whether a new one would do as well.
    pub(super) fn is_forgettable(&self) -> bool {
        self.is_empty() && self.leads.is_none()
    }

    /// What this node led, as far as was told, it leads no more.
    fn give_up(&mut self, leader: Option<bellwether::NodeId>) {
        if let Some(leads) = &self.leads {
            self.lost.get_or_insert(Happening { event: Event::Lost, leader, ..leads.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use bellwether::NodeId;
    use bellwether::elections::Name;

    use super::*;

    /// `+7`: this node leads with that token; `-7`: no more; `2/8`: node 2 does.
    fn happening(word: &str) -> Happening {
        let (event, token, leader) = match word.split_once('/') {
            Some((node, token)) => (Event::Other, token, node.parse().ok()),
            None if word.starts_with('+') => (Event::Became, &word[1..], Some(1)),
            None => (Event::Lost, &word[1..], None),
        };
        let token = token.parse().ok();
        Happening { election: Name::leader(), event, token, epoch: token, leader: leader.map(NodeId) }
    }

    fn word(happening: &Happening) -> String {
        let token = happening.token.unwrap();
        match happening.event {
            Event::Became => format!("+{token}"),
            Event::Lost => format!("-{token}"),
            Event::Other => format!("{}/{token}", happening.leader.unwrap()),
        }
    }

    /// What is told if these happen, where `.` is the end of a hook that runs, and `!` that of the agent.
    fn told(words: &str) -> String {
        let (mut queue, mut told) = (Queue::default(), Vec::new());
        for word in words.split(' ') {
            match word {
                "." => told.extend(queue.next()),
                "!" => queue.end(),
                word => queue.add(happening(word)),
            }
        }
        told.extend(std::iter::from_fn(|| queue.next()));
        assert!(queue.is_empty());
        told.iter().map(word_of).collect::<Vec<_>>().join(" ")
    }

    fn word_of(happening: &Happening) -> String {
        word(happening)
    }

    #[test]
    fn all_is_told_in_order_if_there_is_time() {
        assert_eq!(told("+1 . -1 . 2/2 . +3 . -3 . +4 ."), "+1 -1 2/2 +3 -3 +4");
    }

    #[test]
    fn what_came_and_went_while_a_hook_ran_is_not_told() {
        for (happened, is_told) in [
            ("2/1 . 3/2 2/3 3/4", "2/1 3/4"),
            ("2/1 . +2 -2 3/3", "2/1 3/3"),
            ("2/1 . +2 -2", "2/1"),
            ("2/1 3/2", "3/2"),
            ("+1 -1", ""),
        ] {
            assert_eq!(told(happened), is_told, "{happened}");
        }
    }

    #[test]
    fn who_was_told_to_begin_is_told_to_stop_before_anything_else() {
        for (happened, is_told) in [
            ("+1 . -1 2/2 +3", "+1 -1 +3"),
            ("+1 . -1 +2", "+1 -1 +2"),
            ("+1 . +2", "+1 -1 +2"),
            ("+1 . 2/2", "+1 -1 2/2"),
            ("+1 . -1 +2 -2", "+1 -1"),
            ("+1 . -1 +2 -2 +3 -3 2/4", "+1 -1 2/4"),
            ("+1 . -1 . +2 -2 +3", "+1 -1 +3"),
        ] {
            assert_eq!(told(happened), is_told, "{happened}");
        }
    }

    #[test]
    fn at_the_end_only_what_was_begun_is_ended() {
        for (happened, is_told) in [
            ("+1 . !", "+1 -1"),
            ("+1 !", ""),
            ("2/1 !", ""),
            ("+1 . -1 2/2 !", "+1 -1"),
            ("+1 . -1 . !", "+1 -1"),
        ] {
            assert_eq!(told(happened), is_told, "{happened}");
        }
    }
}
