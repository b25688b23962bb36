//! How far a search goes: without bounds there are infinitely many states.

use std::fmt;

use bellwether_proto::election::{Protocol, Spec};
use bellwether_proto::promise::{Assumption, Property};

use super::oracle::Oracle;
use super::together::Pace;

/// As a number of expiries, or of early messages: no bound. For expiries only where time is the same for all nodes, so that
/// states come back.
pub const UNBOUNDED: u8 = u8::MAX;

/// What may befall a cluster in all, and how full its channels may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How often nodes crash, between steps or in the middle of one.
    pub crashes: u8,
    /// How often nodes come back.
    pub recoveries: u8,
    /// How many messages are lost.
    pub losses: u8,
    /// How many messages arrive twice.
    pub duplicates: u8,
    /// How often a failure detector that may lie does, or one end of a consistent link goes down for no reason.
    pub lies: u8,
    /// How often deadlines expire, at all nodes together; [`UNBOUNDED`] for any number of times.
    pub expiries: u8,
    /// How often a node's clock runs on, to just before its next deadline, with nothing happening. Without it whatever
    /// arrives between two deadlines of a node arrives right after the first. Where time passes for all alike: how often it
    /// stops halfway to the next instant at which something is due.
    pub waits: u8,
    /// How often programs ask for something, where nodes run as agents.
    pub commands: u8,
    /// How many messages take less than δ, where time passes for all alike; [`UNBOUNDED`] for any number of them.
    pub early: u8,
    /// How many messages are on their way from one node to another.
    pub in_flight: u8,
}

impl Bounds {
    /// One of each kind of fault that the algorithm is to survive, and enough time for an election and a fail-over.
    pub fn suited_to(protocol: Protocol) -> Self {
        let spec = protocol.spec();
        let oracle = Oracle::for_algorithm(spec);
        let loses = !needs(spec, Assumption::Reliable) && oracle != Oracle::Links;
        let (expiries, in_flight) = match oracle {
            // Whoever notices something tells everybody all that it knows, in any order; and to wait is of little use.
            Oracle::Links => (0, 8),
            // Time that passes for all alike leaves little choice.
            Oracle::Silent if Pace::for_algorithm(spec) == Pace::Common => (12, 2),
            Oracle::Accurate => (4, 2),
            // What it finds out about whom makes many states, and none of it takes time.
            Oracle::Fallible => (2, 1),
            // Everybody asks everybody, all the time: more on their way are too many states.
            Oracle::Silent if forms_groups(spec) => (3, 1),
            Oracle::Silent => (2, 2),
        };
        Self {
            crashes: 1,
            // Whoever comes back is admitted, link by link: that alone is half a million states.
            recoveries: u8::from(oracle != Oracle::Links),
            losses: u8::from(loses),
            duplicates: 0,
            lies: u8::from(oracle == Oracle::Links),
            expiries,
            waits: 0,
            commands: 0,
            early: UNBOUNDED,
            in_flight,
        }
    }

    /// For agents: a crash, a command and an early message, and all the time that there is. With views there are enough states
    /// without an early message.
    pub fn suited_to_agents(protocol: Protocol) -> Self {
        Self {
            crashes: 1,
            recoveries: 0,
            losses: 0,
            duplicates: 0,
            lies: 0,
            expiries: UNBOUNDED,
            waits: 0,
            commands: 1,
            early: u8::from(!protocol.spec().views),
            in_flight: 16,
        }
    }

    /// What is still allowed, in two words: part of a state, since it limits what can follow.
    pub(super) fn words(self) -> [u64; 2] {
        let Self {
            crashes,
            recoveries,
            losses,
            duplicates,
            lies,
            expiries,
            waits,
            commands,
            early,
            in_flight,
        } = self;
        let faults = [crashes, recoveries, losses, duplicates, lies, expiries, waits, commands];
        [u64::from_le_bytes(faults), u64::from(u16::from_le_bytes([early, in_flight]))]
    }
}

/// As in "1 crash, 1 recovery, 4 deadlines, 2 messages in flight per channel"; what is not allowed at all is left out.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { crashes, recoveries, losses, duplicates, lies, expiries, waits, commands, .. } = *self;
        let counted = [
            (crashes, "crash", "crashes"),
            (recoveries, "recovery", "recoveries"),
            (losses, "loss", "losses"),
            (duplicates, "duplicate", "duplicates"),
            (lies, "lie", "lies"),
            (commands, "command", "commands"),
            (expiries, "expiry", "expiries"),
            (waits, "wait", "waits"),
        ];
        for (count, one, many) in counted.into_iter().filter(|(count, ..)| *count > 0) {
            match count {
                1 => write!(f, "1 {one}, ")?,
                UNBOUNDED => write!(f, "any number of {many}, ")?,
                _ => write!(f, "{count} {many}, ")?,
            }
        }
        if self.early != UNBOUNDED {
            write!(f, "{} early, ", self.early)?;
        }
        write!(f, "{} in flight per channel", self.in_flight)
    }
}

/// Whether an algorithm promises something only where that is so.
fn needs(spec: &Spec, assumption: Assumption) -> bool {
    spec.repaired.iter().any(|promise| promise.under.contains(&assumption))
}

fn forms_groups(spec: &Spec) -> bool {
    spec.repaired.iter().any(|promise| promise.property == Property::A3)
}

/// How often a step was not taken because of a bound. Faults are not counted: that they are few is the point of the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// A channel would have held too many messages.
    pub in_flight: u64,
    /// No deadline may expire any more, and one was set.
    pub expiries: u64,
}

impl Reached {
    pub(super) fn add(&mut self, other: Self) {
        self.in_flight += other.in_flight;
        self.expiries += other.expiries;
    }
}
