//! Consistent links in a search: as they ship, but for beats and clocks, in whose place there is an oracle.
//!
//! It may be wrong: it has any end of a link go down for no reason, a bounded number of times; at a node whose peer is down or in
//! another incarnation, that costs nothing. Up an end goes at any time, if the peer is there and both have seen the same. Messages arrive
//! in any order; the link restores that of what it carries. None is lost, which is as good as late, unless the link goes down.
//!
//! Agents hear of each other in time. What a peer has sent, and that it is gone, arrives before the silence that would tell as
//! much; and an end goes up when the peer has answered, after all that it sent before. So an end of theirs does neither while
//! anything of that peer is on its way to it.
//!
//! This allows for a little more than there is: a node may lose patience with a peer while what it waits for is on its way over
//! a link that stays up, though the link would have gone down by then.

use std::sync::Arc;

use bellwether_proto::election::Election;
use bellwether_proto::io::{Input, Outbox};
use bellwether_proto::node::Node;

use super::state::{Host, State};
use super::system::{Reaction, System, index_of};
use super::transition::Transition;

/// Hundreds of times what it takes until all links are up, and there is a view.
const FIRST_STEPS_MAX: usize = 100_000;

/// What the link from a host to another may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkMay {
    /// What is only right: to go down, since that peer or its incarnation is not there any more; or up, since it is.
    Follow { up: bool },
    /// To go down for no reason.
    Fail,
    /// Nothing: an end must see first what the other has seen.
    Wait,
}

pub(super) fn link<E: Election>(host: &Host<E>, subject: &Host<E>) -> LinkMay {
    let Some(node) = &host.node else { return LinkMay::Wait };
    let truth = subject.node.as_ref().map(Node::incarnation);
    match (node.linked_with(subject.id), truth) {
        (Some(incarnation), Some(alive)) if incarnation == alive => LinkMay::Fail,
        (Some(_), _) => LinkMay::Follow { up: false },
        (None, Some(alive)) if node.linkable_with(subject.id) == Some(alive) => LinkMay::Follow { up: true },
        (None, _) => LinkMay::Wait,
    }
}

/// Has the link from a host to another go up or down.
pub(super) fn turn_link<E: Election>(host: &mut Host<E>, subject: &Host<E>, up: bool) -> Outbox<E::Msg> {
    let mut outbox = Outbox::new();
    if let Some(node) = &mut host.node {
        let alive = subject.node.as_ref().map(Node::incarnation).filter(|_| up);
        node.handle(host.clock, Input::Oracle { peer: subject.id, alive }, &mut outbox);
    }
    outbox
}

impl<E: Election> System<E> {
    /// The same state once all links are up, and all that came of that has arrived.
    pub(super) fn with_links_up(&self, mut state: State<E>) -> State<E> {
        // However little may be on its way from then on.
        state.left.in_flight = u8::MAX;
        for _ in 0..FIRST_STEPS_MAX {
            let arrival = state.letters.first().map(|letter| Transition::Deliver {
                from: letter.from,
                to: letter.to,
                nth: 0,
                cut: 0,
            });
            let mut steps: Vec<_> = arrival.into_iter().collect();
            (0..state.hosts.len()).for_each(|at| self.for_each_link(&state, at, 0, |step| steps.push(step)));
            let Some(step) = steps.first() else {
                state.left.in_flight = self.bounds.in_flight;
                return state;
            };
            state = self.after(&state, *step).expect("a step that is possible");
        }
        panic!("links that are left alone do not come to rest")
    }

    /// What its links may do, so many of them for no reason.
    pub(super) fn for_each_link(
        &self,
        state: &State<E>,
        to: usize,
        lies: u8,
        mut take: impl FnMut(Transition),
    ) {
        for about in (0..state.hosts.len()).filter(|about| *about != to) {
            let may = link(&state.hosts[to], &state.hosts[about]);
            let (to, about) = (index_of(to), index_of(about));
            match may {
                LinkMay::Follow { .. } if self.will_hear(!state.channel(about, to).is_empty()) => {}
                LinkMay::Follow { .. } => take(Transition::Tell { to, about, cut: 0 }),
                LinkMay::Fail if lies > 0 => take(Transition::Lie { to, about, cut: 0 }),
                LinkMay::Fail | LinkMay::Wait => {}
            }
        }
    }

    /// Whether a node need not find out by silence how things are with a peer of which something is on its way to it, or is not.
    pub(super) fn will_hear(&self, on_its_way: bool) -> bool {
        self.agents.is_some() && on_its_way
    }

    /// One end of a link sees what is so, or fails.
    pub(super) fn turn_link(&self, base: State<E>, to: u8, about: u8) -> Option<Reaction<E>> {
        let (host, subject) = (&base.hosts[usize::from(to)], &base.hosts[usize::from(about)]);
        let up = match link(host, subject) {
            LinkMay::Follow { up } => up,
            LinkMay::Fail => false,
            LinkMay::Wait => return None,
        };
        let mut after = host.opened();
        let outbox = turn_link(&mut after, subject, up);
        let turn = Arc::new(self.turn(Some(host), after, outbox));
        Some(Reaction::of(base, turn))
    }
}
