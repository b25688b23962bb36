//! What is on its way from one node to another.

use std::sync::Arc;

use bellwether_proto::election::Election;
use bellwether_proto::time::Span;

use super::state::{Content, Letter, State};
use super::system::{System, index_of};
use super::together::Pace;

/// A channel would hold more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<E: Election> System<E> {
    /// Which messages of a channel can arrive next. Of several that are alike one is enough.
    pub(super) fn arrivals(&self, state: &State<E>, channel: std::ops::Range<usize>) -> Vec<u8> {
        match self.in_order {
            true if channel.len() > 1 && self.is_being_connected(state, channel.start) => vec![0, 1],
            true => vec![0],
            false => self.different(state, channel),
        }
    }

    /// The messages of a channel, but of several in a row that are alike only the first.
    pub(super) fn different(&self, state: &State<E>, channel: std::ops::Range<usize>) -> Vec<u8> {
        let letters = &state.letters[channel];
        let fresh =
            |nth: &usize| *nth == 0 || letters[*nth].content.exact() != letters[*nth - 1].content.exact();
        (0..letters.len()).filter(fresh).map(index_of).collect()
    }

    pub(super) fn send(
        &self,
        state: &mut State<E>,
        from: usize,
        to: u8,
        content: &Arc<Content<E::Msg>>,
    ) -> Result<(), Full> {
        let id = state.sent;
        state.sent += 1;
        if self.is_gone_for_good(state, usize::from(to)) {
            return Ok(());
        }
        let from = index_of(from);
        let channel = state.channel(from, to);
        if channel.len() >= usize::from(state.left.in_flight) {
            return Err(Full);
        }
        let place = match self.in_order {
            true => channel.end,
            false => {
                let before = |letter: &Letter<E::Msg>| letter.content.exact() <= content.exact();
                channel.start + state.letters[channel].partition_point(before)
            }
        };
        let left = self.takes();
        state.letters.insert(place, Letter { from, to, id, left, content: Arc::clone(content) });
        Ok(())
    }

    /// How long what is sent now may take.
    pub(super) fn takes(&self) -> Span {
        match self.pace {
            Pace::EachItsOwn => Span::ZERO,
            Pace::Common => self.scenario.timing.delta,
        }
    }

    /// Whether nobody will ever receive what is sent there. Agents send nothing to whom they are not connected with.
    fn is_gone_for_good(&self, state: &State<E>, at: usize) -> bool {
        let for_ever = self.reductions.dead_letters && state.left.recoveries == 0;
        (for_ever || self.agents.is_some()) && !state.is_up_at(at)
    }

    /// Removes what nobody will ever receive, `about_to_start` being about to.
    pub(super) fn bury(&self, state: &mut State<E>, about_to_start: impl Fn(usize) -> bool) {
        if self.reductions.dead_letters && state.left.recoveries == 0 {
            let State { hosts, letters, .. } = state;
            let receives = |to: usize| hosts[to].node.is_some() || about_to_start(to);
            letters.retain(|letter| receives(usize::from(letter.to)));
        }
    }
}
