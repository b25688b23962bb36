//! The state of the world after a scenario's events, for promises that hold from some time on.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};

use crate::scenario::{Fault, Planned, REDIAL, Scenario};

/// The faults that last to the end.
#[derive(Debug, Default)]
pub(super) struct Aftermath {
    /// When all that the last event sets off is over.
    pub(super) last: Time,
    /// The nodes that are down at the end.
    pub(super) down: BTreeSet<NodeId>,
    /// Whether anybody came back.
    pub(super) recoveries: bool,
    /// Who may stand aside at the end: only the leader does as it is asked, and who that is nobody knows beforehand.
    /// By node: when it does so at the latest.
    aside: BTreeMap<NodeId, Time>,
    paused: BTreeSet<NodeId>,
    /// Who still waits to crash at a message that it may never send.
    trapped: BTreeSet<NodeId>,
    /// Whether links may be cut, slowed or about to drop something. Only `heal` is sure to end that.
    broken_links: bool,
    /// Of links without a rule of their own.
    pub(super) loss: f64,
}

impl Aftermath {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut events: Vec<_> = scenario.events.iter().collect();
        events.sort_by_key(|planned| planned.at);
        let mut aftermath = Self { loss: scenario.network.base.loss, ..Self::default() };
        for planned in events {
            aftermath.last = aftermath.last.max(ends(scenario, planned));
            aftermath.befall(&planned.fault);
            aftermath.ask(scenario, planned);
        }
        aftermath.last = aftermath.last.max(makes_way(scenario, aftermath.last));
        aftermath
    }

    /// Whether nothing happens from `time` on, and nothing that happened before is still going on.
    pub(super) fn is_quiet_from(&self, time: Time) -> bool {
        let over = self.paused.is_empty() && self.trapped.is_empty() && !self.broken_links;
        self.last <= time && over && self.loss == 0.0
    }

    /// How many may be gone at the end: they are down, or stand aside.
    pub(super) fn gone(&self) -> usize {
        self.down.len() + self.aside.keys().filter(|node| !self.down.contains(node)).count()
    }

    fn ask(&mut self, scenario: &Scenario, Planned { at, fault }: &Planned) {
        let lasts = |hold: Span| *at + hold >= scenario.until;
        let asked = match fault {
            Fault::Resign(nodes) if lasts(scenario.policy.resign_hold) => nodes.as_slice(),
            Fault::ResignFor { node, hold } if hold.is_none_or(lasts) => std::slice::from_ref(node),
            Fault::Stand(nodes) => {
                return self.aside.retain(|node, aside_by| !(nodes.contains(node) && *aside_by <= *at));
            }
            Fault::Crash(nodes) => return self.aside.retain(|node, _| !nodes.contains(node)),
            _ => return,
        };
        let aside_by = *at + scenario.policy.release_timeout;
        self.aside.extend(asked.iter().map(|node| (*node, aside_by)));
    }

    fn befall(&mut self, fault: &Fault) {
        match fault {
            Fault::Crash(nodes) => {
                for node in nodes {
                    self.down.insert(*node);
                    self.paused.remove(node);
                    self.trapped.remove(node);
                }
            }
            Fault::Recover(nodes) => {
                for node in nodes {
                    self.recoveries |= self.down.remove(node);
                    // One that was trapped may be down already, and come back here.
                    self.recoveries |= self.trapped.contains(node);
                }
            }
            Fault::Pause(nodes) => self.paused.extend(nodes.iter().filter(|node| !self.down.contains(node))),
            Fault::Resume(nodes) => nodes.iter().for_each(|node| {
                self.paused.remove(node);
            }),
            Fault::CrashBeforeSend { node, .. } => {
                self.trapped.insert(*node);
            }
            Fault::Heal => self.broken_links = false,
            Fault::Cut(_)
            | Fault::CutOneWay(_)
            | Fault::Partition(_)
            | Fault::Slow { .. }
            | Fault::Refuse(_)
            | Fault::DropNext { .. }
            | Fault::Message { .. } => self.broken_links = true,
            Fault::Leave(nodes) => self.down.extend(nodes),
            // Whoever stands aside counts as gone, and connections come back by themselves.
            Fault::Resign(_) | Fault::ResignFor { .. } | Fault::Stand(_) | Fault::Transfer { .. } => {}
            Fault::AddVoter(_) | Fault::RemoveVoter(_) => {}
            Fault::Unlink(_) | Fault::Work { .. } | Fault::Stall { .. } => {}
            Fault::Mend(_) | Fault::Accept(_) | Fault::Perform { .. } => {}
            Fault::Network { loss, .. } => self.loss = loss.unwrap_or(self.loss),
        }
    }
}

/// When what an event sets off is over: work must end first, a successor is waited for, and whoever resigned stands again, if
/// that is before the run ends.
fn ends(scenario: &Scenario, Planned { at, fault }: &Planned) -> Time {
    let at = *at;
    let given_back = at + scenario.policy.release_timeout + scenario.successor_patience();
    let stands_again = |hold: Span| if at + hold < scenario.until { given_back + hold } else { given_back };
    match fault {
        Fault::Resign(_) => stands_again(scenario.policy.resign_hold),
        Fault::ResignFor { hold, .. } => hold.map_or(given_back, stands_again),
        Fault::Transfer { .. } | Fault::Leave(_) => given_back,
        Fault::Unlink(_) => at + REDIAL,
        Fault::Stall { lasts, .. } => at + *lasts,
        _ => at,
    }
}

/// When the last leader makes way for a preferred one, if `last` is when the last event was over. The others are looked at
/// every ten periods.
fn makes_way(scenario: &Scenario, last: Time) -> Time {
    let policy = &scenario.policy;
    let Some(longest) = policy.preempt.values().max() else { return Time::ZERO };
    last + *longest + scenario.timing.tau * 20 + policy.release_timeout
}
