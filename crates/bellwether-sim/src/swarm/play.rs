//! One plan, played and judged.

use std::cell::RefCell;

use crate::check::Finding;
use crate::run;
use crate::scenario::Scenario;

use super::reached::{Reached, Spotter};

/// The result of one plan.
#[derive(Clone, Debug)]
pub struct Played {
    /// Everything that happened.
    pub events: u64,
    /// Messages sent.
    pub messages: u64,
    /// The verdict on each property that applied.
    pub findings: Vec<Finding>,
    /// The situations that occurred.
    pub reached: Reached,
}

/// Plays a plan to its end.
pub fn play(scenario: &Scenario) -> Played {
    let spotter = RefCell::new(Spotter::new(scenario));
    let mut world = run::world(scenario, Some(Box::new(|event| spotter.borrow_mut().observe(event))));
    world.run_until(scenario.until);
    let journal = world.into_journal();
    let messages = journal.accounts().sent;
    let findings = journal.verdicts(scenario.until);
    let (events, reached) = spotter.into_inner().finish();
    Played { events, messages, findings, reached }
}
