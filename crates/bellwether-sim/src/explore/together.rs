//! Time that passes for all nodes at once, for algorithms that promise nothing unless messages arrive within δ.
//!
//! A message arrives at some instant from when it is sent until δ later, and no node is woken late. Instants are those at which
//! something is due: a deadline of a node, or a message that must arrive by then. Between two of them nothing happens, unless
//! [`Bounds::waits`](super::Bounds::waits) allow for instants halfway. At one instant whatever must arrive does so before any
//! deadline expires, as in a simulated world; whatever may arrive can do so before, between and after them.

use bellwether_proto::election::{Election, Spec};
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::Span;

use super::bounds::UNBOUNDED;
use super::state::{Host, State};
use super::system::{Hindrance, Reaction, System, spend};
use super::turn::report;

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// At each node as if it were alone in the world.
    EachItsOwn,
    /// For all alike, and for messages, which take no longer than δ.
    Common,
}

impl Pace {
    /// As the algorithm needs it.
    pub(super) fn for_algorithm(spec: &Spec) -> Self {
        let needs_it = spec.repaired.iter().all(|promise| promise.under.contains(&Assumption::BoundedDelay));
        if needs_it { Self::Common } else { Self::EachItsOwn }
    }
}

impl<E: Election> System<E> {
    /// A deadline that is due expires.
    pub(super) fn expire_together(&self, mut base: State<E>, at: usize) -> Result<Reaction<E>, Hindrance> {
        if is_urgent(&base) || !is_due(&base.hosts[at]) {
            return Err(Hindrance::Impossible);
        }
        if base.left.expiries != UNBOUNDED {
            spend(&mut base.left.expiries).map_err(|_| Hindrance::NoTimeLeft)?;
        }
        let host = &base.hosts[at];
        let turn = self.turns.get(host.print).unwrap_or_else(|| {
            let mut after = host.opened();
            let outbox = report(&mut after);
            self.turns.share(host.print, self.turn(Some(host), after, outbox))
        });
        Ok(Reaction::of(base, turn))
    }

    /// Time passes until something is due, or half of that.
    pub(super) fn pass(&self, mut base: State<E>, halfway: bool) -> Result<Reaction<E>, Hindrance> {
        // A settled group does the same over and over: time begins to pass when something befalls it.
        if base.record.as_ref().is_some_and(|record| record.is_settled()) {
            return Err(Hindrance::Impossible);
        }
        let deadline = base.hosts.iter().filter_map(|host| until_deadline(host)).min();
        let arrival = base.letters.iter().map(|letter| letter.left).min();
        let next = [deadline, arrival].into_iter().flatten().min().ok_or(Hindrance::Impossible)?;
        let span = if halfway { next / 2 } else { next };
        if span == Span::ZERO {
            return Err(Hindrance::Impossible);
        }
        if base.left.expiries == 0 && arrival.is_none_or(|arrival| deadline.is_some_and(|d| d < arrival)) {
            return Err(Hindrance::NoTimeLeft);
        }
        if halfway {
            spend(&mut base.left.waits)?;
        }
        for at in 0..base.hosts.len() {
            if base.is_up_at(at) {
                let mut host = base.hosts[at].opened();
                host.clock = host.clock + span;
                base.hosts[at] = self.seal(host);
            }
        }
        for letter in &mut base.letters {
            letter.left = Span::micros(letter.left.as_micros() - span.as_micros());
        }
        Ok(Reaction::none(base))
    }
}

/// Whether a message has been on its way for as long as it can.
fn is_urgent<E: Election>(state: &State<E>) -> bool {
    state.letters.iter().any(|letter| letter.left == Span::ZERO)
}

/// Whether a node is to be woken now.
pub(super) fn is_due<E: Election>(host: &Host<E>) -> bool {
    until_deadline(host) == Some(Span::ZERO)
}

fn until_deadline<E: Election>(host: &Host<E>) -> Option<Span> {
    host.node.as_ref()?.deadline().map(|deadline| deadline.since(host.clock))
}
